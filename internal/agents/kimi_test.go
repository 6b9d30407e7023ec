//go:build agents && linux

package agents

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"rollcall/internal/must"
)

// openKimi opens Kimi Code in a terminal by its name, as a user does: its process erases its command line, whose length shows the rest only with the place
// of the program on the PATH.
func openKimi(s *Sandbox, args ...string) (*Terminal, Process) {
	s.t.Helper()
	s.onPath(KimiNewest)
	terminal := s.OpenInTmux(append([]string{"kimi"}, args...)...)
	terminal.Shows("context:")
	return terminal, s.kimi(terminal.PID())
}

// onPath puts an agent's program and its Node.js on the PATH of what is started from now on.
func (s *Sandbox) onPath(r Release) {
	s.More = []string{pathWith(s, r)}
}

// kimi returns the process of Kimi Code with a pid, or below it, once it has its own name.
func (s *Sandbox) kimi(pid int) Process {
	s.t.Helper()
	var found Process
	err := poll(30*time.Second, func() bool {
		for _, p := range s.Processes() {
			if p.Comm == "kimi-code" && (p.PID == pid || p.PPID == pid) {
				found = p
			}
		}
		return found.PID != 0
	})
	if err != nil {
		s.t.Fatalf("no Kimi Code in process %d: %v: %v", pid, err, s.Processes())
	}
	return found
}

// Kimi Code through start, work, permission, question, a command, a sub-agent that asks, interruption, end, resume and kill.
func TestKimi(t *testing.T) {
	each(t, []Release{KimiNewest}, func(t *testing.T, s *Sandbox, r Release) {
		terminal, agent := openKimi(s)
		s.Becomes(byPID(agent.PID), time.Now(), soon, "idle")
		working := terminal.FirstJob(agent, "kimi")
		terminal.Shows("Mock answer to: first job")
		idle := s.Becomes(byID(working.ID), time.Now(), soon, "idle/completed")
		if want := (Tokens{Input: 71, Output: 22, CacheRead: 40}); idle.Tokens != want || idle.Model != mockModel {
			t.Errorf("idle: %+v, model %q, want %+v", idle.Tokens, idle.Model, want)
		}

		terminal.Permit(byID(working.ID), "Run this command?", "1")

		terminal.PromptUntil("ask me [[ask]]", "Which colour?")
		s.Becomes(byID(working.ID), time.Now(), soon, "waiting/question")
		terminal.Dismiss("Escape", "esc cancel")
		s.Becomes(byID(working.ID), time.Now(), soon, "idle/completed")

		terminal.PromptUntil("spawn [[agent child job ((bash touch sub.txt))]]", "Run this command?")
		s.Becomes(byID(working.ID), time.Now(), soon, "waiting/permission")
		child := s.Becomes(byPrompt("child job"), time.Now(), soon, "waiting/permission")
		if child.Parent != working.ID || child.CWD != s.Project {
			t.Errorf("%+v, want a child of %s", child, working.ID)
		}
		terminal.Dismiss("1", "Run this command?")
		s.Becomes(byID(working.ID), time.Now(), soon, "idle/completed")

		terminal.Prompt("run it [[bash sleep 77.5]]")
		terminal.Dismiss("1", "Run this command?")
		command := s.Agent("sleep", "77.5")
		s.Becomes(byID(working.ID), time.Now(), soon, "working")
		terminal.Press("Escape")
		s.Gone(command)
		s.Becomes(byID(working.ID), time.Now(), soon, "idle/interrupted")
		terminal.Leave("/exit", agent)
		s.Becomes(byID(working.ID), time.Now(), soon, "stopped/interrupted")

		terminal, agent = openKimi(s, "-r", working.ID)
		if again := s.Becomes(byID(working.ID), time.Now(), soon, "idle/interrupted"); again.PID != agent.PID {
			t.Errorf("resumed: pid %d, want %d; %s", again.PID, agent.PID, again.Evidence)
		}
		terminal.Works(byID(working.ID), "once more [[delay 300]]")
		s.Kill(agent)
		s.Becomes(byID(working.ID), time.Now(), soon, "stopped/died")
	})
}

// A second terminal of the folder, which begins later and has no session yet, and a run that is killed: none has another's session. /new leaves a session.
func TestKimiTogether(t *testing.T) {
	each(t, []Release{KimiNewest}, func(t *testing.T, s *Sandbox, r Release) {
		first, firstAgent := openKimi(s)
		first.PromptUntil("first answers", "Mock answer to: first answers")
		one := s.Becomes(byPrompt("first answers"), time.Now(), soon, "idle/completed")
		second, secondAgent := openKimi(s)
		s.Becomes(byPID(secondAgent.PID), time.Now(), soon, "idle")
		wrapper := s.Detached("kimi", "-p", "in the background [[delay 300]]")
		asked := s.Asked("in the background")
		alone := s.Becomes(byPrompt("in the background"), asked, soon, "working", "unknown")
		killed := s.kimi(wrapper.PID)
		if alone.PID != 0 && alone.PID != killed.PID {
			t.Errorf("pid %d, want %d; %s", alone.PID, killed.PID, alone.Evidence)
		}
		s.Kill(killed)
		s.Becomes(byID(alone.ID), time.Now(), soon, "stopped/died")
		s.Becomes(byID(one.ID), time.Now(), soon, "idle/completed")
		asked = second.Prompt("second works [[delay 300]]")
		two := s.Becomes(byPrompt("second works"), asked, soon, "working")
		if two.PID != secondAgent.PID {
			t.Errorf("pid %d, want %d; %s", two.PID, secondAgent.PID, two.Evidence)
		}
		if again := s.Becomes(byID(one.ID), time.Now(), soon, "idle/completed"); again.PID != firstAgent.PID {
			t.Errorf("pid %d, want %d; %s", again.PID, firstAgent.PID, again.Evidence)
		}
		s.Kill(secondAgent)
		s.Becomes(byID(two.ID), time.Now(), soon, "stopped/died")
		first.Enter("/new")
		first.Shows("Started a new session")
		first.PromptUntil("after new", "Mock answer to: after new")
		if x := s.Becomes(byPrompt("after new"), time.Now(), soon, "idle/completed"); x.PID != firstAgent.PID {
			t.Errorf("pid %d, want %d; %s", x.PID, firstAgent.PID, x.Evidence)
		}
		s.Becomes(byID(one.ID), time.Now(), soon, "stopped/completed")
	})
}

// Kimi Code that Rollcall launched over its protocol, which answers, prompts, interrupts and stops it. Its request shows only the beginning of a command.
func TestKimiLaunched(t *testing.T) {
	const long = "touch allowed.txt # and much more than fifty characters of it"
	l, record := launchAnswerable(t, KimiNewest, "allow me [[bash "+long+"]]")
	s, id := l.Sandbox, record.Session
	first := s.asks(long)
	if first.Text != long || first.Kind != "command" || !first.CanAllow || !first.CanDeny || first.Session.ID != id && id != "" {
		t.Errorf("%+v", first)
	}
	id = first.Session.ID
	s.Becomes(byID(id), time.Now(), soon, "waiting/permission")
	if said := l.Rollcall("answer", id, "--request", first.Request, "--allow"); said.Code == 0 || !strings.Contains(said.Err, "second key") {
		t.Errorf("with one key: %v", said)
	}
	s.notMade(filepath.Join(s.Project, "allowed.txt"))
	s.answered(first, "--allow")
	s.made(filepath.Join(s.Project, "allowed.txt"))
	s.stale(first)
	s.Becomes(byID(id), time.Now(), soon, "idle/completed")
	s.rollcall("send", id, "-p", "deny me [[bash touch denied.txt]]")
	second := s.asks("touch denied.txt")
	s.stale(first)
	s.answered(second, "--deny")
	s.Becomes(byID(id), time.Now(), soon, "idle/completed")
	s.notMade(filepath.Join(s.Project, "denied.txt"))
	s.rollcall("send", id, "-p", "ask me [[ask]]")
	question := s.asks("Which colour?")
	if question.Text != "Which colour?" || question.CanAllow || len(question.Questions) != 1 {
		t.Fatalf("%+v", question)
	}
	s.answered(question, "--option", "2")
	s.Becomes(byID(id), time.Now(), soon, "idle/completed")
	s.rollcall("send", id, "-p", "long job [[delay 300]]")
	s.Becomes(byID(id), s.Asked("long job"), soon, "working")
	s.rollcall("interrupt", id)
	s.Becomes(byID(id), time.Now(), soon, "idle/interrupted")
	l.rollcallStops(record)
}

// A session that `kimi web` holds is answered through its server.
func TestKimiWeb(t *testing.T) {
	each(t, []Release{KimiNewest}, func(t *testing.T, s *Sandbox, r Release) {
		s.onPath(r)
		s.Detached("kimi", "web", "--no-open")
		token := filepath.Join(s.Home, ".kimi-code", "server.token")
		var port int
		must.Do(t, poll(time.Minute, func() bool {
			files, _ := filepath.Glob(filepath.Join(s.Home, ".kimi-code", "server", "instances", "*.json"))
			var entry struct{ Port int }
			if len(files) == 1 {
				data, _ := os.ReadFile(files[0])
				_ = json.Unmarshal(data, &entry)
			}
			port = entry.Port
			_, err := os.Stat(token)
			return port != 0 && err == nil
		}))
		secret := must.Get(os.ReadFile(token))(t)
		post := func(path, body string) (out []byte) {
			t.Helper()
			must.Do(t, poll(time.Minute, func() bool {
				req, err := http.NewRequest(http.MethodPost, fmt.Sprintf("http://127.0.0.1:%d/api/v1/sessions%s", port, path), strings.NewReader(body))
				must.Do(t, err)
				req.Header.Set("Authorization", "Bearer "+strings.TrimSpace(string(secret)))
				req.Header.Set("Content-Type", "application/json")
				resp, err := http.DefaultClient.Do(req)
				if err != nil {
					return false
				}
				defer resp.Body.Close()
				out, err = io.ReadAll(resp.Body)
				return err == nil
			}))
			t.Logf("%s: %s", path, out)
			return out
		}
		var made struct {
			Data struct{ ID string }
		}
		must.Do(t, json.Unmarshal(post("", fmt.Sprintf(`{"metadata":{"cwd":%q}}`, s.Project)), &made))
		prompt := func(text string) {
			t.Helper()
			post("/"+made.Data.ID+"/prompts", fmt.Sprintf(`{"model":%q,"content":[{"type":"text","text":%q}]}`, mockProvider, text))
		}
		prompt("allow me [[bash touch allowed.txt]]")
		first := s.asks("touch allowed.txt")
		if first.Kind != "command" || first.Folder != s.Project || !first.CanAllow || first.Session.ID != made.Data.ID {
			t.Errorf("%+v", first)
		}
		s.answered(first, "--allow")
		s.made(filepath.Join(s.Project, "allowed.txt"))
		s.stale(first)
		s.Becomes(byID(made.Data.ID), time.Now(), soon, "idle/completed")
		prompt("deny me [[bash touch denied.txt]]")
		s.answered(s.asks("touch denied.txt"), "--deny")
		s.Becomes(byID(made.Data.ID), time.Now(), soon, "idle/completed")
		s.notMade(filepath.Join(s.Project, "denied.txt"))
	})
}
