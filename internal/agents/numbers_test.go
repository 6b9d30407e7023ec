//go:build agents && linux

package agents

import (
	"encoding/json"
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

// TestNumbers has each agent do what it can in an order that SEED determines, and compares after each step what `rollcall usage` counts with what the model server
// has answered: in all, and by model, day, home and folder, to the token. It is run by make numbers: ROLLCALL_NUMBERS is the number of steps, ROLLCALL_NUMBERS_AGENT
// the agents, ROLLCALL_NUMBERS_BINARY another build.
func TestNumbers(t *testing.T) {
	steps, _ := strconv.Atoi(os.Getenv("ROLLCALL_NUMBERS"))
	if steps == 0 {
		t.Skip("run by make numbers")
	}
	seed, _ := strconv.ParseUint(os.Getenv("SEED"), 10, 64)
	for _, a := range numberedAgents() {
		if only := os.Getenv("ROLLCALL_NUMBERS_AGENT"); only != "" && !slices.Contains(strings.Split(only, ","), a.name) {
			continue
		}
		t.Run(a.name, func(t *testing.T) {
			Need(t)
			built(t, headlessBinary)
			w := &walk{T: t, numbered: a, Sandbox: NewSandbox(t), rng: rand.New(rand.NewPCG(seed, 1)), seen: map[string]string{}}
			w.prepare()
			for n := range steps {
				w.step(n)
			}
		})
	}
}

// numbered is an agent with what a walk can do with it.
type numbered struct {
	name     string
	release  Release
	homes    string // the variable that names its home, if there can be two
	folder   string // its own home, below HOME
	models   []string
	apart    bool // its reasoning is beside the output
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

// act is one of the things that an agent does. It is nil where it could not be done, such as without a conversation.
type act struct {
	name string
	do   func(w *walk) *talk
}

// talk is a conversation of the walk.
type talk struct {
	id, home, folder, model string
	forked                  bool // its id is not known
}

type walk struct {
	*testing.T
	numbered
	*Sandbox
	rng   *rand.Rand
	homes []string // "" is the agent's own
	talks []*talk
	last  string

	extraEnv []string
	seen     map[string]string // differences that were reported
}

func (w *walk) prepare() {
	w.Helper()
	w.homes = []string{""}
	if w.numbered.homes != "" {
		other := filepath.Join(w.Home, "second")
		must.Do(w.T, os.MkdirAll(filepath.Join(w.Home, w.folder), 0o700))
		must.Do(w.T, os.CopyFS(filepath.Join(other, w.folder), os.DirFS(filepath.Join(w.Home, w.folder))))
		w.homes = append(w.homes, filepath.Join(other, w.folder))
	}
	if w.numbered.prepare != nil {
		w.numbered.prepare(w)
	}
}

// usage returns a directive with numbers that no other answer has.
func (w *walk) usage() string {
	n := len(w.Server.Requests())
	return fmt.Sprintf("[[usage %d %d %d %d %d]]", 3000+n*17+w.rng.IntN(5000), 20+w.rng.IntN(300), w.rng.IntN(2000), w.rng.IntN(900), w.rng.IntN(15))
}

func (w *walk) begin() *talk {
	c := &talk{id: uuid(w.T), home: w.homes[w.rng.IntN(len(w.homes))], folder: filepath.Join(w.Home, fmt.Sprintf("work%d", w.rng.IntN(3))), model: w.models[w.rng.IntN(len(w.models))]}
	must.Do(w.T, os.MkdirAll(c.folder, 0o755))
	return c
}

// known returns a conversation that can go on; nil if there is none.
func (w *walk) known() *talk {
	list := slices.DeleteFunc(slices.Clone(w.talks), func(c *talk) bool { return c.forked })
	if len(list) == 0 {
		return nil
	}
	c := *list[w.rng.IntN(len(list))]
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
	w.Server.Mark(c.home + "\x00" + c.folder)
	return cmd
}

// homeValue is the value of the agent's variable: some name the folder in which the home is.
func (w *walk) homeValue(home string) string {
	if strings.HasSuffix(w.numbered.homes, "_CLI_HOME") {
		return filepath.Dir(home)
	}
	return home
}

// runs runs the agent to its end. It may fail: what counts is what was answered.
func (w *walk) runs(c *talk, args ...string) []byte {
	cmd := w.command(c, args...)
	cmd.WaitDelay = 5 * time.Second
	timer := time.AfterFunc(100*time.Second, func() { _ = cmd.Process.Kill() })
	defer timer.Stop()
	out, err := cmd.CombinedOutput()
	w.last = fmt.Sprintf("%q: %v\n%.1500s", args, err, out)
	return out
}

// interrupted runs the agent until the server has its request, and sends a signal.
func (w *walk) interrupted(c *talk, args ...string) {
	before := len(w.Server.Requests())
	cmd := w.command(c, args...)
	cmd.WaitDelay = 5 * time.Second
	must.Do(w.T, cmd.Start())
	_ = poll(60*time.Second, func() bool {
		return slices.ContainsFunc(w.Server.Requests()[before:], func(q modelserver.Request) bool { return strings.Contains(q.Prompt, "[[delay") })
	})
	_ = cmd.Process.Signal(syscall.SIGINT)
	ended := time.AfterFunc(20*time.Second, func() { _ = cmd.Process.Kill() })
	defer ended.Stop()
	w.last = fmt.Sprintf("%q, interrupted: %v", args, cmd.Wait())
}

func (w *walk) step(n int) {
	a := w.acts[0]
	var c *talk
	if n > 0 {
		a = w.acts[w.rng.IntN(len(w.acts))]
	}
	before := len(w.Server.Requests())
	c = a.do(w)
	if c == nil {
		return
	}
	if !slices.ContainsFunc(w.talks, func(o *talk) bool { return o.id == c.id }) {
		w.talks = append(w.talks, c)
	}
	used := ""
	for _, q := range w.Server.Requests()[before:] {
		if q.Prompt != "" || q.Tool {
			used += fmt.Sprintf("\n\t%s %d side=%v tool=%v %+v %.70q", q.Model, q.Status, q.Side, q.Tool, q.Used, q.Prompt)
		}
	}
	w.Logf("%d %s%s", n, a.name, used)
	if used == "" {
		w.Logf("no answer: %s", w.last)
	}
	w.compare(a.name)
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
		all[key(&q)] = t
	}
	return all
}

// got returns what rollcall counts.
func (w *walk) got(by string) counts {
	binary := headlessBinary
	if other := os.Getenv("ROLLCALL_NUMBERS_BINARY"); other != "" {
		binary = other
	}
	cmd := w.Command(binary, "usage", "--since", "all", "--json", "--by", by, "--agent", w.name)
	if len(w.homes) > 1 {
		config := filepath.Join(w.Home, ".config", "rollcall", "config.toml")
		must.Do(w.T, os.MkdirAll(filepath.Dir(config), 0o700))
		must.Do(w.T, os.WriteFile(config, fmt.Appendf(nil, "[homes]\n%s = [%q]\n", w.name, w.homes[1]), 0o600))
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
	return all
}

// compare reports each difference once.
func (w *walk) compare(after string) {
	w.Helper()
	for by, key := range map[string]func(q *modelserver.Request) string{
		"agent": func(*modelserver.Request) string { return w.name },
		"model": func(q *modelserver.Request) string { return q.Model },
		"day":   func(q *modelserver.Request) string { return q.At.Local().Format(time.DateOnly) },
		"home": func(q *modelserver.Request) string {
			home, _, _ := strings.Cut(q.Mark, "\x00")
			if home == "" {
				home = filepath.Join(w.Home, w.folder)
			}
			return home
		},
		"project": func(q *modelserver.Request) string {
			_, folder, _ := strings.Cut(q.Mark, "\x00")
			return folder
		},
	} {
		var want, got counts
		if poll(8*time.Second, func() bool {
			want, got = w.want(key), counts{}
			for k, n := range w.got(by) {
				if by == "model" {
					k = k[strings.LastIndexByte(k, '/')+1:]
				}
				row := got[k]
				for i := range n {
					row[i] += n[i]
				}
				got[k] = row
			}
			if w.name == "claude-code" { // it does not state how much of its output was reasoned
				for k, row := range got {
					row[4] = 0
					got[k] = row
				}
			}
			return maps.Equal(want, got)
		}) == nil {
			delete(w.seen, by)
			continue
		}
		var lines []string
		for _, k := range slices.Sorted(maps.Keys(want)) {
			if d := minus(got[k], want[k]); d != [5]int64{} {
				lines = append(lines, fmt.Sprintf("%s: %v more than answered (input, read, written, output, reasoning)", k, d))
			}
		}
		for k, n := range got {
			if _, is := want[k]; !is {
				lines = append(lines, fmt.Sprintf("%s: %v, nothing was answered", k, n))
			}
		}
		if text := strings.Join(lines, "\n\t"); w.seen[by] != text {
			w.seen[by] = text
			w.Errorf("after %s, by %s:\n\t%s\n%s", after, by, text, w.last)
		}
	}
}

func minus(a, b [5]int64) (d [5]int64) {
	for i := range a {
		d[i] = a[i] - b[i]
	}
	return d
}
