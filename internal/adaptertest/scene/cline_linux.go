package scene

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"rollcall/adapters"
	"rollcall/proc"
)

// ClineProgram is the program that Cline's processes run.
const ClineProgram = "/opt/node_modules/@cline/cli-linux-x64/bin/cline"

// cline plays terminals of Cline 3.0.65 that host their sessions themselves: a manifest and a conversation per session,
// both written again at each step.
type cline struct{ *Environment }

// Cline plays Cline 3.0.65.
func Cline(w *Environment) Agent { return cline{w} }

func (c cline) Name() adapters.Name { return "cline" }
func (c cline) Store() string       { return c.Path(".cline") }
func (c cline) Install()            { c.check(os.MkdirAll(c.Path(".cline", "data", "sessions"), 0o755)) }

// clineState is what Cline holds of a session.
type clineState struct {
	started  time.Time
	pid      int // of its first process
	messages []string
	prompt   string // of the open turn, which is stored with its first answer
	first    string
	call     string // that waits for permission
	calls    int
}

func (c cline) Start(cwd, prompt string) *Session {
	c.Install()
	s := newSession(c.Name(), c, "", cwd)
	st := &clineState{}
	s.state = st
	s.Process = c.run(s)
	<-time.After(30 * time.Millisecond) // a start takes longer than the ticks in which it is kept
	st.pid, st.started = s.Process.PID, time.Now()
	s.ID = fmt.Sprintf("%d_%05x", st.started.UnixMilli(), c.rng.Uint32()&0xfffff)
	s.File = c.Path(".cline", "data", "sessions", s.ID, s.ID+".json")
	st.first = prompt
	c.prompt(s, prompt)
	return s
}

func (c cline) run(s *Session, args ...string) proc.Identity {
	started := time.Now().Add(-30 * time.Millisecond)
	if s.ID != "" { // a resumed one begins after what was stored before
		started = time.Now()
	}
	return c.Procs.Start(Spec{Comm: "cline", Exe: ClineProgram, CWD: s.CWD, Args: append([]string{ClineProgram, "-i"}, args...),
		Env: []string{"HOME=" + c.Home}, Started: started})
}

// manifest writes the manifest with a status, as a whole.
func (c cline) manifest(s *Session, status string) {
	st := s.state.(*clineState)
	ended := ""
	if status == "completed" {
		ended = fmt.Sprintf(`"ended_at":%q,"exit_code":0,`, stamp())
	}
	prompt, _ := json.Marshal(`<user_input mode="act">` + st.first + `</user_input>`)
	c.replace(s.File, fmt.Sprintf(`{"version":1,"session_id":%q,"source":"cli","pid":%d,"started_at":%q,%s"status":%q,"interactive":true,"provider":"mock","model":"mock-1","cwd":%q,"workspace_root":%q,"prompt":%s,"metadata":{"sessionHistoryOrigin":{"mode":"user","version":"3.0.65"},"git":{"branch":"main"},"title":"a title"}}`,
		s.ID, st.pid, st.started.UTC().Format("2006-01-02T15:04:05.000Z"), ended, status, s.CWD, s.CWD, prompt))
}

// conversation writes the conversation as a whole.
func (c cline) conversation(s *Session) {
	st := s.state.(*clineState)
	c.replace(strings.TrimSuffix(s.File, ".json")+".messages.json", fmt.Sprintf(`{"version":1,"updated_at":%q,"agent":"lead","sessionId":%q,"origin":{"source":"cli","mode":"user","version":"3.0.65"},"messages":[%s],"system_prompt":"x"}`,
		stamp(), s.ID, strings.Join(st.messages, ",")))
}

func (c cline) replace(path, text string) {
	c.check(os.MkdirAll(filepath.Dir(path), 0o755))
	c.check(os.WriteFile(path+".tmp", []byte(text), 0o644))
	c.check(os.Rename(path+".tmp", path))
}

// store appends a message; the first of a turn comes with the prompt.
func (c cline) store(s *Session, role, content, more string) {
	st := s.state.(*clineState)
	if st.prompt != "" {
		quoted, _ := json.Marshal(`<user_input mode="act">` + st.prompt + `</user_input>`)
		st.messages = append(st.messages, c.message("user", fmt.Sprintf(`[{"type":"text","text":%s}]`, quoted), ""))
		st.prompt = ""
	}
	st.messages = append(st.messages, c.message(role, content, more))
	c.conversation(s)
}

func (c cline) message(role, content, more string) string {
	return fmt.Sprintf(`{"id":%q,"role":%q,"content":%s,"ts":%d%s}`, c.uuid(4), role, content, time.Now().UnixMilli(), more)
}

const clineUsage = `,"modelInfo":{"id":"mock-1","provider":"mock"},"metrics":{"inputTokens":1220,"outputTokens":34,"cacheReadTokens":1000,"cacheWriteTokens":0}`

func (c cline) prompt(s *Session, text string) {
	st := s.state.(*clineState)
	if st.call != "" { // allowed: the tool goes on
		st.call = ""
	} else {
		st.prompt = text
		if len(st.messages) == 0 {
			c.conversation(s)
		} else {
			c.store(s, "assistant", fmt.Sprintf(`[{"type":"tool_use","id":"r%d","name":"read_files","input":{"path":"a"}}]`, len(st.messages)), clineUsage)
		}
	}
	c.manifest(s, "running")
}

func (c cline) answer(s *Session, text string) {
	quoted, _ := json.Marshal(text)
	c.store(s, "assistant", fmt.Sprintf(`[{"type":"text","text":%s}]`, quoted), clineUsage)
	c.manifest(s, "idle")
}

func (c cline) waitsFor() adapters.WaitingFor { return adapters.ForPermission }

func (c cline) ask(s *Session) {
	st := s.state.(*clineState)
	st.calls++
	st.call = fmt.Sprintf("call_%d", st.calls)
	c.store(s, "assistant", fmt.Sprintf(`[{"type":"tool_use","id":%q,"name":"run_commands","input":{"commands":["make install"]}}]`, st.call), clineUsage)
	c.manifest(s, "pending")
}

func (c cline) exit(s *Session) {
	c.manifest(s, "completed")
	c.Procs.End(s.Process.PID)
}

func (c cline) kill(s *Session) { c.Procs.End(s.Process.PID) }

func (c cline) resume(s *Session, prompt string) {
	st := s.state.(*clineState)
	st.call = ""
	<-time.After(30 * time.Millisecond)
	s.Process = c.run(s, "--id", s.ID)
	<-time.After(30 * time.Millisecond)
	c.prompt(s, prompt)
}

func (c cline) forget(s *Session) { c.check(os.RemoveAll(filepath.Dir(s.File))) }

func (c cline) strange(s *Session) {
	st := s.state.(*clineState)
	st.messages = append(st.messages, c.message("moonshine", `[{"type":"text","text":"of the moon"}]`, ""))
	c.conversation(s)
}
