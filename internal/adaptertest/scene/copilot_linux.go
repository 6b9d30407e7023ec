package scene

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"rollcall/adapters"
	"rollcall/proc"
)

// copilot plays Copilot CLI 1.0.102 in a terminal.
type copilot struct{ *Environment }

// Copilot plays Copilot CLI 1.0.102: a folder per session, in which its process holds a file.
func Copilot(w *Environment) Agent { return copilot{w} }

// copilotState is what the next records need.
type copilotState struct {
	last, request string // ids
	calls         int
}

func (c copilot) Name() adapters.Name { return "copilot" }
func (c copilot) Store() string       { return c.Path(".copilot") }
func (c copilot) Install()            { c.check(os.MkdirAll(c.Path(".copilot", "session-state"), 0o755)) }

func (c copilot) Start(cwd, prompt string) *Session {
	c.Install()
	s := newSession(c.Name(), c, c.chosenID(), cwd)
	s.state = &copilotState{}
	s.File = c.Path(".copilot", "session-state", s.ID, "events.jsonl")
	s.Process = c.run(s)
	c.Write(filepath.Join(filepath.Dir(s.File), "workspace.yaml"), fmt.Sprintf(
		"id: %s\ncwd: %s\nbranch: main\nclient_name: github/cli\nname: the name\nuser_named: true\nsummary_count: 0\ncreated_at: %s\n", s.ID, cwd, stamp()))
	c.hold(s)
	c.add(s, "session.start", fmt.Sprintf(`{"sessionId":%q,"version":1,"producer":"copilot-agent","copilotVersion":"1.0.102","startTime":%q,"selectedModel":"mock-1","context":{"cwd":%q,"branch":"main"},"alreadyInUse":false}`,
		s.ID, stamp(), cwd))
	c.prompt(s, prompt)
	return s
}

func (c copilot) run(s *Session, args ...string) proc.Identity {
	return c.Procs.Start(Spec{Comm: "MainThread", Exe: CopilotProgram, CWD: s.CWD, Args: append([]string{CopilotProgram}, args...), Env: []string{"HOME=" + c.Home}})
}

// names returns the two files that a process has in its session's folder.
func (c copilot) names(s *Session) (lock, hold string) {
	name := filepath.Join(filepath.Dir(s.File), fmt.Sprintf("inuse.%d.", s.Process.PID))
	return name + "lock", name + "hold"
}

func (c copilot) hold(s *Session) {
	lock, hold := c.names(s)
	c.Write(hold, "")
	c.Procs.Open(s.Process.PID, hold)
	c.Write(lock, fmt.Sprint(s.Process.PID))
}

func (c copilot) add(s *Session, kind, data string) {
	st := s.state.(*copilotState)
	parent := "null"
	if st.last != "" {
		parent = `"` + st.last + `"`
	}
	st.last = c.uuid(4)
	c.Append(s.File, fmt.Sprintf(`{"type":%q,"data":%s,"id":%q,"timestamp":%q,"parentId":%s}`, kind, data, st.last, stamp(), parent))
}

// prompt answers a request first, if the session waits for one.
func (c copilot) prompt(s *Session, text string) {
	st := s.state.(*copilotState)
	if st.request != "" {
		c.add(s, "permission.completed", fmt.Sprintf(`{"requestId":%q,"toolCallId":"call_%d","result":{"kind":"approved"},"decisionSource":"human_response"}`, st.request, st.calls))
		c.add(s, "tool.execution_complete", fmt.Sprintf(`{"toolCallId":"call_%d","success":true,"result":{"content":"ok"}}`, st.calls))
		st.request = ""
		return
	}
	quoted, _ := json.Marshal(text)
	c.add(s, "user.message", fmt.Sprintf(`{"content":%s,"transformedContent":"<current_datetime>now</current_datetime>\n\n","delivery":"idle","turnId":"0"}`, quoted))
	c.add(s, "assistant.turn_start", `{"turnId":"0"}`)
}

func (c copilot) answer(s *Session, text string) {
	st := s.state.(*copilotState)
	st.calls++
	quoted, _ := json.Marshal(text)
	c.add(s, "assistant.turn_start", `{"turnId":"1"}`)
	c.add(s, "session.usage_record", fmt.Sprintf(`{"usage":{"model":"mock-1","inputTokens":1220,"outputTokens":34,"cacheReadTokens":1000,"cacheWriteTokens":0,"cost":0.0,"accounting":{"sourceSessionId":%q,"sequence":%d,"usageId":"chatcmpl-1"}}}`, s.ID, st.calls))
	c.add(s, "assistant.message", fmt.Sprintf(`{"model":"mock-1","content":%s,"toolRequests":[],"turnId":"1"}`, quoted))
	c.add(s, "assistant.turn_end", `{"turnId":"1"}`)
}

func (c copilot) waitsFor() adapters.WaitingFor { return adapters.ForPermission }

func (c copilot) ask(s *Session) {
	st := s.state.(*copilotState)
	st.calls++
	st.request = c.uuid(4)
	c.add(s, "tool.execution_start", fmt.Sprintf(`{"toolCallId":"call_%d","toolName":"bash","arguments":{"command":"make install"},"turnId":"0"}`, st.calls))
	c.add(s, "permission.requested", fmt.Sprintf(`{"requestId":%q,"permissionRequest":{"kind":"shell","toolCallId":"call_%d","fullCommandText":"make install","intention":"Install"},"permissionMode":"manual"}`,
		st.request, st.calls))
}

// exit ends the process as by TERM: it removes its lock.
func (c copilot) exit(s *Session) {
	c.add(s, "session.shutdown", `{"shutdownType":"routine","modelMetrics":{}}`)
	c.drop(s)
	c.Procs.End(s.Process.PID)
}

func (c copilot) drop(s *Session) {
	lock, hold := c.names(s)
	c.Procs.Close(s.Process.PID, hold)
	_ = os.Remove(lock)
	_ = os.Remove(hold)
}

// terminate ends the process in its turn, as SIGTERM and the end of its terminal do.
func (c copilot) terminate(s *Session) { c.exit(s) }

func (c copilot) kill(s *Session) { c.Procs.End(s.Process.PID) }

// resume has a process begin after what was stored before, by more than the ticks in which its start is kept.
func (c copilot) resume(s *Session, prompt string) {
	c.open(s)
	c.add(s, "session.resume", fmt.Sprintf(`{"resumeTime":%q,"eventCount":9,"selectedModel":"mock-1","context":{"cwd":%q,"branch":"main"},"alreadyInUse":false}`, stamp(), s.CWD))
	c.prompt(s, prompt)
}

// open begins a session again. Nothing is recorded before its first prompt.
func (c copilot) open(s *Session) adapters.Outcome {
	const apart = 60 * time.Millisecond
	<-time.After(apart)
	s.state.(*copilotState).request = ""
	s.Process = c.run(s, "--resume="+s.ID)
	c.hold(s)
	return s.Truth().Outcome
}

func (c copilot) forget(s *Session)  { c.check(os.RemoveAll(filepath.Dir(s.File))) }
func (c copilot) strange(s *Session) { c.add(s, "moonshine", `{"of":["the","moon"]}`) }
