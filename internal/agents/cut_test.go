//go:build agents && linux

package agents

import (
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"rollcall/internal/must"
)

// cutAgents are the agents whose answers are cut off, with how each is opened.
var cutAgents = map[string]func(s *Sandbox) *Terminal{
	"claude-code": func(s *Sandbox) *Terminal { t, _ := openClaude(s, ClaudeNewest, uuid(s.t)); return t },
	"codex":       func(s *Sandbox) *Terminal { return openCodex(s, CodexNewest) },
	"opencode":    func(s *Sandbox) *Terminal { t, _ := openOpenCode(s, OpenCodeNewest); return t },
	"copilot":     func(s *Sandbox) *Terminal { t, _ := openCopilot(s, CopilotNewest); return t },
	"cline":       func(s *Sandbox) *Terminal { t, _ := openCline(s, ClineNewest); return t },
	"gemini":      func(s *Sandbox) *Terminal { t, _ := openGemini(s, GeminiNewest); return t },
	"kimi":        func(s *Sandbox) *Terminal { t, _ := openKimi(s); return t },
	"pi":          func(s *Sandbox) *Terminal { t, _ := openPi(s, PiNewest); return t },
}

// goesOn is in what agents send on their own after an answer that was cut off: Copilot CLI 1.0.102, Cline 3.0.65. Claude Code 2.1.332 sends the prompt again.
var goesOn = []string{"Please continue from where you left off", "Your previous response was cut off"}

// An answer ends at the limit of its tokens. While the agent asks the model again its session is at work, and once it does not, it is not.
func TestCutAnswers(t *testing.T) {
	for name, open := range cutAgents {
		t.Run(name, func(t *testing.T) {
			if name != "pi" {
				nightly(t)
			}
			Need(t)
			built(t, headlessBinary)
			s := NewSandbox(t)
			var held atomic.Int32
			s.Server.Observe(func(_ string, body []byte) {
				for _, text := range goesOn {
					if strings.Contains(string(body), text) {
						held.Add(1)
						time.Sleep(4 * time.Second) // or it would be answered at once
						held.Add(-1)
						return
					}
				}
			})
			terminal := open(s)
			session := terminal.Works(byPrompt("a long one"), "a long one [[cut]][[delay 4]]")
			s.followsRequests(byID(session.ID), func() bool { return held.Load() > 0 || s.isAsked("a long one") })
			terminal.Shows("Mock answer to: ")
		})
	}
}

// isAsked reports whether a main conversation waits for the answer to a prompt.
func (s *Sandbox) isAsked(prompt string) bool {
	for _, r := range s.Server.Requests() {
		if !r.Side && r.Status == 0 && !r.Left && strings.Contains(r.Prompt, prompt) {
			return true
		}
	}
	return false
}

// followsRequests sees that a session is not idle while its agent asks the model, until it has asked for nothing for some time, and then is not at work.
// It is unknown with Pi, which keeps its connection.
func (s *Sandbox) followsRequests(match who, asks func() bool) {
	s.t.Helper()
	last := time.Now()
	for time.Since(last) < soon {
		before := asks()
		roll := must.Get(s.List("--all"))(s.t)
		row, count := roll.find(match)
		if before && asks() {
			last = time.Now()
			if count != 1 || row.Status != "working" && row.Status != "unknown" {
				s.t.Fatalf("the model is asked, and %d rows match, %v: %s", count, row, row.Evidence)
			}
		}
		time.Sleep(100 * time.Millisecond)
	}
	s.shows(match, time.Now(), soon, "not at work", func(x Session) bool { return x.Status == "idle" || x.Status == "unknown" })
}
