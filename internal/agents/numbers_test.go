//go:build agents && linux

package agents

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"rollcall/internal/modelserver"
	"rollcall/internal/must"
)

// TestNumbers… have an agent do what it can in an order that SEED determines, and compare after each step what `rollcall usage` counts with what the model server
// has answered: in all, and by session, model, day, home and folder, to the token. They are run by make numbers: ROLLCALL_NUMBERS is the number of steps,
// ROLLCALL_NUMBERS_AGENT the agents, ROLLCALL_NUMBERS_BINARY another build, whose differences are only logged. A walk ends early where the test's time limit is near.

func TestNumbersClaude(t *testing.T)   { walks(t, claudeNumbers()) }
func TestNumbersCline(t *testing.T)    { walks(t, clineNumbers()) }
func TestNumbersCodex(t *testing.T)    { walks(t, codexNumbers()) }
func TestNumbersCopilot(t *testing.T)  { walks(t, copilotNumbers()) }
func TestNumbersGemini(t *testing.T)   { walks(t, geminiNumbers()) }
func TestNumbersGrok(t *testing.T)     { walks(t, grokNumbers()) }
func TestNumbersKilo(t *testing.T)     { walks(t, openCodeNumbers(KiloNewest)) }
func TestNumbersKimi(t *testing.T)     { walks(t, kimiNumbers()) }
func TestNumbersOmp(t *testing.T)      { walks(t, ompNumbers()) }
func TestNumbersOpenClaw(t *testing.T) { walks(t, openClawNumbers()) }
func TestNumbersOpenCode(t *testing.T) { walks(t, openCodeNumbers(OpenCodeNewest)) }
func TestNumbersPi(t *testing.T)       { walks(t, piNumbers()) }
func TestNumbersQwen(t *testing.T)     { walks(t, qwenNumbers()) }

func walks(t *testing.T, a numbered) {
	t.Helper()
	steps, _ := strconv.Atoi(os.Getenv("ROLLCALL_NUMBERS"))
	only := os.Getenv("ROLLCALL_NUMBERS_AGENT")
	if steps == 0 || only != "" && !slices.Contains(strings.Split(only, ","), a.release.Agent) {
		t.Skip("run by make numbers")
	}
	seed, _ := strconv.ParseUint(os.Getenv("SEED"), 10, 64)
	Need(t)
	built(t, headlessBinary)
	w := &walk{T: t, numbered: a, Sandbox: NewSandbox(t), seed: seed, rng: rand.New(rand.NewPCG(seed, 1)), seen: map[string]string{}}
	w.prepare()
	deadline, limited := t.Deadline()
	for n := range steps {
		if limited && time.Until(deadline) < longestStep {
			t.Logf("out of time after %d of %d steps", n, steps)
			return
		}
		w.step(n)
	}
}

// longestStep is how long before its time limit a walk begins no further step.
const longestStep = 90 * time.Second

// numbered is an agent with what a walk can do with it.
type numbered struct {
	release  Release
	homes    string // the variable that names its home, if there can be two
	folder   string // its own home, below HOME
	models   []string
	apart    bool          // its reasoning is beside the output
	keyed    bool          // its conversations have ids that the walk does not know: they are not compared by session
	children bool          // its sub-agents are sessions of their own, whose ids the walk does not know
	silent   bool          // it records nothing of reasoning: no member for it in a record of an answer
	late     time.Duration // how long its own count may be behind; 0: it is what its files have
	unstored []unstored
	acts     []act
	prepare  func(w *walk)
}

// unstored is what an agent itself does not store, so that nothing can count it.
type unstored struct {
	what  string
	proof string
	is    func(q *modelserver.Request) bool
}

// act is one of the things that an agent does. do returns the conversation that can go on; nil where there is none.
type act struct {
	name string
	do   func(w *walk) *talk
}

// talk is a conversation of the walk.
type talk struct {
	id, home, folder, model string
	from                    string // the conversation whose history it has, while it begins
}

type walk struct {
	*testing.T
	numbered
	*Sandbox
	seed  uint64
	rng   *rand.Rand
	deck  []int    // numbers of acts that are still to come
	homes []string // "" is the agent's own
	talks []*talk
	asked []*talk // by the mark of its requests
	last  string
	twice bool // a conversation is in two homes: nothing records in which of them its older answers were given

	extraEnv []string
	seen     map[string]string // differences that were reported, by build and kind
}

func (w *walk) prepare() {
	w.Helper()
	w.homes = []string{""}
	if w.numbered.homes != "" {
		other := filepath.Join(w.Home, "second")
		must.Do(w.T, os.MkdirAll(filepath.Join(w.Home, w.folder), 0o700))
		must.Do(w.T, os.CopyFS(filepath.Join(other, w.folder), os.DirFS(filepath.Join(w.Home, w.folder))))
		w.homes = append(w.homes, filepath.Join(other, w.folder))
		must.Do(w.T, os.Symlink(filepath.Join(w.Home, w.folder), w.linked()))
	}
	if w.numbered.prepare != nil {
		w.numbered.prepare(w)
	}
}

// linked is a further name of the agent's own home.
func (w *walk) linked() string { return filepath.Join(w.Home, "linked") }

// edit replaces a part of a settings file.
func (w *walk) edit(path, old, text string) {
	w.Helper()
	data := must.Get(os.ReadFile(path))(w.T)
	edited := strings.Replace(string(data), old, text, 1)
	if edited == string(data) {
		w.Fatalf("%s has no %q:\n%s", path, old, data)
	}
	must.Do(w.T, os.WriteFile(path, []byte(edited), 0o600))
}

// prompt returns a prompt with that text, whose answer states numbers that no other has.
func (w *walk) prompt(text string) string { return "[[new]] " + text + " " + w.usage() }

// usage returns a directive with numbers that no other answer has.
func (w *walk) usage() string {
	n := len(w.Server.Requests())
	some := func(limit int) int { return w.rng.IntN(limit) * min(w.rng.IntN(4), 1) } // none of a kind now and then
	return fmt.Sprintf("[[usage %d %d %d %d %d]]", 3000+n*17+w.rng.IntN(5000), 20+w.rng.IntN(300), some(2000), some(900), some(15))
}

func (w *walk) begin() *talk {
	c := &talk{id: uuid(w.T), home: w.homes[w.rng.IntN(len(w.homes))], folder: filepath.Join(w.Home, fmt.Sprintf("work%d", w.rng.IntN(3))), model: w.models[w.rng.IntN(len(w.models))]}
	must.Do(w.T, os.MkdirAll(c.folder, 0o755))
	return c
}

// known returns a conversation that can go on; nil if there is none.
func (w *walk) known() *talk {
	if len(w.talks) == 0 {
		return nil
	}
	c := *w.talks[w.rng.IntN(len(w.talks))]
	c.model = w.models[w.rng.IntN(len(w.models))]
	return &c
}

// command is the agent in the conversation's home and folder.
func (w *walk) command(c *talk, args ...string) *exec.Cmd {
	cmd := w.run(w.release, args...)
	cmd.Dir, cmd.Env = c.folder, append(cmd.Env, w.extraEnv...)
	if c.home != "" {
		cmd.Env = append(cmd.Env, w.numbered.homes+"="+w.homeValue(c.home))
	}
	w.mark(c)
	return cmd
}

// mark has the requests from now on count for a conversation, whose id may be known later.
func (w *walk) mark(c *talk) {
	w.Server.Mark(strconv.Itoa(len(w.asked)))
	w.asked = append(w.asked, c)
}

// talkOf returns the conversation for which a request was made; an empty one if none was.
func (w *walk) talkOf(q *modelserver.Request) *talk {
	if n, err := strconv.Atoi(q.Mark); err == nil {
		return w.asked[n]
	}
	return &talk{}
}

// ofChild stands for the ids of sub-agents that are sessions of their own.
const ofChild = "a sub-agent"

// sessionOf returns the session for which an answer counts.
func (w *walk) sessionOf(q *modelserver.Request) string {
	if w.children && strings.HasPrefix(q.Prompt, childPrompt) {
		return ofChild
	}
	return w.talkOf(q).id
}

// homeValue is the value of the agent's variable: some name the folder in which the home is.
func (w *walk) homeValue(home string) string {
	if strings.HasSuffix(w.numbered.homes, "_CLI_HOME") {
		return filepath.Dir(home)
	}
	return home
}

// runs runs the agent to its end. It may fail: what counts is what was answered. Now and then `kilo run` (7.7.9) never asks the model: it is started again.
func (w *walk) runs(c *talk, args ...string) []byte {
	before := len(w.Server.Requests())
	for {
		cmd := w.command(c, args...)
		cmd.WaitDelay = 5 * time.Second
		timer := time.AfterFunc(100*time.Second, func() { _ = cmd.Process.Kill() })
		out, err := cmd.CombinedOutput()
		w.last = fmt.Sprintf("%q: %v\n%.1500s", args, err, out)
		if timer.Stop() || w.release != KiloNewest || len(w.Server.Requests()) > before {
			return out
		}
	}
}

// interrupted runs the agent until the server has its request, and sends a signal.
func (w *walk) interrupted(c *talk, args ...string) {
	before := len(w.Server.Requests())
	cmd := w.command(c, args...)
	cmd.WaitDelay = 5 * time.Second
	must.Do(w.T, cmd.Start())
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	asked := func() bool {
		return slices.ContainsFunc(w.Server.Requests()[before:], func(q modelserver.Request) bool { return strings.Contains(q.Prompt, "[[delay") })
	}
	_ = poll(60*time.Second, func() bool { return asked() || len(ended) > 0 })
	_ = cmd.Process.Signal(syscall.SIGINT)
	timer := time.AfterFunc(10*time.Second, func() { _ = cmd.Process.Kill() })
	defer timer.Stop()
	w.last = fmt.Sprintf("%q, interrupted: %v", args, <-ended)
}

// draw returns the act of a step. The first begins a conversation, and the next two follow from the number of the seed, so that ten seeds in a row have every act
// even where there is little time. After these each act comes once before one comes again.
func (w *walk) draw(n int) act {
	switch {
	case n == 0:
		return w.acts[0]
	case n <= 2:
		return w.acts[(2*w.seed+uint64(n)-1)%uint64(len(w.acts))]
	case len(w.deck) == 0:
		w.deck = w.rng.Perm(len(w.acts))
	}
	a := w.acts[w.deck[0]]
	w.deck = w.deck[1:]
	return a
}

func (w *walk) step(n int) {
	a := w.draw(n)
	var c *talk
	before := len(w.Server.Requests())
	began := time.Now()
	c = a.do(w)
	took := time.Since(began)
	asked := w.Server.Requests()[before:]
	if c == nil && len(asked) == 0 {
		return
	}
	if c != nil && !slices.ContainsFunc(w.talks, func(o *talk) bool { return o.id == c.id }) {
		w.talks = append(w.talks, c)
	}
	used := ""
	for _, q := range asked {
		if q.Prompt != "" || q.Tool {
			used += fmt.Sprintf("\n\t%s %d side=%v tool=%v own=%v %+v %.70q", q.Model, q.Status, q.Side, q.Tool, q.Own, q.Used, q.Prompt)
		}
	}
	w.Logf("%d %s (%.1f s)%s", n, a.name, took.Seconds(), used)
	if used == "" {
		w.Logf("no answer: %s", w.last)
	}
	w.compare(headlessBinary, a.name, w.Errorf)
	if other := os.Getenv("ROLLCALL_NUMBERS_BINARY"); other != "" {
		w.compare(other, "ANOTHER BUILD, "+a.name, w.Logf)
	}
}

// counts are tokens by a key: input, read from a cache, written to it, output, reasoning.
type counts map[string][5]int64

// want returns what the server has answered, by a key.
func (w *walk) want(key func(q *modelserver.Request) string) counts {
	all := counts{}
	for _, q := range w.Server.Requests() {
		isAnswer := q.Status == http.StatusOK && (q.Prompt != "" || q.Tool || q.Used.Output > 0) && q.Model != ""
		if !isAnswer || slices.ContainsFunc(w.unstored, func(u unstored) bool { return u.is(&q) }) {
			continue
		}
		t := all[key(&q)]
		for i, n := range []int{q.Used.Input, q.Used.CacheRead, q.Used.CacheWrite, q.Used.Output, q.Used.Reasoning} {
			t[i] += int64(n)
		}
		if w.silent {
			t[4] = 0
		}
		all[key(&q)] = t
	}
	return all
}

// got returns what a build of rollcall counts, and whether it knows that kind of table: an older one may not.
func (w *walk) got(binary, by string) (counts, bool) {
	cmd := w.Command(binary, "usage", "--since", "all", "--json", "--by", by, "--agent", w.release.Agent)
	if len(w.homes) > 1 {
		config := filepath.Join(w.Home, ".config", "rollcall", "config.toml")
		must.Do(w.T, os.MkdirAll(filepath.Dir(config), 0o700))
		must.Do(w.T, os.WriteFile(config, fmt.Appendf(nil, "[homes]\n%s = [%q, %q]\n", w.release.Agent, w.homes[1], w.linked()), 0o600))
	}
	out, err := cmd.Output()
	var table struct {
		Rows []struct {
			Key    string
			Tokens struct {
				Input, Output, Reasoning int64
				CacheRead                int64 `json:"cache_read"`
				CacheWrite               int64 `json:"cache_write"`
			}
		}
	}
	var exit *exec.ExitError
	if binary != headlessBinary && errors.As(err, &exit) && exit.ExitCode() == 2 {
		return nil, false
	}
	if err != nil || json.Unmarshal(out, &table) != nil {
		w.Fatalf("usage: %v\n%s", err, out)
	}
	all := counts{}
	for _, r := range table.Rows {
		t := r.Tokens
		if w.apart {
			t.Output += t.Reasoning
		}
		row := [5]int64{t.Input, t.CacheRead, t.CacheWrite, t.Output, t.Reasoning}
		if row != [5]int64{} {
			all[r.Key] = row
		}
	}
	return all, true
}

// compare reports each difference of a build once. It waits for what an agent's processes may still write, and for no other difference.
func (w *walk) compare(binary, after string, report func(format string, args ...any)) {
	w.Helper()
	keys := map[string]func(q *modelserver.Request) string{
		"agent":   func(*modelserver.Request) string { return w.release.Agent },
		"model":   func(q *modelserver.Request) string { return q.Model },
		"day":     func(q *modelserver.Request) string { return q.At.Local().Format(time.DateOnly) },
		"home":    func(q *modelserver.Request) string { return cmp.Or(w.talkOf(q).home, filepath.Join(w.Home, w.folder)) },
		"project": func(q *modelserver.Request) string { return w.talkOf(q).folder },
		"session": w.sessionOf,
	}
	if w.keyed {
		delete(keys, "session")
	}
	if w.twice {
		delete(keys, "home")
	}
	began := time.Now()
	texts := map[string]string{} // differences
	_ = poll(cmp.Or(w.late, 8*time.Second), func() bool {
		final := len(w.Processes()) == 0 // looked at before the files
		known := true                    // what differs was reported before
		for _, by := range slices.Sorted(maps.Keys(keys)) {
			texts[by] = ""
			if got, is := w.counted(binary, by); is {
				texts[by] = difference(w.want(keys[by]), got)
			}
			known = known && (texts[by] == "" || texts[by] == w.seen[binary+by])
			if !known && !final {
				break // asking an agent that is still counting takes long
			}
		}
		return final || known
	})
	w.Logf("compared in %.1f s", time.Since(began).Seconds())
	var found []string
	for by, text := range texts {
		if text != "" && w.seen[binary+by] != text {
			found = append(found, "by "+by+":\n\t"+text)
		}
		w.seen[binary+by] = text
	}
	if len(found) > 0 {
		report("after %s: %s\n%s", after, strings.Join(found, "\n"), w.last)
	}
}

// counted returns what a build of rollcall counts, by the keys of the model server, and whether it knows that kind of table.
func (w *walk) counted(binary, by string) (counts, bool) {
	rows, is := w.got(binary, by)
	got := counts{}
	for k, n := range rows {
		if by == "model" {
			k = k[strings.LastIndexByte(k, '/')+1:]
		}
		if by == "session" && w.children && !slices.ContainsFunc(w.asked, func(c *talk) bool { return c.id == k }) {
			k = ofChild
		}
		row := got[k]
		for i := range n {
			row[i] += n[i]
		}
		got[k] = row
	}
	return got, is
}

// difference says what was counted otherwise than it was answered.
func difference(want, got counts) string {
	var lines []string
	for _, k := range slices.Sorted(maps.Keys(want)) {
		if d := minus(got[k], want[k]); d != [5]int64{} {
			lines = append(lines, fmt.Sprintf("%s: %v more than answered (input, read, written, output, reasoning)", k, d))
		}
	}
	for _, k := range slices.Sorted(maps.Keys(got)) {
		if _, is := want[k]; !is {
			lines = append(lines, fmt.Sprintf("%s: %v, nothing was answered", k, got[k]))
		}
	}
	return strings.Join(lines, "\n\t")
}

func minus(a, b [5]int64) (d [5]int64) {
	for i := range a {
		d[i] = a[i] - b[i]
	}
	return d
}
