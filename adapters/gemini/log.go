package gemini

import (
	"errors"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"rollcall/adapters"
	"rollcall/adapters/internal/agentfile"
	"rollcall/adapters/internal/kit"
)

// logged is a prompt or a command that a user typed in a terminal, as logs.json has it at once: 0.61.0 records a prompt in the
// session's file only after the first answer of a model that chooses the model.
type logged struct {
	session, text string
	at            time.Time
}

// maxLog bounds the file of prompts, in bytes.
const maxLog = 16 << 20

// log returns what users typed in the terminals of a project, the oldest first. Searches call it on any goroutine.
func (d *discovery) log(p *project) []logged {
	d.logs.Lock()
	defer d.logs.Unlock()
	if p.logged != nil {
		return p.logged
	}
	p.logged = []logged{}
	path := filepath.Join(p.dir, "logs.json")
	data, _, err := agentfile.ReadSmall(path, maxLog)
	p.hidden = d.Report.Failed(path, err) || p.hidden
	broken := agentfile.Each(data, func(one []byte) bool {
		get := func(name string) []byte { return agentfile.Get(one, name) }
		if l := (logged{kit.Short(get("sessionId")), kit.Short(get("message")), agentfile.Time(get("timestamp"))}); l.session != "" && kit.Short(get("type")) == "user" {
			p.logged = append(p.logged, l)
		}
		return true
	})
	p.logLost = broken != nil && !errors.Is(err, fs.ErrNotExist) // it is being written, or damaged
	return p.logged
}

// leaves reports whether a text is a command with which a user leaves a session for another one.
func (l *logged) leaves() bool { return l.begins() || l.chooses() }

// begins reports whether a text is the command that begins another session (0.61.0: /clear, which is also /new).
func (l *logged) begins() bool {
	word, _, _ := strings.Cut(l.text, " ")
	return word == "/clear" || word == "/new"
}

// chooses reports whether a text is the command that shows the sessions to choose from (0.61.0: /resume and /chat), and none of those below it that keep or list conversations.
func (l *logged) chooses() bool {
	words := strings.Fields(l.text)
	if len(words) == 0 || words[0] != "/resume" && words[0] != "/chat" {
		return false
	}
	return len(words) == 1 || !slices.Contains([]string{"list", "save", "delete", "share", "debug"}, words[1])
}

// isTyped reports whether a user typed something in a session since a time.
func (d *discovery) isTyped(s *session, since time.Time) bool {
	return slices.ContainsFunc(d.log(s.project), func(l logged) bool { return l.session == s.id && !l.at.Before(since) })
}

// logIDOf returns the session under which what was typed in the terminal of a session's last turn is logged: its own, or, after /clear and /resume, the first one of the
// terminal (0.61.0). It is empty if nothing was typed since the session was opened last.
func (d *discovery) logIDOf(s *session) (id string) {
	opened := s.at
	if n := len(s.opened); n > 0 {
		opened = s.opened[n-1].at
	}
	for _, l := range d.log(s.project) {
		switch {
		case l.at.Before(opened.Add(-kit.StartSlack)):
		case l.session == s.id:
			return s.id
		case l.text == s.LastPrompt && !l.at.After(s.prompted):
			id = l.session
		}
	}
	return id
}

// pending returns the prompt that a user typed and that the session's file does not have yet.
func (d *discovery) pending(s *session) (prompt logged, ok bool) {
	if s.owner == nil {
		return prompt, false
	}
	since := kit.Latest(append(s.openedAt(), s.turn.at)...)
	if s.owner.isYoung(d.Now) || isObject(s.Path) { // it has not opened the session yet
		since = kit.Latest(since, s.owner.Started)
	}
	for _, l := range d.log(s.project) {
		if (l.session == s.id || l.session == s.owner.logID) && l.at.After(since) && !strings.HasPrefix(l.text, "/") {
			prompt, ok = l, true
		}
	}
	prompt.text = adapters.CutTo(prompt.text, textLimit)
	return prompt, ok
}
