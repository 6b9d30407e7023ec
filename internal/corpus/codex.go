package corpus

import (
	"fmt"
	"path/filepath"
	"time"

	"rollcall/adapters"
	"rollcall/internal/agentname"
)

// codex writes a session in the form of Codex 0.142.5.
func (w *writer) codex(s *session) error {
	s.Agent, s.ID, s.Model = agentname.Codex, s.uuid(s.start), "gpt-5.5"
	path := filepath.Join(w.home, ".codex", "sessions", s.start.Format("2006/01/02"),
		fmt.Sprintf("rollout-%s-%s.jsonl", s.start.Format("2006-01-02T15-04-05"), s.ID))
	if s.index%3 == 0 {
		s.Title = fmt.Sprintf("thread %d", s.index)
	}
	err := w.transcript(path, s, func(l *lines) { codexLines(l, s) })
	if err == nil && s.live {
		w.process(s, process{comm: "codex", args: []string{"codex"}, files: []string{path}})
	}
	w.states.add(s, path)
	return err
}

func codexLines(l *lines, s *session) {
	when := s.start.Format(stamp)
	l.put(`{"timestamp":%q,"type":"session_meta","payload":{"session_id":%q,"id":%q,"timestamp":%q,"cwd":%q,"originator":"codex_cli_rs","cli_version":"0.142.5","source":"cli","thread_source":"user","model_provider":"mock","base_instructions":{"text":"%s"},"git":{"branch":%q}}}`,
		when, s.ID, s.ID, when, s.CWD, filler(20000), s.Branch)
	at := s.turns(7000)
	for turn := 0; turn == 0 || l.n < s.size; turn++ {
		codexTurn(l, s, turn, at(turn).Format(stamp))
	}
	when = s.end.Format(stamp)
	if s.Status == adapters.Idle || s.Outcome == adapters.Completed {
		return
	}
	l.put(`{"timestamp":%q,"type":"event_msg","payload":{"type":"task_started","turn_id":"last","model_context_window":258400,"collaboration_mode_kind":"default"}}`, when)
	l.put(`{"timestamp":%q,"type":"event_msg","payload":{"type":"user_message","message":"one more thing","images":[],"local_images":[],"text_elements":[]}}`, when)
	switch s.Outcome {
	case adapters.Interrupted:
		l.put(`{"timestamp":%q,"type":"event_msg","payload":{"type":"turn_aborted","turn_id":"last","reason":"interrupted"}}`, when)
	case adapters.Failed:
		l.put(`{"timestamp":%q,"type":"event_msg","payload":{"type":"error","message":"stream disconnected","codex_error_info":"other"}}`, when)
	case adapters.Completed, adapters.Died:
	}
}

func codexTurn(l *lines, s *session, turn int, when string) {
	prompt := s.Prompt
	if turn > 0 {
		prompt = fmt.Sprintf("go on, step %d", turn)
	}
	event := func(payload string, args ...any) {
		l.put(`{"timestamp":"%s","type":"event_msg","payload":%s}`, when, fmt.Sprintf(payload, args...))
	}
	item := func(payload string, args ...any) {
		l.put(`{"timestamp":"%s","type":"response_item","payload":%s}`, when, fmt.Sprintf(payload, args...))
	}
	event(`{"type":"task_started","turn_id":"%d","model_context_window":258400,"collaboration_mode_kind":"default"}`, turn)
	l.put(`{"timestamp":"%s","type":"turn_context","payload":{"turn_id":"%d","cwd":%q,"approval_policy":"never","model":%q,"summary":"auto"}}`, when, turn, s.CWD, s.Model)
	item(`{"type":"message","role":"user","content":[{"type":"input_text","text":%q}]}`, prompt)
	event(`{"type":"user_message","message":%q,"images":[],"local_images":[],"text_elements":[]}`, prompt)
	item(`{"type":"function_call","name":"shell","arguments":"{}","call_id":"c%d"}`, turn)
	item(`{"type":"function_call_output","call_id":"c%d","output":"%s"}`, turn, filler(500+s.rng.IntN(9000)))
	event(`{"type":"agent_message","message":"ok","phase":null}`)
	item(`{"type":"message","role":"assistant","content":[{"type":"output_text","text":"ok"}]}`)
	s.count(adapters.Tokens{Input: 60, CacheRead: 40, Output: 20, Reasoning: 5})
	t := s.Tokens
	event(`{"type":"token_count","info":{"total_token_usage":{"input_tokens":%d,"cached_input_tokens":%d,"output_tokens":%d,"reasoning_output_tokens":%d,"total_tokens":%d},`+
		`"last_token_usage":{"input_tokens":100,"cached_input_tokens":40,"output_tokens":20,"reasoning_output_tokens":5,"total_tokens":120},"model_context_window":258400}}`,
		t.Input+t.CacheRead, t.CacheRead, t.Output, t.Reasoning, t.Input+t.CacheRead+t.Output)
	event(`{"type":"task_complete","turn_id":"%d","last_agent_message":"ok","duration_ms":%d}`, turn, time.Second.Milliseconds())
}
