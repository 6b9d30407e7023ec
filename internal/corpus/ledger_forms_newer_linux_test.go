package corpus_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// copilotForm writes sessions of Copilot CLI. The copies of an answer have the id of its record, as /fork of 1.0.102 writes them. Sub-agents have no files of their own.
type copilotForm struct{ *histories }

func (c *copilotForm) agent(*history) string { return "" }

func (c *copilotForm) event(at time.Time, kind, extra, data string) string {
	return c.record(c.uuid(), at, kind, extra, data)
}

func (c *copilotForm) record(id string, at time.Time, kind, extra, data string) string {
	return fmt.Sprintf(`{"type":%q,"data":{%s},"id":%q,%s"timestamp":%q,"parentId":null}`+"\n", kind, data, id, extra, at.Format(stampMillis))
}

func (c *copilotForm) begin(s *history) {
	s.path = filepath.Join(c.home, ".copilot/session-state", s.session, "events.jsonl")
	c.write(s.path, c.event(s.began, "session.start", "", fmt.Sprintf(`"sessionId":%q,"copilotVersion":"1.0.102","startTime":%[2]q,"context":{"cwd":"/w/a","branch":"main"}`, s.session, s.began.Format(stampMillis))))
}

func (c *copilotForm) copies(s *history, from []*given) bool {
	c.begin(s)
	for _, g := range from {
		c.write(s.path, c.answer(s, g))
	}
	return true
}

func (c *copilotForm) answer(_ *history, g *given) string {
	sub := ""
	if c.rng.IntN(4) == 0 {
		sub = `"agentId":"call_1",`
	}
	return c.event(g.at, "session.context_changed", "", fmt.Sprintf(`"cwd":%q,"branch":%q`, g.cwd, g.branch)) +
		c.event(g.at, "user.message", "", `"content":"do it","delivery":"idle"`) +
		c.record("record "+g.id, g.at, "session.usage_record", sub, fmt.Sprintf(`"usage":{"model":%q,"inputTokens":%d,"outputTokens":%d,"cacheReadTokens":0,"accounting":{"sourceSessionId":%q,"sequence":%d,"usageId":%q}}`,
			g.model, g.input, g.output, g.session, g.number(), g.id)) +
		c.event(g.at, "assistant.turn_end", "", `"turnId":"0"`)
}

func (c *copilotForm) ids(data []byte) (ids []string) {
	records(data, func(r map[string]any) {
		if id := text(r, "data", "usage", "accounting", "usageId"); id != "" {
			ids = append(ids, id)
		}
	})
	return ids
}

// qwenForm writes chats of Qwen Code. The id of an answer is that of its record.
type qwenForm struct{ *histories }

func (q *qwenForm) agent(s *history) string {
	return filepath.Join(q.home, ".qwen/projects/-w-a/subagents", s.session, fmt.Sprintf("agent-general-call_%x.jsonl", q.rng.Uint32()))
}

func (q *qwenForm) begin(s *history) {
	if s.of == "" {
		s.path = filepath.Join(q.home, ".qwen/projects/-w-a/chats", s.session+".jsonl")
	}
	q.write(s.path, "")
}

func (q *qwenForm) copies(s *history, from []*given) bool {
	q.begin(s)
	for _, g := range from {
		q.write(s.path, q.reply(s, g, fmt.Sprintf(`"forkedFrom":{"sessionId":%q,"messageUuid":%q},`, g.session, g.id)))
	}
	return true
}

func (q *qwenForm) record(s *history, g *given, id, kind, rest string) string {
	return fmt.Sprintf(`{"uuid":%q,"parentUuid":null,"sessionId":%q,"timestamp":%q,"type":%q,"cwd":%q,"version":"0.24.4","gitBranch":%q,%s}`+"\n",
		id, s.session, g.at.Format(stampMillis), kind, g.cwd, g.branch, rest)
}

func (q *qwenForm) answer(s *history, g *given) string {
	g.cwd = "/w/a" // as the copies have it
	lines := q.record(s, g, "p"+g.id, "user", `"message":{"role":"user","parts":[{"text":"do it"}]}`) + q.reply(s, g, "")
	if n := len(s.answers) - s.own; n > 0 && q.rng.IntN(4) == 0 { // an old line again
		lines += q.reply(s, s.answers[s.own+q.rng.IntN(n)], "")
	}
	return lines
}

func (q *qwenForm) reply(s *history, g *given, mark string) string {
	return q.record(s, g, g.id, "assistant", mark+fmt.Sprintf(`"model":%q,"message":{"role":"model","parts":[{"text":"ok"}]},"usageMetadata":{"promptTokenCount":%d,"candidatesTokenCount":%d,"totalTokenCount":%d}`,
		g.model, g.input, g.output, g.input+g.output))
}

func (q *qwenForm) ids(data []byte) (ids []string) {
	records(data, func(r map[string]any) {
		if text(r, "type") == "assistant" {
			ids = append(ids, text(r, "uuid"))
		}
	})
	return ids
}

// geminiForm writes chats of Gemini CLI: lines as 0.61.0 does, or one object as 0.29.0 does. It has no forks. The id of an answer is that of its message.
type geminiForm struct{ *histories }

func (g *geminiForm) agent(s *history) string {
	return filepath.Join(g.home, ".gemini/tmp/w/chats", s.session, g.uuid()+".jsonl")
}

func (g *geminiForm) header(s *history) string {
	kind := "main"
	if s.of != "" {
		kind = "subagent"
	}
	return fmt.Sprintf(`{"sessionId":%q,"projectHash":"b","startTime":%q,"lastUpdated":%[2]q,"kind":%q`, s.session, s.began.Format(stampMillis), kind)
}

func (g *geminiForm) begin(s *history) {
	if g.must(os.MkdirAll(filepath.Join(g.home, ".gemini/tmp/w/chats"), 0o700)); s.of == "" {
		g.must(os.WriteFile(filepath.Join(g.home, ".gemini/tmp/w/.project_root"), []byte("/w/a"), 0o600))
		s.path = filepath.Join(g.home, ".gemini/tmp/w/chats", "session-"+s.began.Format("2006-01-02T15-04")+"-"+s.session[:8]+[]string{".json", ".jsonl"}[g.rng.IntN(2)])
	}
	if strings.HasSuffix(s.path, ".jsonl") {
		g.write(s.path, g.header(s)+"}\n")
		return
	}
	g.write(s.path, "")
}

func (g *geminiForm) copies(s *history, _ []*given) bool {
	g.begin(s)
	return false
}

func (g *geminiForm) prompt(a *given) string {
	return fmt.Sprintf(`{"id":"p%s","timestamp":%q,"type":"user","content":[{"text":"do it"}]}`, a.id, a.at.Format(stampMillis))
}

func (g *geminiForm) reply(a *given) string {
	return fmt.Sprintf(`{"id":%q,"timestamp":%q,"type":"gemini","content":"ok","thoughts":[],"tokens":{"input":%d,"output":%d,"cached":0,"thoughts":0,"tool":0,"total":%d},"model":%q}`,
		a.id, a.at.Format(stampMillis), a.input, a.output, a.input+a.output, a.model)
}

func (g *geminiForm) answer(s *history, a *given) string {
	a.cwd, a.branch = "/w/a", ""
	if strings.HasSuffix(s.path, ".json") {
		var list []string
		for _, one := range append(s.answers[:len(s.answers):len(s.answers)], a) {
			list = append(list, g.prompt(one), g.reply(one))
		}
		g.must(os.Truncate(s.path, 0))
		g.write(s.path, g.header(s)+`,"messages":[`+strings.Join(list, ",")+"]}")
		return ""
	}
	lines := g.prompt(a) + "\n"
	if g.rng.IntN(3) == 0 { // a message that changes is written again
		lines += g.reply(a) + "\n"
		g.copied++
	}
	lines += g.reply(a) + "\n"
	if n := len(s.answers); n > 0 && g.rng.IntN(4) == 0 {
		lines += g.reply(s.answers[g.rng.IntN(n)]) + "\n"
	}
	return lines
}

func (g *geminiForm) ids(data []byte) (ids []string) {
	take := func(r map[string]any) {
		if text(r, "type") == "gemini" {
			ids = append(ids, text(r, "id"))
		}
	}
	records(data, func(r map[string]any) {
		take(r)
		list, _ := r["messages"].([]any)
		for _, one := range list {
			m, _ := one.(map[string]any)
			take(m)
		}
	})
	return ids
}

// clineForm writes sessions of Cline: a manifest and a conversation, which are written again whole. It has no forks; a copy of a session that is not continued
// has the messages of its original. Only Cline's database names sub-agents.
type clineForm struct{ *histories }

func (c *clineForm) agent(*history) string { return "" }

func (c *clineForm) begin(s *history) {
	s.session = fmt.Sprintf("%d_%05d", s.began.UnixMilli(), c.rng.IntN(1e5))
	s.path = filepath.Join(c.home, ".cline/data/sessions", s.session, s.session+".messages.json")
	c.save(s, nil)
}

// save writes both files.
func (c *clineForm) save(s *history, answers []*given) {
	messages := []any{}
	var input, output int64
	for _, g := range answers {
		messages = append(messages,
			map[string]any{"id": "p" + g.id, "role": "user", "ts": g.at.UnixMilli(), "content": []any{map[string]any{"type": "text", "text": "do it"}}},
			map[string]any{"id": g.id, "role": "assistant", "ts": g.at.UnixMilli() + 1, "content": []any{map[string]any{"type": "text", "text": "ok"}},
				"modelInfo": map[string]any{"id": g.model}, "metrics": map[string]any{"inputTokens": g.input, "outputTokens": g.output, "cacheReadTokens": 0, "cacheWriteTokens": 0}})
		input, output = input+g.input, output+g.output
	}
	manifest := map[string]any{"version": 1, "session_id": s.session, "source": "cli", "pid": 1, "started_at": s.began.Format(stampMillis), "status": "completed", "model": "m2", "cwd": "/w/a",
		"metadata": map[string]any{"git": map[string]any{"branch": "main"}, "usage": map[string]any{"inputTokens": input, "outputTokens": output}}}
	for path, v := range map[string]any{strings.TrimSuffix(s.path, ".messages.json") + ".json": manifest, s.path: map[string]any{"version": 1, "messages": messages}} {
		data, err := json.Marshal(v)
		c.must(err)
		c.must(os.RemoveAll(path))
		c.write(path, string(data))
	}
}

func (c *clineForm) copies(s *history, from []*given) bool {
	c.begin(s)
	isOver := func(g *given) bool {
		return slices.ContainsFunc(c.files, func(f *history) bool { return f.closed && f.session == g.session })
	}
	if len(from) == 0 || slices.ContainsFunc(from, func(g *given) bool { return !isOver(g) }) {
		return false
	}
	c.save(s, from)
	return true
}

func (c *clineForm) answer(s *history, g *given) string {
	g.cwd = "/w/a"
	g.branch = "main"
	g.session = s.session
	c.save(s, append(s.answers[:len(s.answers):len(s.answers)], g))
	return ""
}

func (c *clineForm) ids(data []byte) (ids []string) {
	records(data, func(r map[string]any) {
		list, _ := r["messages"].([]any)
		for _, one := range list {
			if text(one, "role") == "assistant" {
				ids = append(ids, text(one, "id"))
			}
		}
	})
	return ids
}
