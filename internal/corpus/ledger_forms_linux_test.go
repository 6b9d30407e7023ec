package corpus_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

const stampMillis = "2006-01-02T15:04:05.000Z"

// records calls do with each object in a text.
func records(text []byte, do func(r map[string]any)) {
	d := json.NewDecoder(bytes.NewReader(bytes.TrimPrefix(text, []byte("\ufeff"))))
	for {
		var r map[string]any
		if d.Decode(&r) != nil {
			return
		}
		do(r)
	}
}

func text(v any, path ...string) string {
	for _, p := range path {
		m, _ := v.(map[string]any)
		v = m[p]
	}
	s, _ := v.(string)
	return s
}

// claudeForm writes transcripts of Claude Code: of 1.0, whose copies are not marked, and of 2.1.
type claudeForm struct{ *histories }

func (c *claudeForm) begin(s *history) {
	if s.of == "" {
		s.path = filepath.Join(c.home, ".claude/projects/-w", s.session+".jsonl")
	}
	c.write(s.path, "")
}

func (c *claudeForm) agent(s *history) string {
	name := fmt.Sprintf("agent-%x.jsonl", c.rng.Uint32())
	switch c.rng.IntN(3) {
	case 0:
		return filepath.Join(filepath.Dir(s.path), name)
	case 1:
		return filepath.Join(strings.TrimSuffix(s.path, ".jsonl"), "subagents", "workflows", "wf_1", name)
	}
	return filepath.Join(strings.TrimSuffix(s.path, ".jsonl"), "subagents", name)
}

func (c *claudeForm) record(s *history, at time.Time, g *given, extra, rest string) string {
	return fmt.Sprintf(`{"parentUuid":"p","isSidechain":%t,"cwd":%q,"sessionId":%q,"version":"2.1.329","gitBranch":%q,"timestamp":%q,"uuid":"u%d",%s%s}`+"\n",
		s.of != "", g.cwd, s.session, g.branch, at.Format(stampMillis), c.rng.Int(), extra, rest)
}

func (c *claudeForm) message(g *given, output int64, content string) string {
	return fmt.Sprintf(`"type":"assistant","requestId":"req_%[1]s","message":{"id":%[1]q,"model":%q,"role":"assistant","content":[%s],"stop_reason":"end_turn","usage":{"input_tokens":%d,"output_tokens":%d}}`,
		g.id, g.model, content, g.input, output)
}

func (c *claudeForm) copies(s *history, from []*given) bool {
	c.begin(s)
	for _, g := range from {
		mark := fmt.Sprintf(`"requestSessionId":%q,`, g.session)
		if slices.ContainsFunc(c.files, func(f *history) bool { return f.closed && f.session == g.session && f.of == "" }) && c.rng.IntN(2) == 0 {
			mark = "" // its original is not continued
		}
		c.write(s.path, c.record(s, g.at, g, "", `"type":"user","message":{"role":"user","content":"again"}`)+
			c.record(s, g.at, g, mark, c.message(g, g.output, `{"type":"text","text":"ok"}`)))
	}
	return true
}

func (c *claudeForm) answer(s *history, g *given) string {
	lines := c.record(s, g.at, g, "", `"type":"user","message":{"role":"user","content":"do it"}`)
	if c.rng.IntN(2) == 0 { // an earlier block, whose count is less complete
		lines += c.record(s, g.at, g, "", c.message(g, 1, `{"type":"thinking","thinking":"hm"}`))
	}
	lines += c.record(s, g.at, g, "", c.message(g, g.output, `{"type":"text","text":"ok"}`))
	if c.rng.IntN(4) == 0 && len(s.answers) > 0 { // an old line again
		old := s.answers[c.rng.IntN(len(s.answers))]
		if old.session == s.session {
			lines += c.record(s, old.at, old, "", c.message(old, old.output, `{"type":"text","text":"ok"}`))
		}
	}
	return lines
}

func (c *claudeForm) ids(data []byte) (ids []string) {
	records(data, func(r map[string]any) {
		if id := text(r, "message", "id"); id != "" {
			ids = append(ids, id)
		}
	})
	return ids
}

// codexForm writes rollouts of Codex. The id of an answer is the name of its turn.
type codexForm struct{ *histories }

func (c *codexForm) agent(*history) string { return "" }

func (c *codexForm) line(at time.Time, kind, payload string) string {
	return fmt.Sprintf(`{"timestamp":%q,"type":%q,"payload":{%s}}`+"\n", at.Format(stampMillis), kind, payload)
}

func (c *codexForm) head(s *history, extra string) {
	day := s.began.Format("2006/01/02")
	s.path = filepath.Join(c.home, ".codex/sessions", day, "rollout-"+s.began.Format("2006-01-02T15-04-05")+"-"+s.session+".jsonl")
	c.write(s.path, c.line(s.began, "session_meta", fmt.Sprintf(`"id":%q,"timestamp":%q,"cwd":"/w/a","cli_version":"0.144.6","git":{"branch":"main"}%s`, s.session, s.began.Format(stampMillis), extra)))
}

func (c *codexForm) begin(s *history) { c.head(s, "") }

func (c *codexForm) turn(s *history, at time.Time, g *given) string {
	g.branch = "main"
	s.totals[0], s.totals[1] = s.totals[0]+g.input, s.totals[1]+g.output
	return c.line(at, "event_msg", fmt.Sprintf(`"type":"task_started","turn_id":%q`, g.id)) +
		c.line(at, "turn_context", fmt.Sprintf(`"turn_id":%q,"cwd":%q,"model":%q`, g.id, g.cwd, g.model)) +
		c.line(at, "event_msg", `"type":"user_message","message":"do it"`) +
		c.line(at, "event_msg", fmt.Sprintf(`"type":"token_count","turn":%q,"info":{"total_token_usage":{"input_tokens":%d,"output_tokens":%d,"total_tokens":%d}}`,
			g.id, s.totals[0], s.totals[1], s.totals[0]+s.totals[1])) +
		c.line(at, "event_msg", fmt.Sprintf(`"type":"task_complete","turn_id":%q,"last_agent_message":"ok"`, g.id))
}

func (c *codexForm) copies(s *history, from []*given) bool {
	c.head(s, `,"forked_from_id":"01a20000-0000-7000-8000-000000000001"`)
	at := s.began
	for _, g := range from {
		at = at.Add(time.Duration(c.rng.IntN(900)) * time.Millisecond)
		c.write(s.path, c.turn(s, at, g))
	}
	if c.now.Before(at) {
		c.now = at
	}
	return true
}

func (c *codexForm) answer(s *history, g *given) string { return c.turn(s, g.at, g) }

// ids returns the answers of the thread itself: what a fork repeats never counts for it.
func (c *codexForm) ids(data []byte) (ids []string) {
	s := c.files[slices.IndexFunc(c.files, func(s *history) bool { return strings.Contains(string(data[:min(len(data), 500)]), s.session) })]
	records(data, func(r map[string]any) {
		if id := text(r, "payload", "turn"); id != "" {
			if slices.ContainsFunc(s.answers[s.own:], func(g *given) bool { return g.id == id }) {
				ids = append(ids, id)
			} else {
				c.copied++
			}
		}
	})
	return ids
}

// piForm writes sessions of Pi. The id of an answer is that of its entry.
type piForm struct{ *histories }

func (p *piForm) agent(s *history) string {
	return filepath.Join(strings.TrimSuffix(s.path, ".jsonl"), "worker", fmt.Sprintf("run-%d", p.rng.IntN(1<<30)), "session.jsonl")
}

func (p *piForm) begin(s *history) { p.head(s, "") }

func (p *piForm) head(s *history, extra string) {
	if s.of == "" {
		s.path = filepath.Join(p.home, ".pi/agent/sessions/--w-a--", strings.NewReplacer(":", "-", ".", "-").Replace(s.began.Format(stampMillis))+"_"+s.session+".jsonl")
	}
	p.write(s.path, fmt.Sprintf(`{"type":"session","version":3,"id":%q,"timestamp":%q,"cwd":"/w/a"%s}`+"\n", s.session, s.began.Format(stampMillis), extra))
}

func (p *piForm) copies(s *history, from []*given) bool {
	p.head(s, `,"parentSession":"/parent.jsonl"`) // entries that are older than another session are its own: the clock was set back
	for _, g := range from {
		p.write(s.path, p.answer(s, g))
	}
	return true
}

func (p *piForm) answer(_ *history, g *given) string {
	g.cwd, g.branch = "/w/a", ""
	at := g.at.Format(stampMillis)
	return fmt.Sprintf(`{"type":"message","id":"p%s","parentId":null,"timestamp":%q,"message":{"role":"user","content":"do it"}}`+"\n", g.id, at) +
		fmt.Sprintf(`{"type":"message","id":%q,"parentId":"p%[1]s","timestamp":%q,"message":{"role":"assistant","content":[{"type":"text","text":"ok"}],"provider":"mock","model":%q,`+
			`"usage":{"input":%d,"output":%d,"cost":{"total":0}},"stopReason":"stop"}}`+"\n", g.id, at, g.model, g.input, g.output)
}

func (p *piForm) ids(data []byte) (ids []string) {
	records(data, func(r map[string]any) {
		if text(r, "message", "role") == "assistant" {
			ids = append(ids, text(r, "id"))
		}
	})
	return ids
}
