package corpus_test

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"rollcall/adapters"
	"rollcall/adapters/all"
	"rollcall/proc"
)

// TestLedger forks, continues, grows, cuts, copies and removes histories of each agent that keeps files, and compares what counts with a count that reads
// everything of every file: by session, model, folder and branch, with the cache and without. ROLLCALL_CACHE_STEPS is the number of changes for each agent.
func TestLedger(t *testing.T) {
	steps, seed := cacheSteps(40), cacheSeed()
	for _, name := range []adapters.Name{adapters.ClaudeCode, adapters.Codex, adapters.Pi} {
		t.Run(string(name), func(t *testing.T) {
			t.Logf("seed %d", seed)
			dir := t.TempDir()
			h := &histories{T: t, rng: rand.New(rand.NewPCG(seed, 2)), home: filepath.Join(dir, "home"), now: time.Date(2026, 3, 1, 8, 0, 0, 0, time.UTC)}
			h.form = map[adapters.Name]form{adapters.ClaudeCode: &claudeForm{h}, adapters.Codex: &codexForm{h}, adapters.Pi: &piForm{h}}[name]
			table := proc.OpenAt(filepath.Join(dir, "proc"), filepath.Join(dir, "etc"))
			h.must(os.MkdirAll(filepath.Join(dir, "proc"), 0o700))
			h.must(os.WriteFile(filepath.Join(dir, "proc", "stat"), []byte("cpu  1 1 1 1\nbtime 1700000000\n"), 0o600))
			everyAdapter(t, table, h.home) // clears the environment
			ask := func(list []adapters.Adapter, once bool) {
				t.Helper()
				a := list[slices.IndexFunc(list, func(a adapters.Adapter) bool { return a.Name() == name })]
				roll, err := a.Discover(context.Background(), adapters.Query{Totals: true, Usage: true, Once: once})
				if err != nil {
					t.Fatal(err)
				}
				h.compare(roll.Sessions)
			}
			facts := factsIn(t, filepath.Join(dir, "facts"))
			facts.SaveAlways()
			long := func() []adapters.Adapter { return all.New(table, all.Config{Home: h.home}) }
			if name != adapters.Codex { // a running Rollcall examines a rollout that no process has open only now and then
				kept := long()
				long = func() []adapters.Adapter { return kept }
			}
			for i := range steps {
				did := h.change()
				for n, list := range [][]adapters.Adapter{long(), all.New(table, all.Config{Home: h.home}), all.New(table, all.Config{Home: h.home, Facts: facts})} {
					if ask(list, h.rng.IntN(2) == 0); t.Failed() {
						t.Fatalf("step %d, adapter %d: %s\nrepeat with ROLLCALL_CACHE_SEED=%d ROLLCALL_CACHE_STEPS=%d", i, n, did, seed, i+1)
					}
				}
			}
			t.Logf("%d steps, %d answers, %d of them in several files", steps, len(h.given), h.copied)
			if steps >= 40 && (len(h.given) == 0 || h.copied == 0) {
				t.Error("no answer was copied")
			}
		})
	}
}

// given is an answer as it was given.
type given struct {
	id, session, model, cwd, branch string
	at                              time.Time
	input, output                   int64
}

// history is the file of a session or of a sub-agent.
type history struct {
	session, path string
	of            string    // the session for which it counts, of a sub-agent
	answers       []*given  // that the file holds, in order
	own           int       // of them from here on were given in it
	closed        bool      // it was continued in another file, and does not grow
	began         time.Time // of the session
	totals        [2]int64  // of Codex
}

// form writes the files of one agent.
type form interface {
	begin(s *history)                   // of an empty file
	copies(s *history, from []*given)   // the answers of a fork
	answer(s *history, g *given) string // the lines of a prompt and its answer
	agent(s *history) string            // the path for a sub-agent's file; empty: such are no files of their own
	ids(text []byte) (ids []string)     // of the answers that a file holds
}

type histories struct {
	*testing.T
	form
	rng    *rand.Rand
	home   string
	now    time.Time
	files  []*history
	given  map[string]*given
	copied int
}

func (h *histories) must(err error) {
	h.Helper()
	if err != nil {
		h.Fatal(err)
	}
}

func (h *histories) tick() time.Time {
	h.now = h.now.Add(time.Duration(2+h.rng.IntN(5000)) * time.Second)
	return h.now
}

func (h *histories) uuid() string {
	ms := h.now.UnixMilli()
	return fmt.Sprintf("%08x-%04x-7%03x-8%03x-%012x", ms>>16, ms&0xffff, h.rng.IntN(1<<12), h.rng.IntN(1<<12), h.rng.Int64N(1<<48))
}

func (h *histories) write(path, text string) {
	h.must(os.MkdirAll(filepath.Dir(path), 0o700))
	f, err := os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	h.must(err)
	_, err = f.WriteString(text)
	h.must(err)
	h.must(f.Close())
	h.must(os.Chtimes(path, h.now, h.now))
}

func (h *histories) change() string {
	if most := 25; len(h.files) > most || len(h.files) > 1 && len(h.files[0].answers) > 2*most {
		return h.remove(h.files[0])
	}
	open := slices.DeleteFunc(slices.Clone(h.files), func(s *history) bool { return s.closed })
	kind := h.rng.IntN(12)
	if len(open) == 0 || kind == 0 {
		s := h.add("")
		h.begin(s)
		h.grow(s)
		return "begin " + s.path
	}
	s := open[h.rng.IntN(len(open))]
	switch {
	case kind <= 2 && s.of == "":
		fork := h.add("")
		s.closed = h.rng.IntN(3) == 0 // 1.0 of Claude Code does not write on
		from := s.answers
		if !s.closed {
			from = from[:h.rng.IntN(len(from)+1)]
		}
		h.copies(fork, from)
		fork.answers, fork.own = slices.Clone(from), len(from)
		h.grow(fork)
		return "fork " + s.path
	case kind == 3 && s.of == "" && len(h.files) > 3:
		return h.remove(s)
	case kind == 4 && s.of == "":
		if path := h.agent(s); path != "" {
			sub := &history{session: s.session, of: s.session, path: path, began: h.tick()}
			h.files = append(h.files, sub)
			h.begin(sub)
			h.grow(sub)
			return "sub-agent of " + s.path
		}
	case kind == 5:
		text, err := os.ReadFile(s.path)
		h.must(err)
		h.must(os.Truncate(s.path, int64(len(strings.TrimSuffix(string(text), "\n")))))
		return "cut the line feed of " + s.path
	}
	for range 1 + h.rng.IntN(3) {
		h.grow(s)
	}
	return "grow " + s.path
}

// remove removes a file. Those of the sub-agents of its session stay, and count nowhere.
func (h *histories) remove(s *history) string {
	h.must(os.Remove(s.path))
	h.files = slices.DeleteFunc(h.files, func(f *history) bool { return f == s || s.of == "" && f.of == s.session })
	return "remove " + s.path
}

func (h *histories) add(of string) *history {
	s := &history{of: of, began: h.tick()}
	s.session = h.uuid()
	h.files = append(h.files, s)
	return s
}

// grow adds a prompt and its answer.
func (h *histories) grow(s *history) {
	h.tick()
	g := &given{id: fmt.Sprintf("%08x", len(h.given)+1), session: s.session, at: h.now, model: []string{"m1", "m2"}[h.rng.IntN(2)], cwd: "/w/" + []string{"a", "b"}[h.rng.IntN(2)],
		branch: []string{"main", "x"}[h.rng.IntN(2)], input: 1 + h.rng.Int64N(1000), output: 1 + h.rng.Int64N(100)}
	if h.given == nil {
		h.given = map[string]*given{}
	}
	h.given[g.id] = g
	text, err := os.ReadFile(s.path)
	h.must(err)
	lines := h.answer(s, g)
	if n := len(text); n > 0 && text[n-1] != '\n' { // the agents add the line feed that is missing
		lines = "\n" + lines
	}
	h.write(s.path, lines)
	s.answers = append(s.answers, g)
}

// sums are tokens by what they count for.
type sums map[string][2]int64

func (s sums) add(key string, input, output int64) {
	n := s[key]
	s[key] = [2]int64{n[0] + input, n[1] + output}
}

// compare reads all files and compares what they hold with the answer.
func (h *histories) compare(sessions []adapters.Session) {
	h.Helper()
	holders := map[string][]*history{}
	for _, s := range h.files {
		text, err := os.ReadFile(s.path)
		h.must(err)
		for _, id := range h.ids(text) {
			if !slices.Contains(holders[id], s) {
				holders[id] = append(holders[id], s)
			}
		}
	}
	want, got := sums{}, sums{}
	for id, in := range holders {
		g := h.given[id]
		if len(in) > 1 {
			h.copied++
		}
		session := "of a copy" // the original is gone, and any of the others may have it
		if slices.ContainsFunc(in, func(s *history) bool { return s.session == g.session }) {
			session = g.session
		}
		want.add(fmt.Sprint("session ", session), g.input, g.output)
		want.add(fmt.Sprint("place ", g.model, g.cwd, g.branch), g.input, g.output)
		want.add(fmt.Sprint("time ", g.at.Truncate(adapters.UsageStep)), g.input, g.output)
	}
	for i := range sessions {
		rest := [2]int64{}
		for _, u := range sessions[i].Usage {
			if u.Tokens == (adapters.Tokens{}) {
				continue
			}
			got.add(fmt.Sprint("place ", u.Model[strings.IndexByte(u.Model, '/')+1:], u.CWD, u.Branch), u.Tokens.Input, u.Tokens.Output)
			got.add(fmt.Sprint("time ", u.At), u.Tokens.Input, u.Tokens.Output)
			rest = [2]int64{rest[0] + u.Tokens.Input, rest[1] + u.Tokens.Output}
		}
		key := "session " + sessions[i].ID
		own := want[key]
		got.add(key, own[0], own[1])
		if rest[0] < own[0] || rest[1] < own[1] {
			h.Errorf("%s: %v count, of its own %v", sessions[i].ID, rest, own)
		}
		if rest != own {
			got.add("session of a copy", rest[0]-own[0], rest[1]-own[1])
		}
	}
	maps.DeleteFunc(got, func(_ string, n [2]int64) bool { return n == [2]int64{} })
	if !maps.Equal(want, got) {
		for k := range want {
			if want[k] != got[k] {
				h.Errorf("%s: %v counts, want %v", k, got[k], want[k])
			}
		}
		for k := range got {
			if _, is := want[k]; !is {
				h.Errorf("%s: %v counts, want nothing", k, got[k])
			}
		}
	}
}

const stampMillis = "2006-01-02T15:04:05.000Z"

// records calls do with each line that is JSON.
func records(text []byte, do func(r map[string]any)) {
	for _, line := range strings.Split(string(text), "\n") {
		var r map[string]any
		if json.Unmarshal([]byte(line), &r) == nil {
			do(r)
		}
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

func (c *claudeForm) copies(s *history, from []*given) {
	c.begin(s)
	for _, g := range from {
		mark := fmt.Sprintf(`"requestSessionId":%q,`, g.session)
		if slices.ContainsFunc(c.files, func(f *history) bool { return f.closed && f.session == g.session && f.of == "" }) && c.rng.IntN(2) == 0 {
			mark = "" // its original is not continued
		}
		c.write(s.path, c.record(s, g.at, g, "", `"type":"user","message":{"role":"user","content":"again"}`)+
			c.record(s, g.at, g, mark, c.message(g, g.output, `{"type":"text","text":"ok"}`)))
	}
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

func (c *codexForm) copies(s *history, from []*given) {
	c.head(s, `,"forked_from_id":"01a20000-0000-7000-8000-000000000001"`)
	at := s.began
	for _, g := range from {
		at = at.Add(time.Duration(c.rng.IntN(900)) * time.Millisecond)
		c.write(s.path, c.turn(s, at, g))
	}
	if c.now.Before(at) {
		c.now = at
	}
}

func (c *codexForm) answer(s *history, g *given) string { return c.turn(s, g.at, g) }

// ids returns the answers of the thread itself: what a fork repeats never counts for it. A last line without a line feed is still being written.
func (c *codexForm) ids(data []byte) (ids []string) {
	s := c.files[slices.IndexFunc(c.files, func(s *history) bool { return strings.Contains(string(data[:min(len(data), 500)]), s.session) })]
	end := strings.LastIndexByte(string(data), '\n')
	records(data[:end+1], func(r map[string]any) {
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

func (p *piForm) begin(s *history) {
	if s.of == "" {
		s.path = filepath.Join(p.home, ".pi/agent/sessions/--w-a--", strings.NewReplacer(":", "-", ".", "-").Replace(s.began.Format(stampMillis))+"_"+s.session+".jsonl")
	}
	p.write(s.path, fmt.Sprintf(`{"type":"session","version":3,"id":%q,"timestamp":%q,"cwd":"/w/a"}`+"\n", s.session, s.began.Format(stampMillis)))
}

func (p *piForm) copies(s *history, from []*given) {
	p.begin(s)
	for _, g := range from {
		p.write(s.path, p.answer(s, g))
	}
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
