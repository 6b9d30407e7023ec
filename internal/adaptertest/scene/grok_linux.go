package scene

import (
	"encoding/json"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"time"

	"rollcall/adapters"
	"rollcall/proc"
)

// grok plays Grok Build 1.0.41 in a terminal.
type grok struct{ *Environment }

// Grok plays Grok Build 1.0.41: a folder per session, whose events its process holds open, and a registry.
func Grok(w *Environment) Agent { return grok{w} }

// grokState is what the next records need.
type grokState struct {
	number int // of the next record
	turns  int
	asks   bool // a request for a permission waits
}

func (g grok) Name() adapters.Name { return "grok" }
func (g grok) Store() string       { return g.Path(".grok") }
func (g grok) Install()            { g.check(os.MkdirAll(g.Path(".grok", "sessions"), 0o755)) }

func (g grok) Start(cwd, prompt string) *Session {
	g.Install()
	s := newSession(g.Name(), g, g.uuid(7), cwd)
	s.state = &grokState{}
	s.File = g.Path(".grok", "sessions", url.PathEscape(cwd), s.ID, "events.jsonl")
	s.Process = g.run(s)
	g.Write(filepath.Join(filepath.Dir(s.File), "summary.json"), fmt.Sprintf(
		`{"info":{"id":%q,"cwd":%q},"session_summary":"the name","created_at":%q,"current_model_id":"mock","head_branch":"main","generated_title":"the name"}`, s.ID, cwd, stamp()))
	g.Write(s.File, "")
	g.hold(s)
	g.prompt(s, prompt)
	return s
}

func (g grok) run(s *Session, args ...string) proc.Identity {
	return g.Procs.Start(Spec{Comm: "grok", Exe: GrokProgram, CWD: s.CWD, Args: append([]string{"grok"}, args...), Env: []string{"HOME=" + g.Home}})
}

// hold has the process hold the session's file, and enters it in the registry.
func (g grok) hold(s *Session) {
	log := g.Path(".grok", "logs", "unified.jsonl")
	g.Append(log, fmt.Sprintf(`{"ts":%q,"src":"shell","pid":%d,"msg":"started"}`, stamp(), s.Process.PID))
	g.Procs.Open(s.Process.PID, log)
	g.Procs.Open(s.Process.PID, s.File)
	g.register(s, fmt.Sprintf(`{"session_id":%q,"pid":%d,"cwd":%q,"opened_at":%q}`, s.ID, s.Process.PID, s.CWD, stamp()))
}

// register replaces the entry of a session in the registry; empty: it is removed.
func (g grok) register(s *Session, entry string) {
	path := g.Path(".grok", "active_sessions.json")
	var entries, kept []json.RawMessage
	data, _ := os.ReadFile(path)
	_ = json.Unmarshal(data, &entries) // there is none yet
	for _, e := range entries {
		var of struct {
			ID string `json:"session_id"`
		}
		if json.Unmarshal(e, &of) == nil && of.ID != s.ID {
			kept = append(kept, e)
		}
	}
	if entry != "" {
		kept = append(kept, json.RawMessage(entry))
	}
	text, err := json.Marshal(kept)
	g.check(err)
	g.Write(path+".new", string(text))
	g.check(os.Rename(path+".new", path))
}

// add adds an event. members are those after its time and type, with a comma before the first.
func (g grok) add(s *Session, kind, members string) {
	g.Append(s.File, fmt.Sprintf(`{"ts":%q,"type":%q%s}`, stamp(), kind, members))
}

// update adds a notification.
func (g grok) update(s *Session, method, update string) {
	st := s.state.(*grokState)
	st.number++
	g.Append(filepath.Join(filepath.Dir(s.File), "updates.jsonl"), fmt.Sprintf(`{"timestamp":%d,"method":%q,"params":{"sessionId":%q,"update":%s,"_meta":{"eventId":"%s-%d","agentTimestampMs":%d}}}`,
		time.Now().Unix(), method, s.ID, update, s.ID, st.number, time.Now().UnixMilli()))
}

// prompt answers a request first, if the session waits for one.
func (g grok) prompt(s *Session, text string) {
	st := s.state.(*grokState)
	if st.asks {
		st.asks = false
		g.add(s, "permission_resolved", `,"tool_name":"run_terminal_command","decision":"allow","wait_ms":700`)
		g.add(s, "phase_changed", `,"phase":"tool_execution"`)
		return
	}
	quoted, _ := json.Marshal(text)
	g.update(s, "session/update", fmt.Sprintf(`{"sessionUpdate":"user_message_chunk","content":{"type":"text","text":%s},"_meta":{"modelId":"mock-1","promptIndex":%d}}`, quoted, st.turns))
	g.add(s, "turn_started", fmt.Sprintf(`,"session_id":%q,"turn_number":%d,"model_id":"mock-1","yolo_mode":false,"session_relationship":"primary","schema_version":"1.0"`, s.ID, st.turns))
	g.add(s, "loop_started", `,"loop_index":0`)
	g.add(s, "phase_changed", `,"phase":"waiting_for_model"`)
	g.add(s, "first_token", "") // before it, only the log says whether the user took the prompt back
	st.turns++
}

func (g grok) answer(s *Session, text string) {
	st := s.state.(*grokState)
	quoted, _ := json.Marshal(text)
	g.update(s, "session/update", fmt.Sprintf(`{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":%s}}`, quoted))
	g.add(s, "phase_changed", `,"phase":"streaming_text"`)
	g.add(s, "turn_ended", `,"outcome":"completed"`)
	const used = `"inputTokens":1240,"outputTokens":34,"totalTokens":1274,"cachedReadTokens":1000,"cacheCreationTokens":0,"reasoningTokens":0,"modelCalls":1`
	g.update(s, "_x.ai/session/update", fmt.Sprintf(`{"sessionUpdate":"turn_completed","prompt_id":"%s-p%d","stop_reason":"end_turn","usage":{%s,"modelUsage":{"mock-1":{%s}},"numTurns":1}}`, s.ID, st.turns, used, used))
}

func (g grok) waitsFor() adapters.WaitingFor { return adapters.ForPermission }

func (g grok) ask(s *Session) {
	st := s.state.(*grokState)
	st.asks = true
	g.update(s, "session/update", fmt.Sprintf(`{"sessionUpdate":"tool_call","toolCallId":"call_%d","title":"run_terminal_command","rawInput":{"command":"make install","description":"x"},"_meta":{"x.ai/tool":{"name":"run_terminal_command"}}}`, st.number))
	g.add(s, "phase_changed", `,"phase":"tool_execution"`)
	g.add(s, "tool_started", `,"tool_name":"run_terminal_command"`)
	g.add(s, "phase_changed", `,"phase":"permission_prompt"`)
	g.add(s, "permission_requested", `,"tool_name":"run_terminal_command"`)
}

func (g grok) exit(s *Session) {
	g.drop(s)
	g.Procs.End(s.Process.PID)
}

// drop removes the entry of the registry. The process holds the file to its end.
func (g grok) drop(s *Session) { g.register(s, "") }

// terminate ends the process in its turn, as SIGTERM and the end of its terminal do.
func (g grok) terminate(s *Session) { g.exit(s) }

func (g grok) kill(s *Session) { g.Procs.End(s.Process.PID) }

// resume has a process begin after what was stored before, by more than the ticks in which its start is kept.
func (g grok) resume(s *Session, prompt string) {
	g.open(s)
	g.prompt(s, prompt)
}

// open begins a session again. Nothing is recorded before its first prompt.
func (g grok) open(s *Session) adapters.Outcome {
	const apart = 60 * time.Millisecond
	<-time.After(apart)
	s.state.(*grokState).asks = false
	s.Process = g.run(s, "--resume", s.ID)
	g.hold(s)
	return s.Truth().Outcome
}

func (g grok) forget(s *Session)  { g.check(os.RemoveAll(filepath.Dir(s.File))) }
func (g grok) strange(s *Session) { g.add(s, "moonshine", `,"of":["the","moon"]`) }
