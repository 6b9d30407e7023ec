package corpus_test

import (
	"bytes"
	"context"
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
	"rollcall/internal/agentname"
	"rollcall/internal/must"
	"rollcall/proc"
)

// TestLedger forks, continues, grows, cuts, joins the lines of, copies and removes histories of each agent that keeps files, and compares what counts with a count that reads
// everything of every file: by session, model, folder and branch, with the cache and without. ROLLCALL_CACHE_STEPS is the number of changes for each agent.
func TestLedger(t *testing.T) {
	steps, seed := cacheSteps(40), cacheSeed()
	for _, name := range []adapters.Name{agentname.ClaudeCode, agentname.Codex, agentname.Pi, agentname.Copilot, agentname.Qwen, agentname.Gemini, agentname.Cline} {
		t.Run(string(name), func(t *testing.T) {
			t.Logf("seed %d", seed)
			dir := t.TempDir()
			h := &histories{T: t, rng: rand.New(rand.NewPCG(seed, 2)), home: filepath.Join(dir, "home"), now: time.Date(2026, 3, 1, 8, 0, 0, 0, time.UTC)}
			h.form = map[adapters.Name]form{agentname.ClaudeCode: &claudeForm{h}, agentname.Codex: &codexForm{h}, agentname.Pi: &piForm{h},
				agentname.Copilot: &copilotForm{h}, agentname.Qwen: &qwenForm{h}, agentname.Gemini: &geminiForm{h}, agentname.Cline: &clineForm{h}}[name]
			table := proc.OpenAt(filepath.Join(dir, "proc"), filepath.Join(dir, "etc"))
			h.must(os.MkdirAll(filepath.Join(dir, "proc"), 0o700))
			h.must(os.WriteFile(filepath.Join(dir, "proc", "stat"), []byte("cpu  1 1 1 1\nbtime 1700000000\n"), 0o600))
			everyAdapter(t, table, h.home) // clears the environment
			ask := func(list []adapters.Adapter, once bool) {
				t.Helper()
				a := list[slices.IndexFunc(list, func(a adapters.Adapter) bool { return a.Name() == name })]
				roll, err := a.Discover(context.Background(), adapters.Query{Totals: true, Usage: true, Once: once})
				must.Do(t, err)
				h.compare(roll.Sessions)
			}
			facts := factsIn(t, filepath.Join(dir, "facts"))
			facts.SaveAlways()
			long := func() []adapters.Adapter { return all.New(table, all.Config{Home: h.home}) }
			if name != agentname.Codex { // a running Rollcall examines a rollout that no process has open only now and then
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
	must.Do(h, err)
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
	if info, err := f.Stat(); err == nil && info.Size() == 0 && text != "" && h.rng.IntN(6) == 0 {
		text = "\ufeff" + text // as some editors write
	}
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
		if !h.copies(fork, from) {
			from = nil
		}
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
	case kind == 6: // as after a writer that was killed
		text, err := os.ReadFile(s.path)
		h.must(err)
		lines := bytes.SplitAfter(text, []byte("\n"))
		i := h.rng.IntN(len(lines))
		lines[i] = bytes.TrimSuffix(lines[i], []byte("\n"))
		h.must(os.WriteFile(s.path, bytes.Join(lines, nil), 0o600))
		h.must(os.Chtimes(s.path, h.tick(), h.now))
		return "join two lines of " + s.path
	}
	for range 1 + h.rng.IntN(3) {
		h.grow(s)
	}
	return "grow " + s.path
}

// remove removes a file. Those of the sub-agents of its session stay, and count nowhere.
func (h *histories) remove(s *history) string {
	path := s.path
	if _, is := h.form.(*clineForm); is {
		path = filepath.Dir(path)
	}
	h.must(os.RemoveAll(path))
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
	if n := len(text); n > 0 && text[n-1] != '\n' && lines != "" { // the agents add the line feed that is missing
		lines = "\n" + lines
	}
	h.write(s.path, lines)
	s.answers = append(s.answers, g)
}

// compare reads all files and compares what they hold with the answer.
func (h *histories) compare(sessions []adapters.Session) {
	h.Helper()
	want, copied := count(h.T, h.form, h.files, h.given)
	got := sums{}
	h.copied += copied
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
