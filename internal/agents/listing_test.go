//go:build agents && linux

package agents

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"rollcall/internal/harness/listing"
)

// leavesOut are the agents whose listing leaves out a session before its first answer.
var leavesOut = []Release{CopilotNewest, ClineNewest, GeminiNewest, QwenNewest, GrokNewest}

// The agent's own listing and Rollcall's name the same sessions: one that has ended, and one that works. Where the agent lists apart those that have a
// process, the same of these. Pi and oh-my-pi list theirs only on a screen, and a run of Kilo sometimes asks nothing: see runKilo.
func TestListings(t *testing.T) {
	for _, release := range append(slices.Clone(leavesOut), ClaudeNewest, CodexNewest, OpenCodeNewest, KimiNewest) {
		t.Run(release.Agent, func(t *testing.T) {
			each(t, []Release{release}, func(t *testing.T, s *Sandbox, r Release) {
				if r == KimiNewest {
					s.onPath(r)
				}
				s.More = append(s.More, "CLINE_SESSION_BACKEND_MODE=local")
				run := alone[r.Agent]
				s.Gone(s.Detached(s.Argv(r, append(slices.Clone(run), "has ended")...)...))
				s.Detached(s.Argv(r, append(slices.Clone(run), "works [[delay 300]]")...)...)
				s.Asked("works")
				s.agree(r)
			})
		})
	}
}

// agree waits until Rollcall and the agent list the same sessions.
func (s *Sandbox) agree(r Release) {
	s.t.Helper()
	for _, way := range listing.Ways[r.Agent] {
		problem := ""
		err := poll(30*time.Second, func() bool {
			theirs, err := way.Ask(s.Argv(r), s.Project, s.Env())
			if err != nil {
				s.t.Fatal(err)
			}
			ours, err := s.List("--all")
			if err != nil {
				s.t.Fatal(err)
			}
			problem = differences(r, way.Live, theirs, ours.Sessions)
			return problem == ""
		})
		if err != nil {
			s.t.Errorf("%q: %v: %s", way.Args, err, problem)
		}
	}
}

// differences compares the sessions of an agent in two lists.
func differences(r Release, live bool, theirs []listing.Session, ours []Session) string {
	var all []string
	for _, x := range ours {
		is := func(l listing.Session) bool { return l.ID == x.ID }
		mayLack := slices.Contains(leavesOut, r) && strings.HasPrefix(x.FirstPrompt, "works")
		if x.Agent == r.Agent && (!live || x.PID != 0) && !mayLack && !slices.ContainsFunc(theirs, is) {
			all = append(all, fmt.Sprintf("the agent does not list %v", x))
		}
	}
	for _, l := range theirs {
		is := func(x Session) bool { return l.Is(x.ID, x.PID) }
		if !slices.ContainsFunc(ours, is) {
			all = append(all, fmt.Sprintf("Rollcall does not list %+v", l))
		}
	}
	return strings.Join(all, "\n")
}
