//go:build agents && linux

package agents

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"rollcall/app"
	"rollcall/internal/must"
)

// innerGemini returns the inner process of a Gemini CLI, which works, below a process that was started.
func (s *Sandbox) innerGemini(pid int) Process {
	s.t.Helper()
	var found Process
	err := poll(30*time.Second, func() bool {
		isInner := func(p Process) bool { return len(p.Args) > 2 && strings.HasPrefix(p.Args[1], "--max-old-space-size") }
		parents, inner := map[int]int{}, map[int]bool{}
		rows := s.Processes()
		for _, p := range rows {
			parents[p.PID], inner[p.PID] = p.PPID, isInner(p)
		}
		for _, p := range rows {
			above := p.PPID
			for above != pid && above > 1 {
				above = parents[above]
			}
			if above == pid && isInner(p) && !inner[p.PPID] { // a child that is about to become a tool looks like its parent
				found = p
			}
		}
		return found.PID != 0
	})
	if err != nil {
		s.t.Fatalf("no inner process below %d: %v: %v", pid, err, s.Processes())
	}
	return found
}

func openGemini(s *Sandbox, r Release, args ...string) (*Terminal, Process) {
	s.t.Helper()
	terminal := s.OpenInTmux(s.Argv(r, args...)...)
	terminal.Shows("Type your message")
	return terminal, s.innerGemini(terminal.PID())
}

// Gemini CLI through start, work, permission, question, interruption, resume and kill. Its terminal's title shows what it waits for.
func TestGemini(t *testing.T) {
	each(t, []Release{GeminiNewest}, func(t *testing.T, s *Sandbox, r Release) {
		terminal, agent := openGemini(s, r)
		s.Becomes(byPID(agent.PID), time.Now(), soon, "idle")
		working := terminal.FirstJob(agent, "gemini")
		terminal.Shows("Mock answer to: first job")
		idle := s.Becomes(byID(working.ID), time.Now(), soon, "idle/completed")
		if want := (Tokens{Input: 71, Output: 22, CacheRead: 40}); idle.Tokens != want || idle.Model == "" {
			t.Errorf("idle: %+v, model %q, want %+v", idle.Tokens, idle.Model, want)
		}

		terminal.Permit(byID(working.ID), "Allow execution", "Enter")

		terminal.PromptUntil("ask me [[ask]]", "Which colour?")
		s.Becomes(byID(working.ID), time.Now(), soon, "waiting/question")
		terminal.Dismiss("Enter", "Enter to select")
		s.Becomes(byID(working.ID), time.Now(), soon, "idle/completed")

		terminal.PromptUntil("run it [[bash sleep 7.5]]", "Allow execution")
		terminal.Dismiss("Enter", "Allow execution")
		command := s.Agent("sleep", "7.5")
		s.Becomes(byID(working.ID), time.Now(), soon, "working")
		s.Gone(command)
		s.Becomes(byID(working.ID), time.Now(), soon, "idle/completed")

		terminal.Works(byID(working.ID), "never ends [[delay 300]]")
		terminal.Dismiss("Escape", "esc to cancel")
		s.Becomes(byID(working.ID), time.Now(), soon, "idle/interrupted")
		terminal.Leave("/quit", agent)
		s.Becomes(byID(working.ID), time.Now(), soon, "stopped/interrupted")

		terminal, agent = openGemini(s, r, "--resume", working.ID)
		s.Becomes(byID(working.ID), time.Now(), soon, "idle/interrupted")
		if again := terminal.Works(byID(working.ID), "once more [[delay 300]]"); again.PID != agent.PID {
			t.Errorf("pid %d, want %d", again.PID, agent.PID)
		}
		s.Kill(agent)
		s.Becomes(byID(working.ID), time.Now(), soon, "stopped/died")
	})
}

// Two in one folder: a terminal with a sub-agent, and a run that is killed. No other run begins after that: 0.61.0 would remove the
// terminal's session, whose file lost its header when the first run began.
func TestGeminiTogether(t *testing.T) {
	each(t, []Release{GeminiNewest}, func(t *testing.T, s *Sandbox, r Release) {
		first, firstAgent := openGemini(s, r, "--approval-mode", "yolo")
		one := s.Detached(s.Argv(r, "-p", "in the background [[delay 300]]")...)
		asked := s.Asked("in the background")
		alone := s.Becomes(byPrompt("in the background"), asked, soon, "working")
		killed := s.innerGemini(one.PID)
		if alone.PID != killed.PID {
			t.Errorf("pid %d, want %d", alone.PID, killed.PID)
		}
		asked = first.Prompt("spawn [[agent child job ((delay 20))]]")
		parent := s.Becomes(byPrompt("spawn"), asked, soon, "working")
		if parent.PID != firstAgent.PID {
			t.Errorf("pid %d, want %d", parent.PID, firstAgent.PID)
		}
		child := s.Becomes(byPrompt("child job"), asked, soon, "working")
		if child.Parent != parent.ID || child.CWD != s.Project {
			t.Errorf("%+v, want a child of %s", child, parent.ID)
		}
		s.Becomes(byID(alone.ID), time.Now(), soon, "working")
		s.Kill(killed)
		s.Becomes(byID(alone.ID), time.Now(), soon, "stopped/died")
		first.Shows("Done.")
		s.Becomes(byID(parent.ID), time.Now(), soon, "idle/completed")
	})
}

// A launch that Rollcall can answer: allowed, denied, prompted again, interrupted and stopped.
func TestAnswerGeminiLaunched(t *testing.T) {
	Need(t)
	built(t, headlessBinary)
	l := NewLauncher(NewSandbox(t), GeminiNewest)
	record := l.Launch("allow me [[bash touch allowed.txt]]", "--answerable")
	s, id := l.Sandbox, record.Session
	first := s.asks("touch allowed.txt")
	if !first.CanAllow || !first.CanDeny || first.Session.ID != id {
		t.Errorf("%+v", first)
	}
	s.answered(first, "--allow")
	s.made(filepath.Join(s.Project, "allowed.txt"))
	s.stale(first)
	s.Becomes(byID(id), time.Now(), soon, "idle/completed")
	s.rollcall("send", id, "-p", "deny me [[bash touch denied.txt]]")
	s.answered(s.asks("touch denied.txt"), "--deny")
	s.notMade(filepath.Join(s.Project, "denied.txt"))
	s.Becomes(byID(id), time.Now(), soon, "idle/completed", "idle/interrupted")
	s.rollcall("send", id, "-p", "long job [[delay 300]]")
	s.Asked("long job")
	s.Becomes(byID(id), time.Now(), soon, "working")
	s.rollcall("interrupt", id)
	s.Becomes(byID(id), time.Now(), soon, "idle/interrupted")
	s.rollcall("send", id, "-p", "ask me [[say I will use it.]] [[bash touch interrupted.txt]]")
	s.asks("touch interrupted.txt")
	s.Becomes(byID(id), time.Now(), soon, "waiting/permission")
	s.rollcall("interrupt", id)
	s.Becomes(byID(id), time.Now(), soon, "idle/interrupted")
	s.rollcall("send", id, "-p", "next job [[delay 8]]")
	s.Asked("next job")
	s.Becomes(byID(id), time.Now(), soon, "working")
	s.Becomes(byID(id), time.Now(), time.Minute, "idle/completed")
	l.rollcallStops(record)
}

// A launch in the background: its id is chosen, it fails with the agent's own words, and its end is told once.
func TestLaunchGemini(t *testing.T) {
	Need(t)
	built(t, headlessBinary)
	l := NewLauncher(NewSandbox(t), GeminiNewest)
	record := l.Launch("short job [[delay 2]]")
	l.Recorded(record.ID, "ended", func(r LaunchRecord) bool { return r.Ended() })
	l.Becomes(byID(record.Session), time.Now(), soon, "stopped/completed")
	failed := l.Launch("break it [[fail 400]]")
	l.Recorded(failed.ID, "ended", func(r LaunchRecord) bool { return r.Ended() })
	output, err := os.ReadFile(l.state("logs", failed.ID+".log"))
	if err != nil || !strings.Contains(string(output), `"status":"error"`) || !strings.Contains(string(output), "mock failure 400") {
		t.Errorf("%v: %s", err, output)
	}
	t.Logf("%s", output)
	l.Becomes(byID(failed.Session), time.Now(), soon, "stopped")
}

// A text comes before a call that asks: outside of tmux it looks like the end of the turn, and in tmux the title says which it is. Two terminals that begin
// together are never said to have each other's session, nor to have stopped.
func TestGeminiWithoutTitle(t *testing.T) {
	each(t, []Release{GeminiNewest}, func(t *testing.T, s *Sandbox, r Release) {
		terminal := s.Open(s.Argv(r)...)
		terminal.Shows("Type your message")
		asked := terminal.Prompt("text first [[say I will use the shell.]] [[bash touch asked.txt]]")
		terminal.Shows("Allow execution")
		waits := s.Becomes(byPrompt("text first"), asked, soon, "idle")
		if !strings.Contains(waits.Evidence, "answered, or asks for something") {
			t.Error(waits.Evidence)
		}
		terminal.Answer("Enter", "Done.")
		s.Becomes(byID(waits.ID), time.Now(), soon, "idle")
		terminal.Leave("/quit", s.innerGemini(terminal.PID()))
		s.Becomes(byID(waits.ID), time.Now(), soon, "stopped/completed")
		shown := s.OpenInTmux(s.Argv(r)...)
		shown.Shows("Type your message")
		asked = shown.Prompt("in tmux [[say I will use the shell.]] [[bash touch other.txt]]")
		s.Becomes(byPrompt("in tmux"), asked, soon, "waiting/permission")
		shown.Answer("Enter", "Done.")
		s.Becomes(byPrompt("in tmux"), time.Now(), soon, "idle/completed")
	})
}

// Two terminals that begin together in a folder: each row is right or unknown, and none is said to have stopped.
func TestGeminiBeginTogether(t *testing.T) {
	each(t, []Release{GeminiNewest}, func(t *testing.T, s *Sandbox, r Release) {
		first := s.Open(s.Argv(r)...)
		second := s.Open(s.Argv(r)...)
		first.Shows("Type your message")
		second.Shows("Type your message")
		first.Prompt("works [[delay 40]]")
		second.PromptUntil("answers", "Mock answer to: answers")
		of := map[string]int{"works": s.innerGemini(first.PID()).PID, "answers": s.innerGemini(second.PID()).PID}
		want := map[string][]string{"works": {"working", "unknown"}, "answers": {"idle", "unknown", "working"}}
		for prompt, states := range want {
			if x := s.Becomes(byPrompt(prompt), time.Now(), soon, states...); x.PID != 0 && x.PID != of[prompt] {
				t.Errorf("%s: process %d, want %d; %s", prompt, x.PID, of[prompt], x.Evidence)
			}
			s.Stays(byPrompt(prompt), 3*time.Second, states...)
		}
	})
}

// acpHost is a program that hosts sessions of an agent over the Agent Client Protocol.
type acpHost struct {
	s       *Sandbox
	in      io.Writer
	mu      sync.Mutex
	replies map[string]json.RawMessage
	asked   []json.RawMessage // ids of requests for permission
	sent    int
}

// hosts starts an agent that speaks the protocol, in the project.
func (s *Sandbox) hosts(r Release, args ...string) *acpHost {
	s.t.Helper()
	cmd := s.run(r, args...)
	in, err := cmd.StdinPipe()
	out, err2 := cmd.StdoutPipe()
	must.Do(s.t, errors.Join(err, err2, cmd.Start()))
	h := &acpHost{s: s, in: in, replies: map[string]json.RawMessage{}}
	go func() {
		for lines := bufio.NewReader(out); ; {
			line, err := lines.ReadBytes('\n')
			var m struct {
				ID     json.RawMessage `json:"id"`
				Method string          `json:"method"`
				Result json.RawMessage `json:"result"`
			}
			if json.Unmarshal(line, &m) == nil && m.ID != nil {
				h.mu.Lock()
				if m.Method == "" {
					h.replies[strings.Trim(string(m.ID), `"`)] = m.Result
				} else {
					h.asked = append(h.asked, m.ID)
				}
				h.mu.Unlock()
			}
			if err != nil {
				_ = cmd.Wait() // ended with the test
				return
			}
		}
	}()
	h.reply(h.send("initialize", map[string]any{"protocolVersion": 1, "clientCapabilities": struct{}{}}))
	return h
}

func (h *acpHost) write(m map[string]any) {
	m["jsonrpc"] = "2.0"
	must.Do(h.s.t, json.NewEncoder(h.in).Encode(m))
}

// send sends a message and returns its id.
func (h *acpHost) send(method string, params any) string {
	h.sent++
	id := fmt.Sprintf("m%d", h.sent)
	h.write(map[string]any{"id": id, "method": method, "params": params})
	return id
}

// reply waits for the reply to a message.
func (h *acpHost) reply(id string) (result json.RawMessage) {
	h.s.t.Helper()
	err := poll(60*time.Second, func() (ok bool) {
		h.mu.Lock()
		defer h.mu.Unlock()
		result, ok = h.replies[id]
		return ok
	})
	if err != nil {
		h.s.t.Fatalf("no reply to %s: %v", id, err)
	}
	return result
}

func (h *acpHost) open(folder string) string {
	h.s.t.Helper()
	var made struct{ SessionID string }
	must.Do(h.s.t, json.Unmarshal(h.reply(h.send("session/new", map[string]any{"cwd": folder, "mcpServers": []any{}})), &made))
	return made.SessionID
}

func (h *acpHost) prompt(session, text string) string {
	return h.send("session/prompt", map[string]any{"sessionId": session, "prompt": []any{map[string]string{"type": "text", "text": text}}})
}

// allows waits for the next request for a permission, and allows it once.
func (h *acpHost) allows(option string) {
	h.s.t.Helper()
	var id json.RawMessage
	err := poll(60*time.Second, func() bool {
		h.mu.Lock()
		defer h.mu.Unlock()
		if len(h.asked) > 0 {
			id, h.asked = h.asked[0], h.asked[1:]
		}
		return id != nil
	})
	must.Do(h.s.t, err)
	h.write(map[string]any{"id": id, "result": map[string]any{"outcome": map[string]string{"outcome": "selected", "optionId": option}}})
}

// Several sessions that one process hosts for another program: each has its own status, none has died while it works, and what is cancelled is over.
func TestGeminiHosted(t *testing.T) {
	each(t, []Release{GeminiNewest}, func(t *testing.T, s *Sandbox, r Release) {
		h := s.hosts(r, "--acp")
		first, second := h.open(s.Project), h.open(s.Project)
		h.reply(h.prompt(first, "first one"))
		s.Becomes(byID(first), time.Now(), soon, "idle")
		h.prompt(second, "second one [[delay 300]]")
		s.Asked("second one")
		working := s.Becomes(byID(second), time.Now(), soon, "working")
		h.write(map[string]any{"method": "session/cancel", "params": map[string]string{"sessionId": second}})
		s.Becomes(byID(second), time.Now(), soon, "idle", "idle/interrupted")
		h.prompt(first, "a tool [[bash sleep 77.5]]")
		if waits := s.Becomes(byID(first), time.Now(), soon, "unknown"); !waits.MayAsk {
			t.Errorf("it asks, which the row does not say: %v", waits)
		}
		h.allows("proceed_once")
		s.Agent("sleep", "77.5")
		if again := s.Becomes(byID(first), time.Now(), soon, "working"); again.PID != working.PID {
			t.Errorf("%v and %v", again, working)
		}
		h.write(map[string]any{"method": "session/cancel", "params": map[string]string{"sessionId": first}})
		s.Becomes(byID(first), time.Now(), soon, "idle/interrupted")
		other := filepath.Join(s.Project, "other")
		must.Do(t, os.Mkdir(other, 0o700))
		third := h.open(other)
		h.prompt(third, "third one [[delay 300]]")
		s.Asked("third one")
		s.Becomes(byID(third), time.Now(), soon, "unknown")
		s.Stays(byID(third), 2*time.Second, "unknown")
	})
}

// The user leaves a session of a terminal for a new one, and that for the first again: each row is right, no session died that was left, and the end of
// the process is told once.
func TestGeminiLeavesSessions(t *testing.T) {
	each(t, []Release{GeminiNewest}, func(t *testing.T, s *Sandbox, r Release) {
		terminal, agent := openGemini(s, r)
		f := follow(s)
		terminal.PromptUntil("first job", "Mock answer to: first job")
		first := s.Becomes(byPrompt("first job"), time.Now(), soon, "idle/completed")
		terminal.Enter("/clear")
		second := terminal.Works(byPrompt("second job"), "second job [[delay 5]]")
		if first.PID != agent.PID || second.PID != agent.PID || second.ID == first.ID {
			t.Errorf("%v and %v, want process %d", first, second, agent.PID)
		}
		s.Becomes(byID(first.ID), time.Now(), soon, "stopped/completed")
		s.Becomes(byID(second.ID), time.Now(), 2*soon, "idle/completed")

		terminal.Enter("/resume")
		terminal.Shows("Chat Sessions (2 total)")
		terminal.Choose("Down", "❯ #2")
		terminal.Answer("Enter", "Mock answer to: first job")
		if again := terminal.Works(byID(first.ID), "third job [[delay 300]]"); again.PID != agent.PID {
			t.Errorf("%v, want process %d", again, agent.PID)
		}
		s.Becomes(byID(second.ID), time.Now(), soon, "stopped/completed")
		s.Kill(agent)
		s.Becomes(byID(first.ID), time.Now(), soon, "stopped/died")
		s.Becomes(byID(second.ID), time.Now(), soon, "stopped/completed")
		f.tells(app.Ended, "first job")
		if one, other := f.count(app.Ended, "first job"), f.count(app.Ended, "second job"); one != 1 || other > 1 {
			t.Errorf("ends are told %d times and %d times", one, other)
		}
	})
}

// TestGeminiRefusesToResume: `rollcall resume` offers exactly the sessions that Gemini CLI resumes. Without the setting its next start removes those that it refuses.
func TestGeminiRefusesToResume(t *testing.T) {
	each(t, []Release{GeminiNewest}, func(t *testing.T, s *Sandbox, r Release) {
		settings := filepath.Join(s.Home, ".gemini", "settings.json")
		data, err := os.ReadFile(settings)
		must.Do(t, err)
		kept := strings.Replace(string(data), `"general":{`, `"general":{"sessionRetention":{"enabled":false},`, 1)
		must.Do(t, os.WriteFile(settings, []byte(kept), 0o600))
		run := func(args ...string) string {
			output, _ := s.run(r, append(args, "--approval-mode", "yolo")...).CombinedOutput() // it fails with what it refuses
			return string(output)
		}
		run("-p", "goes well")
		run("-p", "failed first [[fail 400]]")
		run("-p", "delegates [[agent child job]]")
		terminal, agent := openGemini(s, r)
		terminal.Prompt("failed in a terminal [[fail 400]]")
		terminal.Shows("API Error")
		s.Signal(agent, unix.SIGKILL)
		s.Gone(agent)
		roll, err := s.List("--all")
		must.Do(t, err)
		refused := 0
		for _, session := range roll.Sessions {
			argv := s.ByName(r, headlessBinary, "resume", session.ID, "-p", "again", "--dry-run")
			offer, err := s.Command(argv[0], argv[1:]...).CombinedOutput()
			said := run("--resume", session.ID, "-p", "again")
			isRefused := strings.Contains(said, "Invalid session identifier") || strings.Contains(said, "No previous sessions")
			if isRefused == (err == nil) {
				t.Errorf("%v: %v\n%s\n%.600s", session, err, offer, said)
			}
			if isRefused {
				refused++
			}
		}
		if len(roll.Sessions) != 4 || refused < 2 {
			t.Errorf("%d refused of %v", refused, roll.Sessions)
		}
	})
}
