package corpus

import (
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"rollcall/adapters"
	"rollcall/internal/agentname"
)

// claude writes a session in the form of Claude Code 2.1.329.
func (w *writer) claude(s *session) error {
	s.Agent, s.ID, s.Model = agentname.ClaudeCode, s.uuid(time.Time{}), "claude-opus-5-5"
	if s.index%2 == 0 {
		s.Title = fmt.Sprintf("Green build %d", s.index)
	}
	if s.live && s.index%4 == 2 {
		s.Status = adapters.Waiting
		s.WaitingFor = adapters.ForPermission
		s.Outcome = ""
	}
	root := filepath.Join(w.home, ".claude")
	folder := filepath.Join(root, "projects", strings.ReplaceAll(s.CWD, "/", "-"))
	err := w.transcript(filepath.Join(folder, s.ID+".jsonl"), s, func(l *lines) { claudeLines(l, s) })
	if err == nil && s.index%5 == 0 { // a sub-agent's transcript is no session
		err = w.claudeSubagent(filepath.Join(folder, s.ID, "subagents"), s)
	}
	if err == nil && s.live {
		err = w.claudeRegistry(root, s)
	}
	return err
}

func claudeLines(l *lines, s *session) {
	tail := fmt.Sprintf(`"userType":"external","entrypoint":"cli","cwd":%q,"sessionId":%q,"version":"2.1.329","gitBranch":%q}`, s.CWD, s.ID, s.Branch)
	l.put(`{"type":"mode","mode":"normal","sessionId":%q}`, s.ID)
	l.put(`{"parentUuid":null,"isSidechain":false,"promptId":"p","type":"user","message":{"role":"user","content":%q},"uuid":%q,"timestamp":%q,%s`,
		s.Prompt, s.uuid(time.Time{}), s.start.Format(stamp), tail)
	l.put(`{"type":"api-request-shape","sessionId":%q,"shapeHash":"2b24","version":"2.1.329","shape":{"system":[{"type":"text","text":"%s"}]}}`, s.ID, filler(2000))
	at := s.turns(6500)
	for turn := 0; turn == 0 || l.n < s.size; turn++ {
		claudeTurn(l, s, turn, at(turn), tail)
	}
	if s.Title != "" {
		l.put(`{"type":"ai-title","aiTitle":%q,"sessionId":%q}`, s.Title, s.ID)
	}
	claudeEnd(l, s, tail)
	l.put(`{"type":"last-prompt","lastPrompt":%q,"leafUuid":"u","sessionId":%q}`, s.Prompt, s.ID)
}

// claudeTurn writes one tool call: the answer's two content blocks stand on lines
// of their own that repeat the same usage.
func claudeTurn(l *lines, s *session, turn int, at time.Time, tail string) {
	in, out := int64(100+turn%7), int64(20+turn%3)
	usage := fmt.Sprintf(`"usage":{"input_tokens":%d,"cache_creation_input_tokens":7,"cache_read_input_tokens":1000,"output_tokens":%d,"service_tier":"standard"}`, in, out)
	s.count(adapters.Tokens{Input: in, Output: out, CacheRead: 1000, CacheWrite: 7})
	when := at.Format(stamp)
	for _, block := range []string{
		`{"type":"text","text":"` + filler(200+s.rng.IntN(1500)) + `"}`,
		fmt.Sprintf(`{"type":"tool_use","id":"toolu_%d","name":"Bash","input":{"command":"go test ./..."}}`, turn)} {
		l.put(`{"parentUuid":"x","isSidechain":false,"message":{"id":"msg_%s_%d","type":"message","role":"assistant","model":"%s","content":[%s],"stop_reason":"tool_use",%s},"requestId":"r","type":"assistant","uuid":"u","timestamp":"%s",%s`,
			s.ID, turn, s.Model, block, usage, when, tail)
	}
	l.put(`{"parentUuid":"x","isSidechain":false,"type":"user","message":{"role":"user","content":[{"tool_use_id":"toolu_%d","type":"tool_result","content":"%s"}]},"uuid":"u","timestamp":"%s",%s`,
		turn, filler(300+s.rng.IntN(6000)), when, tail)
}

// claudeEnd writes the end of the last turn, or its present state.
func claudeEnd(l *lines, s *session, tail string) {
	when := s.end.Format(stamp)
	call := func() {
		s.count(adapters.Tokens{Input: 9, Output: 2})
		l.put(`{"parentUuid":"x","isSidechain":false,"message":{"id":"msg_`+s.ID+`_call","type":"message","role":"assistant","model":%q,"content":[{"type":"tool_use","id":"toolu_last","name":"Bash","input":{"command":"make"}}],"stop_reason":"tool_use",`+
			`"usage":{"input_tokens":9,"cache_creation_input_tokens":0,"cache_read_input_tokens":0,"output_tokens":2}},"type":"assistant","uuid":"u","timestamp":%q,%s`, s.Model, when, tail)
	}
	switch {
	case s.Status == adapters.Waiting:
		call()
	case s.Status == adapters.Working:
		l.put(`{"parentUuid":"x","isSidechain":false,"type":"user","message":{"role":"user","content":"and now the next step"},"uuid":"u","timestamp":%q,%s`, when, tail)
	case s.Outcome == adapters.Died:
		call()
	case s.Outcome == adapters.Interrupted:
		l.put(`{"parentUuid":"x","isSidechain":false,"type":"user","message":{"role":"user","content":[{"type":"text","text":"[Request interrupted by user]"}]},"uuid":"u","timestamp":%q,%s`, when, tail)
	case s.Outcome == adapters.Failed:
		l.put(`{"parentUuid":"x","isSidechain":false,"message":{"id":"msg_`+s.ID+`_error","type":"message","role":"assistant","model":"<synthetic>","content":[{"type":"text","text":"API Error: 500"}],"stop_reason":"stop_sequence",`+
			`"usage":{"input_tokens":0,"cache_creation_input_tokens":0,"cache_read_input_tokens":0,"output_tokens":0}},"isApiErrorMessage":true,"apiErrorStatus":500,"type":"assistant","uuid":"u","timestamp":%q,%s`, when, tail)
	default:
		s.count(adapters.Tokens{Input: 5, Output: 1})
		l.put(`{"parentUuid":"x","isSidechain":false,"message":{"id":"msg_`+s.ID+`_end","type":"message","role":"assistant","model":%q,"content":[{"type":"text","text":"Done."}],"stop_reason":"end_turn",`+
			`"usage":{"input_tokens":5,"cache_creation_input_tokens":0,"cache_read_input_tokens":0,"output_tokens":1}},"type":"assistant","uuid":"u","timestamp":%q,%s`, s.Model, when, tail)
	}
}

func (s *session) count(t adapters.Tokens) {
	s.Tokens.Input += t.Input
	s.Tokens.Output += t.Output
	s.Tokens.CacheRead += t.CacheRead
	s.Tokens.CacheWrite += t.CacheWrite
	s.Tokens.Reasoning += t.Reasoning
}

func (w *writer) claudeSubagent(dir string, s *session) error {
	return w.file(filepath.Join(dir, "agent-a1b2c3.jsonl"), s.end,
		`{"parentUuid":null,"isSidechain":true,"agentId":"a1b2c3","type":"user","message":{"role":"user","content":"look around: %s"},"uuid":"u","timestamp":%q,"cwd":%q,"sessionId":%q,"version":"2.1.329"}`+"\n",
		filler(20000), s.end.Format(stamp), s.CWD, s.ID)
}

func (w *writer) claudeRegistry(root string, s *session) error {
	p := w.process(s, process{comm: "claude", args: []string{"claude"}})
	status := map[adapters.Status]string{adapters.Working: "busy", adapters.Idle: "idle", adapters.Waiting: "waiting"}[s.Status]
	why := ""
	if s.Status == adapters.Waiting {
		why = `"waitingFor":"permission prompt",`
	}
	return w.file(filepath.Join(root, "sessions", fmt.Sprintf("%d.json", p.pid)), s.end,
		`{"pid":%d,"sessionId":%q,"cwd":%q,"startedAt":%d,"procStart":"%d","version":"2.1.329","kind":"interactive","entrypoint":"cli","pidDomain":%q,"name":"x","nameSource":"derived","status":%q,%s"updatedAt":%d,"statusUpdatedAt":%d}`,
		p.pid, s.ID, s.CWD, s.start.UnixMilli(), p.ticks, domain, status, why, s.end.UnixMilli(), s.end.UnixMilli())
}
