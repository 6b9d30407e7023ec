package listing

import (
	"strings"

	"rollcall/app"
	"rollcall/app/present"
)

// maxSearched is the number of bytes of each text in which the filter searches.
const maxSearched = 4 << 10

// SearchTexts returns the texts that the filter searches, one per session.
func SearchTexts(sessions []app.Session) []string {
	out := make([]string, len(sessions))
	var b strings.Builder
	for i := range sessions {
		s := &sessions[i].Session
		b.Reset()
		for _, t := range [...]string{
			present.AgentName(s.Agent), string(s.Agent), s.CWD, s.Name, s.Title, s.FirstPrompt, s.LastPrompt, s.Doing, s.Branch, s.Model,
			s.ID, s.Remote, sessions[i].Machine, s.Container, present.Status(*s), string(s.Status), GroupOf(s.Status).String(), GroupOfLaunch(&sessions[i]),
		} {
			b.WriteString(present.Begin(t, maxSearched))
			b.WriteByte('\n')
		}
		out[i] = strings.ToLower(b.String())
	}
	return out
}
