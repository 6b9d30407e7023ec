//go:build agents && linux

package agents

import (
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"rollcall/internal/must"
	"rollcall/internal/pressure"
)

// pendingRoll is the answer of `rollcall pending --json`.
type pendingRoll struct {
	Pending []struct {
		Session  Session   `json:"session"`
		Requests []request `json:"requests"`
		Error    string    `json:"error"`
		Place    string    `json:"place"`
	} `json:"pending"`
}

// request is a request as `rollcall pending --json` prints it.
type request struct {
	Session   Session  `json:"-"`
	Request   string   `json:"request"`
	ID        string   `json:"id"`
	Kind      string   `json:"kind"`
	Text      string   `json:"text"`
	Folder    string   `json:"folder"`
	Via       string   `json:"via"`
	CanAllow  bool     `json:"can_allow"`
	CanDeny   bool     `json:"can_deny"`
	CanReply  bool     `json:"can_reply"`
	Harmless  bool     `json:"harmless"`
	Dangers   []string `json:"dangers"`
	Unknown   []string `json:"unknown"`
	Questions []struct {
		Text    string `json:"text"`
		Options []struct {
			Label string `json:"label"`
		} `json:"options"`
	} `json:"questions"`
}

// pending returns what all sessions ask, and the text of the answer.
func (s *Sandbox) pending() ([]request, string) {
	s.t.Helper()
	output, err := s.Command(headlessBinary, "pending", "--json").Output()
	if err != nil {
		s.t.Fatalf("rollcall pending: %v\n%s", err, output)
	}
	var roll pendingRoll
	if err := json.Unmarshal(output, &roll); err != nil {
		s.t.Fatal(err)
	}
	var out []request
	for _, p := range roll.Pending {
		for _, r := range p.Requests {
			r.Session = p.Session
			out = append(out, r)
		}
	}
	return out, string(output)
}

// asks waits until some session asks for something with these words in it.
func (s *Sandbox) asks(words string) request {
	s.t.Helper()
	var found request
	var last string
	err := poll(soon, func() bool {
		var list []request
		list, last = s.pending()
		for _, r := range list {
			if strings.Contains(r.Text, words) {
				found = r
			}
		}
		return found.Request != ""
	})
	if err != nil {
		s.t.Fatalf("nobody asks for %q: %v\n%s", words, err, last)
	}
	if len(found.Unknown) > 0 {
		s.t.Errorf("%s: no table has the members %q of its request", found.Session.Agent, found.Unknown)
	}
	return found
}

// answer runs `rollcall answer` for a request and returns its exit code and what it said.
func (s *Sandbox) answer(r request, how ...string) (code int, said string) {
	s.t.Helper()
	args := append([]string{"answer", r.Session.ID, "--request", r.Request}, how...)
	if slices.Contains(how, "--allow") {
		args = append(args, "--second-look")
	}
	output, err := s.Command(headlessBinary, args...).CombinedOutput()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		s.t.Fatal(err)
	}
	if exit != nil {
		code = exit.ExitCode()
	}
	return code, string(output)
}

// notConfirmed is the exit code of an answer that was sent, and whose effect was not seen in time.
const notConfirmed = 14

// answered answers a request and fails the test unless that was taken.
func (s *Sandbox) answered(r request, how ...string) {
	s.t.Helper()
	began := time.Now()
	code, said := s.answer(r, how...)
	if code == notConfirmed && pressure.StalledSince(began) > time.Second {
		s.t.Logf("answer %s: the busy machine kept it from being confirmed in time: %s", how, said)
		return // the caller looks at what it did
	}
	if code != 0 {
		s.t.Fatalf("answer %s: exit code %d: %s", how, code, said)
	}
	s.t.Logf("answer %s took %s: %s", how, time.Since(began).Round(time.Millisecond), strings.TrimSpace(said))
}

// made waits until a file exists.
func (s *Sandbox) made(path string) {
	s.t.Helper()
	if err := poll(soon, func() bool { _, err := os.Stat(path); return err == nil }); err != nil {
		s.t.Errorf("%s was not made: %v", path, err)
	}
}

// notMade fails the test if a file exists.
func (s *Sandbox) notMade(path string) {
	s.t.Helper()
	if _, err := os.Stat(path); err == nil {
		s.t.Errorf("%s was made, although nobody allowed it", path)
	}
}

// stale answers a request that is over, which must do nothing.
func (s *Sandbox) stale(r request) {
	s.t.Helper()
	if code, said := s.answer(r, "--allow"); code != 13 || !strings.Contains(said, "nothing was answered") {
		s.t.Errorf("a request that is over: exit code %d: %s", code, said)
	}
}

func TestAnswerCodex(t *testing.T) {
	each(t, []Release{CodexNewest}, func(t *testing.T, s *Sandbox, r Release) {
		terminal := openCodex(s, r)
		terminal.Prompt("allow me [[bash touch ../allowed.txt]][[esc]]")
		terminal.Shows("Would you like to run the following command?")
		first := s.asks("touch ../allowed.txt")
		if first.Kind != "command" || first.Folder != s.Project || !first.CanAllow || !first.CanDeny {
			t.Errorf("%+v", first)
		}
		s.answered(first, "--allow")
		s.made(filepath.Join(s.Home, "allowed.txt"))
		terminal.Shows("Done.")
		s.stale(first)

		terminal.Prompt("deny me [[bash touch ../denied.txt]][[esc]]")
		second := s.asks("touch ../denied.txt")
		s.stale(first)
		s.answered(second, "--deny")
		if err := poll(soon, func() bool {
			return !strings.Contains(terminal.Screen(), "Would you like to run the following command?")
		}); err != nil {
			t.Errorf("the terminal still asks: %v", err)
		}
		s.Becomes(byPrompt("allow me"), time.Now(), soon, "idle", "idle/completed", "idle/interrupted")
		s.notMade(filepath.Join(s.Home, "denied.txt"))

		terminal.Prompt("elsewhere [[bash touch ../elsewhere.txt]][[esc]]")
		third := s.asks("touch ../elsewhere.txt")
		terminal.Answer("y", "Ran touch ../elsewhere.txt")
		s.stale(third)
	})
}

// TestAnswerCodexQuestion: Codex asks questions in its plan mode, or with this feature.
func TestAnswerCodexQuestion(t *testing.T) {
	each(t, []Release{CodexNewest}, func(t *testing.T, s *Sandbox, r Release) {
		path := filepath.Join(s.Home, ".codex", "config.toml")
		config, err := os.ReadFile(path)
		if err == nil {
			err = os.WriteFile(path, append(config, "\n[features]\ndefault_mode_request_user_input = true\n"...), 0o600)
		}
		must.Do(t, err)
		terminal := openCodex(s, r)
		terminal.PromptUntil("ask me [[ask]]", "Which colour?")
		first := s.asks("Which colour?")
		if first.Kind != "question" || !first.CanReply || len(first.Questions) != 1 || len(first.Questions[0].Options) < 2 {
			t.Fatalf("%+v", first)
		}
		s.answered(first, "--option", "2")
		terminal.Shows("Done.")
		s.Becomes(byPrompt("ask me"), time.Now(), soon, "idle", "idle/completed")

		terminal.Prompt("elsewhere [[ask]]")
		second := s.asks("Which colour?")
		terminal.Press("Enter") // takes the first one
		s.Becomes(byPrompt("ask me"), time.Now(), soon, "idle", "idle/completed")
		if code, said := s.answer(second, "--option", "2"); code != 13 || !strings.Contains(said, "nothing was answered") {
			t.Errorf("a question that is over: exit code %d: %s", code, said)
		}
	})
}

func TestPromptCodex(t *testing.T) {
	each(t, []Release{CodexNewest}, func(t *testing.T, s *Sandbox, r Release) {
		terminal := openCodex(s, r)
		terminal.PromptUntil("first job", "Mock answer to: first job")
		idle := s.Becomes(byPrompt("first job"), time.Now(), soon, "idle", "idle/completed")
		s.rollcall("send", idle.ID, "-p", "second job [[delay 6]]")
		s.Asked("second job")
		if output, err := s.Command(headlessBinary, "send", idle.ID, "-p", "too early").CombinedOutput(); err == nil || !strings.Contains(string(output), "--queue") {
			t.Errorf("%v: %s", err, output)
		}
		s.rollcall("send", idle.ID, "--queue", "-p", "third job")
		s.Asked("third job")
		terminal.Shows("Mock answer to: third job")
		s.Becomes(byPrompt("first job"), time.Now(), soon, "idle", "idle/completed")
		s.rollcall("send", idle.ID, "-p", "fourth job [[delay 300]]")
		s.Asked("fourth job")
		s.Becomes(byPrompt("first job"), time.Now(), soon, "working")
		s.rollcall("interrupt", idle.ID)
		s.Becomes(byPrompt("first job"), time.Now(), soon, "idle/interrupted")
	})
}

// rollcall runs a command of rollcall, which must succeed.
func (s *Sandbox) rollcall(args ...string) {
	s.t.Helper()
	if output, err := s.Command(headlessBinary, args...).CombinedOutput(); err != nil {
		s.t.Fatalf("rollcall %s: %v\n%s", args[0], err, output)
	}
}

func TestAnswerOpenCode(t *testing.T) {
	each(t, []Release{OpenCodeNewest}, func(t *testing.T, s *Sandbox, r Release) {
		port := strconv.Itoa(freePort(s))
		terminal := s.Open(s.Argv(r, "--port", port)...)
		terminal.Shows("Ask anything")
		terminal.PromptUntil("allow me [[bash touch asked-allowed.txt]]", "Permission required")
		first := s.asks("touch asked-allowed.txt")
		if first.Kind != "command" || !first.CanAllow || !first.CanDeny {
			t.Errorf("%+v", first)
		}
		s.answered(first, "--allow")
		s.made(filepath.Join(s.Project, "asked-allowed.txt"))
		terminal.Shows("Done.")
		s.stale(first)

		below := filepath.Join(s.Project, "below")
		must.Do(t, os.Mkdir(below, 0o755))
		terminal.Prompt("allow me below [[in below]] [[bash touch asked-below.txt]]")
		if there := s.asks("touch asked-below.txt"); there.Folder != below {
			t.Errorf("it runs in %s: %+v", below, there)
		} else {
			s.answered(there, "--allow")
			s.made(filepath.Join(below, "asked-below.txt"))
		}
		terminal.Shows("Done.")

		terminal.Prompt("ask me [[ask]]")
		question := s.asks("Which colour?")
		if question.Kind != "question" || !question.CanReply || len(question.Questions) != 1 || len(question.Questions[0].Options) < 2 {
			t.Fatalf("%+v", question)
		}
		s.answered(question, "--option", "2")
		s.Becomes(byPrompt("allow me"), time.Now(), soon, "idle", "idle/completed")
		terminal.Shows(question.Questions[0].Options[1].Label)

		terminal.Prompt("elsewhere [[bash touch asked-elsewhere.txt]]")
		third := s.asks("touch asked-elsewhere.txt")
		terminal.Dismiss("Enter", "Permission required")
		s.made(filepath.Join(s.Project, "asked-elsewhere.txt"))
		s.stale(third)

		terminal.Prompt("deny me [[bash touch asked-denied.txt]]")
		second := s.asks("touch asked-denied.txt")
		s.answered(second, "--deny", "-m", "use another name")
		s.Becomes(byPrompt("allow me"), time.Now(), soon, "idle", "idle/completed", "idle/interrupted", "idle/failed")
		s.notMade(filepath.Join(s.Project, "asked-denied.txt"))

		id := second.Session.ID
		s.rollcall("send", id, "-p", "sent job [[delay 6]]")
		s.Asked("sent job")
		s.rollcall("send", id, "--queue", "-p", "queued job")
		terminal.Shows("Mock answer to: queued job")
		s.Becomes(byID(id), time.Now(), soon, "idle", "idle/completed")
		s.rollcall("send", id, "-p", "stopped job [[delay 300]]")
		s.Asked("stopped job")
		s.rollcall("interrupt", id)
		s.Becomes(byID(id), time.Now(), soon, "idle/interrupted")
	})
}

func TestAnswerOpenClaw(t *testing.T) {
	each(t, []Release{OpenClawNewest}, func(t *testing.T, s *Sandbox, r Release) {
		g := s.StartGateway(r)
		g.Send("agent:main:first", "first job [[delay 120]]")
		dial := func(caps ...string) *gatewayClient {
			client, err := g.dialWith(t.Context(), append([]string{}, caps...), "operator.read", "operator.write", "operator.approvals", "operator.admin")
			must.Do(t, err)
			t.Cleanup(client.close)
			return client
		}
		// The gateway lets a request wait only if another client can show it.
		dial("approvals", "exec-approvals")
		approver := dial()
		ask := func(command string) (decided func() string) {
			answer, err := approver.call(t.Context(), "exec.approval.request", map[string]any{"command": command, "cwd": s.Project,
				"host": "gateway", "agentId": "main", "sessionKey": "agent:main:first", "twoPhase": true, "timeoutMs": 120000})
			must.Do(t, err)
			var asked struct{ ID, Status string }
			if err := json.Unmarshal(answer, &asked); err != nil || asked.Status != "accepted" {
				t.Fatalf("%s, %v", answer, err)
			}
			return func() string {
				answer, err := approver.call(t.Context(), "exec.approval.waitDecision", map[string]any{"id": asked.ID})
				must.Do(t, err)
				return string(answer)
			}
		}
		decided := ask("touch allowed.txt")
		first := s.asks("touch allowed.txt")
		if first.Kind != "command" || first.Folder != s.Project || !first.CanAllow || !first.CanDeny {
			t.Errorf("%+v", first)
		}
		s.answered(first, "--allow")
		if got := decided(); !strings.Contains(got, `"allow-once"`) {
			t.Errorf("decided %s", got)
		}
		s.stale(first)
		decided = ask("touch denied.txt")
		second := s.asks("touch denied.txt")
		s.answered(second, "--deny")
		if got := decided(); !strings.Contains(got, `"deny"`) {
			t.Errorf("decided %s", got)
		}
	})
}

// openClaudeInTmux is openClaude in a pane that Claude Code knows to be one.
func openClaudeInTmux(s *Sandbox, r Release, id string) *Terminal {
	s.t.Helper()
	terminal := s.OpenInTmux(s.Program(r), "--session-id", id, "--permission-mode", "default")
	terminal.Shows("? for shortcuts")
	agent := s.Descendant(terminal.PID(), "claude")
	if err := poll(20*time.Second, func() bool { return registered(s, agent) == id }); err != nil {
		s.t.Fatalf("no registry entry of %v: %v", agent, err)
	}
	return terminal
}

func TestAnswerClaudeInTmux(t *testing.T) {
	each(t, []Release{ClaudeNewest}, func(t *testing.T, s *Sandbox, r Release) {
		id := uuid(t)
		terminal := openClaudeInTmux(s, r, id)
		terminal.PromptUntil("allow me [[bash touch 'a,b}#c[d]*.txt']]", "Do you want to proceed?")
		first := s.asks("touch 'a,b}#c[d]*.txt'")
		if first.Kind != "command" || !first.CanAllow || !first.CanDeny || first.Session.ID != id {
			t.Errorf("%+v", first)
		}
		s.tmux("copy-mode", "-t", terminal.pane())
		if code, said := s.answer(first, "--allow"); code != 13 || !strings.Contains(said, "copy mode") {
			t.Errorf("in copy mode: exit code %d: %s", code, said)
		}
		s.tmux("send-keys", "-t", terminal.pane(), "-X", "cancel")
		s.answered(first, "--allow")
		s.made(filepath.Join(s.Project, "a,b}#c[d]*.txt"))
		s.stale(first)

		terminal.Shows("Done.")
		terminal.Prompt("deny me [[bash touch denied.txt]]")
		second := s.asks("touch denied.txt")
		s.stale(first)
		s.answered(second, "--deny")
		s.notMade(filepath.Join(s.Project, "denied.txt"))

		terminal.Prompt("elsewhere [[bash touch elsewhere.txt]]")
		third := s.asks("touch elsewhere.txt")
		terminal.Dismiss("1", "Do you want to proceed?")
		s.made(filepath.Join(s.Project, "elsewhere.txt"))
		s.stale(third)
	})
}

// TestAnswerClaudeResized: a request that Claude Code shows stays one that can be answered while its terminal becomes narrower and wider: on one row and on
// several, with the bar beside a long command and without it.
func TestAnswerClaudeResized(t *testing.T) {
	each(t, []Release{ClaudeNewest}, func(t *testing.T, s *Sandbox, r Release) {
		id := uuid(t)
		terminal := openClaudeInTmux(s, r, id)
		resize := func(width int) {
			s.tmux("resize-window", "-t", terminal.pane(), "-x", strconv.Itoa(width), "-y", "50")
		}
		for name, command := range map[string]string{"short": "touch " + strings.Repeat("a", 60), "long": "touch " + strings.Repeat("abcdefgh ijk ", 6) + "x"} {
			resize(180)
			terminal.PromptUntil(name+" [[bash "+command+"]]", "Do you want to proceed?")
			for _, width := range []int{180, 150, 100, 91, 85, 70, 55, 120, 200, 250} {
				resize(width)
				var last []request
				err := poll(soon, func() bool {
					last, _ = s.pending()
					return len(last) == 1 && last[0].Text == command && last[0].CanAllow && last[0].CanDeny
				})
				if err != nil {
					t.Errorf("%s, %d columns: %v: %+v\n%s", name, width, err, last, terminal.Screen())
				}
			}
			s.answered(s.asks(command), "--deny")
			terminal.Shows("What should Claude do instead?", "Interrupted")
		}
	})
}
