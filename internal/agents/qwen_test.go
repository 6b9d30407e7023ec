//go:build agents && linux

package agents

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"rollcall/internal/modelserver"
	"rollcall/internal/must"
)

// openQwen returns the terminal of a Qwen Code, and the process below it that Rollcall names.
func openQwen(s *Sandbox, r Release, args ...string) (*Terminal, Process) {
	s.t.Helper()
	terminal := s.OpenInTmux(s.Argv(r, append([]string{"--approval-mode", "default"}, args...)...)...)
	terminal.Shows("Type your message")
	return terminal, s.qwenBelow(terminal.PID())
}

// qwenBelow returns the process of Qwen Code below another one that Rollcall names.
func (s *Sandbox) qwenBelow(outer int) (found Process) {
	s.t.Helper()
	s.shows(func(x Session) bool { return x.Agent == "qwen" && x.PID != 0 }, time.Now(), soon, "a process below "+strconv.Itoa(outer), func(x Session) bool {
		all := s.Processes()
		i := slices.IndexFunc(all, func(p Process) bool { return p.PID == x.PID && below(all, p.PID, outer) })
		if i >= 0 {
			found = all[i]
		}
		return i >= 0
	})
	return found
}

// Qwen Code through start, work, permission, question, interruption, resume and kill.
func TestQwen(t *testing.T) {
	each(t, []Release{QwenNewest}, func(t *testing.T, s *Sandbox, r Release) {
		terminal, agent := openQwen(s, r)
		s.Becomes(byPID(agent.PID), time.Now(), soon, "idle")
		working := terminal.FirstJob(agent, "qwen")
		terminal.Shows("Mock answer to: first job")
		idle := s.Becomes(byID(working.ID), time.Now(), soon, "idle/completed")
		if idle.Tokens.Output != 22 || idle.Tokens.Input+idle.Tokens.CacheRead != 111 || idle.Model != "mock-1" {
			t.Errorf("idle: %+v, model %q", idle.Tokens, idle.Model)
		}

		terminal.Permit(byID(working.ID), "Yes, allow once", "Enter")

		terminal.PromptUntil("run it [[bash perl -e 'sleep 8']]", "Yes, allow once")
		terminal.Press("Enter")
		command := s.Agent("perl", "sleep 8")
		s.Becomes(byID(working.ID), time.Now(), soon, "working")
		s.Gone(command)
		s.Becomes(byID(working.ID), time.Now(), soon, "idle/completed")

		terminal.Works(byID(working.ID), "taken back [[delay 300]]")
		terminal.Dismiss("Escape", "esc to cancel")
		s.Becomes(byID(working.ID), time.Now(), soon, "idle")
		terminal.Press("C-u")

		terminal.Works(byID(working.ID), "never ends [[delay 300]]")
		s.Kill(agent)
		s.Becomes(byID(working.ID), time.Now(), soon, "stopped") // the prompt may have been taken back before

		terminal, agent = openQwen(s, r, "--resume", working.ID)
		s.Becomes(byID(working.ID), time.Now(), soon, "idle")
		terminal.Leave("/quit", agent)
		s.Becomes(byID(working.ID), time.Now(), soon, "stopped")
	})
}

// An answer that ends at the limit of its tokens is recorded like one that ends a turn, and the model is asked again.
func TestQwenGoesOn(t *testing.T) {
	each(t, []Release{QwenNewest}, func(t *testing.T, s *Sandbox, r Release) {
		terminal, _ := openQwen(s, r)
		session := terminal.Works(byPrompt("a long one"), "a long one [[cut]][[delay 8]]")
		askedAgain := func() bool {
			asked := slices.DeleteFunc(s.Server.Requests(), func(q modelserver.Request) bool { return q.Side || !strings.Contains(q.Prompt, "a long one") })
			return len(asked) > 1
		}
		if err := poll(time.Minute, askedAgain); err != nil {
			t.Fatal("the model is not asked again: ", err)
		}
		s.Stays(byID(session.ID), 5*time.Second, "working")
	})
}

// Two in one folder: one in a terminal, and a run that ends by itself or is killed.
func TestQwenTogether(t *testing.T) {
	each(t, []Release{QwenNewest}, func(t *testing.T, s *Sandbox, r Release) {
		terminal, agent := openQwen(s, r)
		asked := terminal.Prompt("hello there")
		first := s.Becomes(byPrompt("hello there"), asked, soon, "idle/completed")
		run := s.Detached(s.Argv(r, "--approval-mode", "yolo", "-p", "in the background [[delay 300]]")...)
		asked = s.Asked("in the background")
		alone := s.Becomes(byPrompt("in the background"), asked, soon, "working")
		if alone.PID == agent.PID || first.PID != agent.PID {
			t.Errorf("%v and %v, the terminal's process is %d", alone, first, agent.PID)
		}
		all := s.Processes()
		i := slices.IndexFunc(all, func(p Process) bool { return p.PID == alone.PID })
		if i < 0 || !below(all, alone.PID, run.PID) {
			t.Fatalf("%d is not below %d", alone.PID, run.PID)
		}
		inner := all[i]
		s.Kill(inner)
		s.Becomes(byID(alone.ID), time.Now(), soon, "stopped/died")
		s.Gone(s.Detached(s.Argv(r, "--approval-mode", "yolo", "-p", "short job")...))
		s.Becomes(byPrompt("short job"), time.Now(), soon, "stopped/completed")
		s.Becomes(byID(first.ID), time.Now(), soon, "idle/completed")
	})
}

// A launch that Rollcall can answer: allowed, denied, prompted again and interrupted.
func TestAnswerQwenLaunched(t *testing.T) {
	Need(t)
	built(t, headlessBinary)
	l := NewLauncher(NewSandbox(t), QwenNewest)
	record := l.Launch("allow me [[bash touch allowed.txt]]", "--answerable", "--mode", "default")
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
	s.repliesTo(id)
	s.rollcall("send", id, "-p", "long job [[delay 300]]")
	s.Asked("long job")
	s.Becomes(byID(id), time.Now(), soon, "working")
	s.rollcall("interrupt", id) // Qwen Code records nothing of a turn that is interrupted before the first word
	s.Becomes(byID(id), time.Now(), soon, "idle/interrupted")
	l.rollcallStops(record)
}

// A Qwen Code that Rollcall launched in a terminal is answered and prompted through its two files; the terminal's own answer counts as well.
func TestAnswerQwenInTerminal(t *testing.T) {
	each(t, []Release{QwenNewest}, func(t *testing.T, s *Sandbox, r Release) {
		l := NewLauncher(s, r)
		terminal := l.OpenInTmux("env", "PATH="+l.bin+":"+os.Getenv("PATH"), headlessBinary, "launch", "qwen", "--terminal", "--mode", "default")
		terminal.Shows("Type your message")
		terminal.Prompt("allow me [[bash touch allowed.txt]]")
		first := s.asks("touch allowed.txt")
		s.answered(first, "--allow")
		s.made(filepath.Join(s.Project, "allowed.txt"))
		s.stale(first)
		id := first.Session.ID
		s.Becomes(byID(id), time.Now(), soon, "idle/completed")

		s.rollcall("send", id, "-p", "deny me [[bash touch denied.txt]]")
		s.answered(s.asks("touch denied.txt"), "--deny")
		s.Becomes(byID(id), time.Now(), soon, "idle/interrupted")
		s.notMade(filepath.Join(s.Project, "denied.txt"))

		s.rollcall("send", id, "-p", "in the terminal [[bash touch other.txt]]")
		third := s.asks("touch other.txt")
		terminal.Shows("Yes, allow once")
		terminal.Press("Enter")
		s.made(filepath.Join(s.Project, "other.txt"))
		s.Becomes(byID(id), time.Now(), soon, "idle/completed")
		s.stale(third)
	})
}

// A session of `qwen serve`, which listens on the next port as the first one is in use: allowed, denied, prompted and interrupted.
func TestAnswerQwenServed(t *testing.T) {
	each(t, []Release{QwenNewest}, func(t *testing.T, s *Sandbox, r Release) {
		used := must.Get(net.Listen("tcp", "127.0.0.1:0"))(t)
		defer used.Close()
		port := used.Addr().(*net.TCPAddr).Port
		s.Detached(s.Argv(r, "serve", "--no-web", "--port", strconv.Itoa(port))...)
		post := func(path, content string) (text []byte) {
			t.Helper()
			err := poll(60*time.Second, func() bool {
				response, err := http.Post(fmt.Sprintf("http://127.0.0.1:%d%s", port+1, path), "application/json", strings.NewReader(content))
				if err != nil {
					return false
				}
				defer response.Body.Close()
				text, err = io.ReadAll(response.Body)
				return err == nil && response.StatusCode < 300
			})
			if err != nil {
				t.Fatalf("%s: %v: %s", path, err, text)
			}
			return text
		}
		var made struct {
			ID string `json:"sessionId"`
		}
		must.Do(t, json.Unmarshal(post("/session", "{}"), &made))
		at := "/session/" + made.ID
		post(at+"/approval-mode", `{"mode":"default"}`)
		post(at+"/prompt", `{"prompt":[{"type":"text","text":"allow me [[bash touch allowed.txt]]"}]}`)
		first := s.asks("touch allowed.txt")
		if first.Session.ID != made.ID || !first.CanAllow || !first.CanDeny || first.Via != "qwen serve" || !strings.Contains(first.Session.Evidence, "its server waits for a permission") {
			t.Errorf("%+v", first)
		}
		s.answered(first, "--allow")
		s.made(filepath.Join(s.Project, "allowed.txt"))
		s.stale(first)
		s.Becomes(byID(made.ID), time.Now(), soon, "idle/completed")
		s.rollcall("send", made.ID, "-p", "deny me [[bash touch denied.txt]]")
		s.answered(s.asks("touch denied.txt"), "--deny")
		s.Becomes(byID(made.ID), time.Now(), soon, "idle/interrupted")
		s.notMade(filepath.Join(s.Project, "denied.txt"))
		s.repliesTo(made.ID)
		s.rollcall("send", made.ID, "-p", "long job [[delay 300]]")
		s.Asked("long job")
		s.Becomes(byID(made.ID), time.Now(), soon, "working")
		s.rollcall("interrupt", made.ID)
		s.Becomes(byID(made.ID), time.Now(), soon, "idle/interrupted")
	})
}

// A Qwen Code that Rollcall did not launch takes prompts with the controller token that the user made, and none without it or while it works.
func TestPromptQwenInbox(t *testing.T) {
	each(t, []Release{QwenNewest}, func(t *testing.T, s *Sandbox, r Release) {
		terminal, agent := openQwen(s, r)
		asked := terminal.Prompt("by hand")
		id := s.Becomes(byPrompt("by hand"), asked, soon, "idle/completed").ID
		refused := func(why string, args ...string) {
			t.Helper()
			if out, err := s.Command(headlessBinary, append([]string{"send", id, "-p"}, args...)...).CombinedOutput(); err == nil || !strings.Contains(string(out), why) {
				t.Errorf("%v: %s, %v", args, out, err)
			}
		}
		refused("agents.qwen.token_file", "without a token")
		printed := must.Get(s.run(r, "sessions", "controllers", "add", "--label", "rollcall").Output())(t)
		folder := filepath.Join(s.Home, ".config", "rollcall")
		must.Do(t, os.MkdirAll(folder, 0o700))
		must.Do(t, os.WriteFile(filepath.Join(folder, "qwen.token"), printed, 0o600))
		must.Do(t, os.WriteFile(filepath.Join(folder, "config.toml"), []byte("[agents.qwen]\ntoken_file = \"qwen.token\"\n"), 0o600))

		s.rollcall("send", id, "-p", "long job [[delay 300]]")
		s.Asked("long job")
		working := s.Becomes(byID(id), time.Now(), soon, "working")
		if working.PID != agent.PID {
			t.Errorf("%v, want process %d", working, agent.PID)
		}
		refused("a turn is open", "and then", "--queue")
		if out, err := s.Command(headlessBinary, "peek", id).CombinedOutput(); err != nil || !strings.Contains(string(out), "trusted controller (rollcall): long job") {
			t.Errorf("peek: %s, %v", out, err)
		}
	})
}

// resultHas reports whether a result of a tool in Qwen Code's chat has the text.
func (s *Sandbox) resultHas(id, text string) bool {
	chats, _ := filepath.Glob(filepath.Join(s.Home, ".qwen", "projects", "*", "chats", id+".jsonl"))
	for _, path := range chats {
		data := must.Get(os.ReadFile(path))(s.t)
		for line := range strings.Lines(string(data)) {
			if strings.Contains(line, `"functionResponse"`) && strings.Contains(line, text) {
				return true
			}
		}
	}
	return false
}

// repliesTo has a session ask a question, and replies to it.
func (s *Sandbox) repliesTo(id string) {
	s.t.Helper()
	s.rollcall("send", id, "-p", "ask me [[ask]]")
	question := s.asks("Which colour?")
	if question.Kind != "question" || !question.CanReply || question.CanAllow || len(question.Questions) != 1 || question.Session.WaitingFor != "question" {
		s.t.Errorf("%+v", question)
	}
	s.answered(question, "--option", "2")
	s.Becomes(byID(id), time.Now(), soon, "idle/completed")
	if !s.resultHas(id, "Blue") { // the question has it, too
		s.t.Errorf("the answer did not reach the agent")
	}
}

// Outside of tmux no title says that the user took a prompt back before the first word of its answer: after some time it is not known whether the session
// works, and the end of its process is no death. A command that is allowed never leaves a wait behind while its result is not recorded.
func TestQwenWithoutTitle(t *testing.T) {
	each(t, []Release{QwenNewest}, func(t *testing.T, s *Sandbox, r Release) {
		terminal := s.Open(s.Argv(r, "--approval-mode", "default")...)
		terminal.Shows("Type your message")
		agent := s.qwenBelow(terminal.PID())
		terminal.Prompt("run it [[bash perl -e 'sleep 4']]")
		id := s.Becomes(byPID(agent.PID), time.Now(), soon, "waiting/permission").ID
		terminal.Dismiss("Enter", "Yes, allow once")
		command := s.Agent("perl", "sleep 4")
		watch := s.watches(id)
		s.Gone(command)
		s.Becomes(byID(id), time.Now(), soon, "idle/completed")
		if states := watch(); slices.Contains(states, "waiting/permission") {
			t.Errorf("it waited after its command: %q", states)
		}
		terminal.Works(byID(id), "taken back [[delay 300]]")
		terminal.Dismiss("Escape", "esc to cancel")
		s.Becomes(byID(id), time.Now(), time.Minute, "unknown")
		s.Signal(agent, unix.SIGTERM)
		s.Gone(agent)
		s.Becomes(byID(id), time.Now(), soon, "stopped")
	})
}

// Below `script` there is no title that can be read, even where tmux shows the terminal around it.
func TestQwenInScript(t *testing.T) {
	each(t, []Release{QwenNewest}, func(t *testing.T, s *Sandbox, r Release) {
		terminal := s.OpenInTmux("script", "-qec", "'"+strings.Join(s.Argv(r, "--approval-mode", "default"), "' '")+"'", "/dev/null")
		terminal.Shows("Type your message")
		agent := s.qwenBelow(terminal.PID())
		terminal.Prompt("first job")
		first := s.Becomes(byPrompt("first job"), time.Now(), soon, "idle/completed")
		asked := terminal.Prompt("taken back [[delay 300]]")
		s.Becomes(byID(first.ID), asked, soon, "working")
		terminal.Dismiss("Escape", "esc to cancel")
		s.Becomes(byID(first.ID), time.Now(), time.Minute, "idle", "unknown")
		s.Signal(agent, unix.SIGTERM)
		s.Gone(agent)
		s.Becomes(byID(first.ID), time.Now(), soon, "stopped")
	})
}

// watches runs `rollcall watch`, which lives on, and returns a function that ends it and returns the states of a session that it told.
func (s *Sandbox) watches(id string) func() []string {
	s.t.Helper()
	ctx, cancel := context.WithCancel(s.t.Context())
	cmd := exec.CommandContext(ctx, headlessBinary, "watch", "--json", "--snapshot")
	cmd.Dir, cmd.Env = s.Project, s.Env()
	out, err := cmd.StdoutPipe()
	must.Do(s.t, errors.Join(err, cmd.Start()))
	told := make(chan []string, 1)
	go func() {
		var states []string
		for lines := json.NewDecoder(out); ; {
			var line struct {
				Session  Session   `json:"session"`
				Sessions []Session `json:"sessions"`
			}
			if lines.Decode(&line) != nil {
				break
			}
			for _, x := range append(line.Sessions, line.Session) {
				if x.ID == id {
					states = append(states, x.state())
				}
			}
		}
		_ = cmd.Wait() // it was killed
		told <- states
	}()
	return func() []string {
		cancel()
		states := <-told
		s.t.Logf("watch: %q", states)
		return states
	}
}
