package scene

import (
	"encoding/json"
	"fmt"
	"os"
	"time"

	"rollcall/adapters"
	"rollcall/internal/agentname"
	"rollcall/proc"
)

// codex plays Codex 0.142.5, whose terminal interface hosts its thread itself.
type codex struct{ *Environment }

// Codex plays Codex 0.142.5: rollouts, held open by the process of the thread.
func Codex(w *Environment) Agent { return codex{w} }

func (c codex) Name() adapters.Name { return agentname.Codex }
func (c codex) Store() string       { return c.Path(".codex") }
func (c codex) Install()            { c.check(os.MkdirAll(c.Path(".codex", "sessions"), 0o755)) }

func (c codex) Start(cwd, prompt string) *Session {
	c.Install()
	s := newSession(agentname.Codex, c, c.uuid(7), cwd)
	now := time.Now()
	s.File = c.Path(".codex", "sessions", now.Format("2006"), now.Format("01"), now.Format("02"),
		fmt.Sprintf("rollout-%s-%s.jsonl", now.Format("2006-01-02T15-04-05"), s.ID))
	s.state = new(int)
	s.Process = c.run(s)
	c.add(s, "session_meta", fmt.Sprintf(`{"session_id":%q,"id":%q,"timestamp":%q,"cwd":%q,"originator":"codex_cli_rs","cli_version":"0.142.5","source":"cli","thread_source":"user","git":{"branch":"main"}}`,
		s.ID, s.ID, stamp(), s.CWD))
	c.Procs.Open(s.Process.PID, s.File)
	c.prompt(s, prompt)
	return s
}

func (c codex) run(s *Session, args ...string) proc.Identity {
	return c.Procs.Start(Spec{Comm: "codex", Exe: CodexProgram, CWD: s.CWD,
		Args: append([]string{"codex"}, args...), Env: []string{"HOME=" + c.Home}})
}

func (c codex) add(s *Session, kind, payload string) {
	c.Append(s.File, fmt.Sprintf(`{"timestamp":%q,"type":%q,"payload":%s}`, stamp(), kind, payload))
}

func (c codex) event(s *Session, format string, args ...any) {
	c.add(s, "event_msg", fmt.Sprintf(format, args...))
}

func (c codex) prompt(s *Session, text string) {
	turn := s.state.(*int)
	*turn++
	quoted, _ := json.Marshal(text)
	c.event(s, `{"type":"task_started","turn_id":"%d","model_context_window":258400}`, *turn)
	c.add(s, "turn_context", fmt.Sprintf(`{"cwd":%q,"approval_policy":"never","model":"gpt-5.5","summary":"auto"}`, s.CWD))
	c.add(s, "response_item", fmt.Sprintf(`{"type":"message","role":"user","content":[{"type":"input_text","text":%s}]}`, quoted))
	c.event(s, `{"type":"user_message","message":%s,"images":[]}`, quoted)
}

func (c codex) answer(s *Session, text string) {
	turn := *s.state.(*int)
	quoted, _ := json.Marshal(text)
	c.event(s, `{"type":"agent_message","message":%s}`, quoted)
	c.add(s, "response_item", fmt.Sprintf(`{"type":"message","role":"assistant","content":[{"type":"output_text","text":%s}]}`, quoted))
	usage := fmt.Sprintf(`{"input_tokens":%d,"cached_input_tokens":%d,"output_tokens":%d,"reasoning_output_tokens":0,"total_tokens":%d}`,
		100*turn, 40*turn, 10*turn, 110*turn)
	c.event(s, `{"type":"token_count","info":{"total_token_usage":%s,"last_token_usage":%s,"model_context_window":258400}}`, usage, usage)
	c.event(s, `{"type":"task_complete","turn_id":"%d","last_agent_message":%s}`, turn, quoted)
}

func (c codex) exit(s *Session) { c.Procs.End(s.Process.PID) }
func (c codex) kill(s *Session) { c.Procs.End(s.Process.PID) }

func (c codex) resume(s *Session, prompt string) {
	s.Process = c.run(s, "resume", s.ID)
	c.Procs.Open(s.Process.PID, s.File)
	c.prompt(s, prompt)
}

func (c codex) forget(s *Session) { c.check(os.Remove(s.File)) }

func (c codex) strange(s *Session) { c.add(s, "moonshine", `{"of":["the","moon"]}`) }
