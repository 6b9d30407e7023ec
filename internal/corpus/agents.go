package corpus

import (
	"fmt"
	"os"
	"path/filepath"
	"time"

	"rollcall/adapters"
)

const stamp = "2006-01-02T15:04:05.000Z"

// claude writes a session in the form of Claude Code 2.1.329.
func (w *writer) claude(i int, live bool) error {
	t, end, size := w.common(i, live, adapters.ClaudeCode)
	t.ID, t.Model = w.uuid(time.Time{}), "claude-opus-5-5"
	root := filepath.Join(w.home, ".claude")
	path := filepath.Join(root, "projects", fmt.Sprintf("-home-dev-proj%d", i%97), t.ID+".jsonl")
	tail := fmt.Sprintf(`"userType":"external","entrypoint":"cli","cwd":%q,"sessionId":%q,"version":"2.1.329","gitBranch":%q}`, t.CWD, t.ID, t.Branch)
	at := end.Add(-time.Hour)
	err := w.transcript(path, end, func(put func(string, ...any), written func() int) {
		put(`{"type":"mode","mode":"normal","sessionId":%q}`, t.ID)
		put(`{"parentUuid":null,"isSidechain":false,"promptId":"p","type":"user","message":{"role":"user","content":%q},"uuid":%q,"timestamp":%q,%s`,
			t.Prompt, w.uuid(time.Time{}), at.Format(stamp), tail)
		put(`{"type":"api-request-shape","sessionId":%q,"shapeHash":"2b24","version":"2.1.329","shape":{"system":[{"type":"text","text":"%s"}]}}`, t.ID, filler(2000))
		for turn := 0; turn == 0 || written() < size; turn++ {
			w.claudeTurn(put, t, turn, at, tail)
			at = at.Add(time.Second)
		}
		if t.Status == adapters.Working {
			put(`{"parentUuid":"x","isSidechain":false,"type":"user","message":{"role":"user","content":"and now the next step"},"uuid":"u","timestamp":%q,%s`, end.Format(stamp), tail)
			return
		}
		put(`{"parentUuid":"x","isSidechain":false,"message":{"id":"msg_end","type":"message","role":"assistant","model":%q,"content":[{"type":"text","text":"Done."}],"stop_reason":"end_turn",`+
			`"usage":{"input_tokens":5,"cache_creation_input_tokens":0,"cache_read_input_tokens":0,"output_tokens":1}},"type":"assistant","uuid":"u","timestamp":%q,%s`, t.Model, end.Format(stamp), tail)
		t.Tokens.Input, t.Tokens.Output = t.Tokens.Input+5, t.Tokens.Output+1
		put(`{"type":"last-prompt","lastPrompt":%q,"leafUuid":"u","sessionId":%q}`, t.Prompt, t.ID)
	})
	if err == nil && live {
		err = w.claudeRegistry(root, t, end)
	}
	w.man.Sessions = append(w.man.Sessions, t)
	return err
}

// claudeTurn is one tool call: the answer's two content blocks stand on lines
// of their own that repeat the same usage.
func (w *writer) claudeTurn(put func(string, ...any), t Truth, turn int, at time.Time, tail string) {
	in, out := int64(100+turn%7), int64(20+turn%3)
	usage := fmt.Sprintf(`"usage":{"input_tokens":%d,"cache_creation_input_tokens":7,"cache_read_input_tokens":1000,"output_tokens":%d,"service_tier":"standard"}`, in, out)
	t.Tokens.Input, t.Tokens.Output = t.Tokens.Input+in, t.Tokens.Output+out
	t.Tokens.CacheRead, t.Tokens.CacheWrite = t.Tokens.CacheRead+1000, t.Tokens.CacheWrite+7
	for _, block := range []string{
		`{"type":"text","text":"` + filler(200+w.rng.IntN(1500)) + `"}`,
		fmt.Sprintf(`{"type":"tool_use","id":"toolu_%d","name":"Bash","input":{"command":"go test ./..."}}`, turn)} {
		put(`{"parentUuid":"x","isSidechain":false,"message":{"id":"msg_%d","type":"message","role":"assistant","model":%q,"content":[%s],"stop_reason":"tool_use",%s},"requestId":"r","type":"assistant","uuid":"u","timestamp":%q,%s`,
			turn, t.Model, block, usage, at.Format(stamp), tail)
	}
	put(`{"parentUuid":"x","isSidechain":false,"type":"user","message":{"role":"user","content":[{"tool_use_id":"toolu_%d","type":"tool_result","content":"%s"}]},"uuid":"u","timestamp":%q,%s`,
		turn, filler(300+w.rng.IntN(6000)), at.Format(stamp), tail)
}

func (w *writer) claudeRegistry(root string, t Truth, end time.Time) error {
	p := process{pid: t.PID, comm: "claude", cwd: t.CWD, args: []string{"claude"}, ticks: uint64(400000 + t.PID)}
	w.procs = append(w.procs, p)
	status := map[adapters.Status]string{adapters.Working: "busy", adapters.Idle: "idle"}[t.Status]
	entry := fmt.Sprintf(`{"pid":%d,"sessionId":%q,"cwd":%q,"startedAt":%d,"procStart":"%d","version":"2.1.329","kind":"interactive","entrypoint":"cli","pidDomain":%q,"name":"x","nameSource":"derived","status":%q,"updatedAt":%d,"statusUpdatedAt":%d}`,
		t.PID, t.ID, t.CWD, end.Add(-time.Hour).UnixMilli(), p.ticks, domain, status, end.UnixMilli(), end.UnixMilli())
	if err := os.MkdirAll(filepath.Join(root, "sessions"), 0o700); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(root, "sessions", fmt.Sprintf("%d.json", t.PID)), []byte(entry), 0o600)
}

// codex writes a session in the form of Codex 0.142.5. The corpus has no SQLite
// state, as with the versions before it: rollouts are what must always do.
func (w *writer) codex(i int, live bool) error {
	t, end, size := w.common(i, live, adapters.Codex)
	start := end.Add(-time.Hour)
	t.ID, t.Model = w.uuid(start), "gpt-5.5"
	path := filepath.Join(w.home, ".codex", "sessions", start.Format("2006/01/02"),
		fmt.Sprintf("rollout-%s-%s.jsonl", start.Format("2006-01-02T15-04-05"), t.ID))
	at := start
	err := w.transcript(path, end, func(put func(string, ...any), written func() int) {
		put(`{"timestamp":%q,"type":"session_meta","payload":{"session_id":%q,"id":%q,"timestamp":%q,"cwd":%q,"originator":"codex_cli_rs","cli_version":"0.142.5","source":"cli","thread_source":"user","base_instructions":{"text":"%s"},"git":{"branch":%q}}}`,
			at.Format(stamp), t.ID, t.ID, at.Format(stamp), t.CWD, filler(20000), t.Branch)
		for turn := 0; turn == 0 || written() < size; turn++ {
			w.codexTurn(put, t, turn, at)
			at = at.Add(time.Second)
		}
		if t.Status == adapters.Working {
			put(`{"timestamp":%q,"type":"event_msg","payload":{"type":"task_started","turn_id":"last","model_context_window":258400}}`, end.Format(stamp))
		}
	})
	if err == nil && live {
		w.procs = append(w.procs, process{pid: t.PID, comm: "codex", cwd: t.CWD, args: []string{"codex"}, files: []string{path}, ticks: uint64(400000 + t.PID)})
	}
	w.man.Sessions = append(w.man.Sessions, t)
	return err
}

func (w *writer) codexTurn(put func(string, ...any), t Truth, turn int, at time.Time) {
	ts := at.Format(stamp)
	prompt := t.Prompt
	if turn > 0 {
		prompt = fmt.Sprintf("go on, step %d", turn)
	}
	put(`{"timestamp":%q,"type":"event_msg","payload":{"type":"task_started","turn_id":"%d","model_context_window":258400}}`, ts, turn)
	put(`{"timestamp":%q,"type":"turn_context","payload":{"cwd":%q,"approval_policy":"never","model":%q,"summary":"auto"}}`, ts, t.CWD, t.Model)
	put(`{"timestamp":%q,"type":"response_item","payload":{"type":"message","role":"user","content":[{"type":"input_text","text":%q}]}}`, ts, prompt)
	put(`{"timestamp":%q,"type":"event_msg","payload":{"type":"user_message","message":%q,"images":[]}}`, ts, prompt)
	put(`{"timestamp":%q,"type":"response_item","payload":{"type":"function_call","name":"shell","arguments":"{}","call_id":"c%d"}}`, ts, turn)
	put(`{"timestamp":%q,"type":"response_item","payload":{"type":"function_call_output","call_id":"c%d","output":"%s"}}`, ts, turn, filler(500+w.rng.IntN(9000)))
	t.Tokens.Input, t.Tokens.CacheRead = t.Tokens.Input+60, t.Tokens.CacheRead+40
	t.Tokens.Output, t.Tokens.Reasoning = t.Tokens.Output+20, t.Tokens.Reasoning+5
	put(`{"timestamp":%q,"type":"event_msg","payload":{"type":"token_count","info":{"total_token_usage":{"input_tokens":%d,"cached_input_tokens":%d,"output_tokens":%d,"reasoning_output_tokens":%d,"total_tokens":1},`+
		`"last_token_usage":{"input_tokens":100,"cached_input_tokens":40,"output_tokens":20,"reasoning_output_tokens":5,"total_tokens":120},"model_context_window":258400}}}`,
		ts, t.Tokens.Input+t.Tokens.CacheRead, t.Tokens.CacheRead, t.Tokens.Output, t.Tokens.Reasoning)
	put(`{"timestamp":%q,"type":"event_msg","payload":{"type":"task_complete","turn_id":"%d","last_agent_message":"ok"}}`, ts, turn)
}
