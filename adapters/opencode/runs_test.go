package opencode

import (
	"cmp"
	"path/filepath"
	"testing"
	"time"

	"rollcall/adapters"
	"rollcall/adapters/internal/skeleton"
	"rollcall/proc"
)

// processOf is a process of which nothing else is known.
func processOf(id proc.Identity) skeleton.Process {
	return skeleton.Process{Process: proc.Process{Identity: id}}
}

func hostAt(pid int, started time.Time, args ...string) *host {
	h := &host{product: openCode, args: append([]string{"opencode"}, args...), Process: processOf(proc.Identity{})}
	h.CWD = filepath.FromSlash("/home/dev/p")
	h.PID = pid
	h.Start = uint64(started.UnixMilli())
	h.Started = started
	h.began = started
	if !h.readArgs() {
		panic("no host")
	}
	return h
}

func runAt(id string, first time.Time, sessions ...string) *run {
	r := newRun(id, first)
	r.folders[filepath.FromSlash("/home/dev/p")] = true
	r.last = first.Add(time.Minute)
	for _, s := range sessions {
		r.began(s, first.Add(2*time.Second))
	}
	return r
}

const (
	sesA = "ses_aaaaaaaaaaaaaaaa"
	sesB = "ses_bbbbbbbbbbbbbbbb"
)

// What is sure about which process wrote which run, and what isn't.
func TestAssign(t *testing.T) {
	begin := at("04:44:00")
	after := func(s float64) time.Time { return begin.Add(time.Duration(s * float64(time.Second))) }
	connected := func(r *run) *run { r.connected = true; return r }
	elsewhere := func(r *run) *run { r.folders = map[string]bool{filepath.FromSlash("/home/dev/q"): true}; return r }
	tests := map[string]struct {
		hosts   []*host
		runs    []*run
		prompts map[string]string
		want    map[int]string // pid: run; "" when it can't be known
	}{
		"one": {[]*host{hostAt(1, begin)}, []*run{runAt("a", after(3))}, nil, map[int]string{1: "a"}},
		"two in one folder, in order": {[]*host{hostAt(1, begin), hostAt(2, after(3))},
			[]*run{runAt("a", after(6)), runAt("b", after(11))}, nil, map[int]string{1: "a", 2: "b"}},
		"two in one folder, one after the other": {[]*host{hostAt(1, begin), hostAt(2, after(8))},
			[]*run{runAt("a", after(6)), runAt("b", after(11))}, nil, map[int]string{1: "a", 2: "b"}},
		"two in one folder, with a run of one that is gone": {[]*host{hostAt(1, begin), hostAt(2, after(3))},
			[]*run{runAt("a", after(6)), runAt("b", after(11)), runAt("c", after(12))}, nil, map[int]string{1: "", 2: ""}},
		"two at the same moment": {[]*host{hostAt(1, begin), hostAt(2, after(0.1))},
			[]*run{runAt("a", after(6)), runAt("b", after(6.2))}, nil, map[int]string{1: "", 2: ""}},
		"one of two is gone":  {[]*host{hostAt(1, begin)}, []*run{runAt("a", after(4)), runAt("b", after(7))}, nil, map[int]string{1: ""}},
		"a run from before":   {[]*host{hostAt(1, begin)}, []*run{runAt("a", after(-2)), runAt("b", after(2))}, nil, map[int]string{1: "b"}},
		"a run of long after": {[]*host{hostAt(1, begin)}, []*run{runAt("a", after(2)), runAt("b", after(100))}, nil, map[int]string{1: "a"}},
		"another folder":      {[]*host{hostAt(1, begin)}, []*run{runAt("a", after(2)), elsewhere(runAt("b", after(3)))}, nil, map[int]string{1: "a"}},
		"a one-shot that is gone": {[]*host{hostAt(1, begin)},
			[]*run{connected(runAt("a", after(2))), runAt("b", after(3))}, nil, map[int]string{1: "b"}},
		"told apart by prompts": {[]*host{hostAt(1, begin, "run", "first words"), hostAt(2, after(0.1), "run", "other words")},
			[]*run{connected(runAt("a", after(2), sesA)), connected(runAt("b", after(2.1), sesB))},
			map[string]string{sesA: "other words", sesB: "first words"}, map[int]string{1: "b", 2: "a"}},
		"told apart by -s": {[]*host{hostAt(1, begin, "run", "-s", sesB, "go"), hostAt(2, after(0.1), "run", "-s", sesA, "go")},
			[]*run{connected(runAt("a", after(2), sesA)), connected(runAt("b", after(2.1), sesB))}, nil, map[int]string{1: "b", 2: "a"}},
		"not logged yet": {[]*host{hostAt(1, begin)}, nil, nil, map[int]string{1: ""}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			runs := map[string]*run{}
			for _, r := range test.runs {
				runs[r.id] = r
			}
			got := assign(test.hosts, runs, nil, func(h *host, r *run) bool { return h.canBe(r, test.prompts) })
			for _, h := range test.hosts {
				id := ""
				if r := got.runOf[h]; r != nil {
					id = r.id
				}
				if id != test.want[h.PID] {
					t.Errorf("process %d has run %q, want %q", h.PID, id, test.want[h.PID])
				}
			}
		})
	}
}

// Many processes that begin with many runs are all in doubt.
func TestAssignDoubts(t *testing.T) {
	begin := at("04:44:00")
	var hosts []*host
	runs := map[string]*run{}
	for i := range 40 {
		hosts = append(hosts, hostAt(i+1, begin.Add(time.Duration(i)*time.Millisecond)))
		id := string(rune('A' + i))
		runs[id] = runAt(id, begin.Add(time.Second+time.Duration(i)*time.Millisecond))
	}
	got := assign(hosts, runs, nil, func(h *host, r *run) bool { return h.canBe(r, nil) })
	if len(got.runOf) != 0 || len(got.may) != 40 {
		t.Errorf("%d sure, %d in doubt", len(got.runOf), len(got.may))
	}
}

// started is a table in which every process was started with these arguments.
type started struct {
	nobody
	args []string
}

func (s started) Args(proc.Identity) ([]string, error) { return s.args, nil }
func (started) Exe(proc.Identity) (string, error)      { return "/opt/opencode", nil }
func (started) Env(proc.Identity) ([]string, error)    { return nil, nil }
func (started) CWD(proc.Identity) (string, error)      { return "/home/dev/p", nil }
func (started) Made(proc.Process) (time.Time, error)   { return time.Time{}, nil }

func TestArguments(t *testing.T) {
	tests := map[string]struct {
		args []string
		ok   bool
		role role
		want string // resume or prompt
	}{
		"terminal":             {nil, true, terminal, ""},
		"a project":            {[]string{"/home/dev/p"}, true, terminal, ""},
		"resumed":              {[]string{"-s", sesA}, true, terminal, sesA},
		"resumed, inline":      {[]string{"--session=" + sesA}, true, terminal, sesA},
		"run":                  {[]string{"run", "say hello"}, true, oneShot, `"say hello"`},
		"run, options between": {[]string{"run", "-m", "mock/run", "--agent", "serve", "say", "hello"}, true, oneShot, "say hello"},
		"run, after --":        {[]string{"run", "--", "-s", sesA}, true, oneShot, "-s " + sesA},
		"run at a server":      {[]string{"run", "--attach", "http://localhost:1", "x"}, false, oneShot, ""},
		"serve":                {[]string{"serve", "--port", "5555"}, true, server, ""},
		"attach":               {[]string{"attach", "http://localhost:1"}, false, terminal, ""},
		"models":               {[]string{"models"}, false, terminal, ""},
		"Bun":                  {[]string{"add", "--force", "x"}, false, terminal, ""},
		"version":              {[]string{"--version"}, false, terminal, ""},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			a := New(adapters.Config{})
			a.Table = started{args: append([]string{"opencode"}, test.args...)}
			h := a.identify(proc.Process{Comm: "opencode"})
			if h == nil {
				if test.ok {
					t.Error("no host")
				}
				return
			}
			if !test.ok || h.role != test.role {
				t.Errorf("role %v", h.role)
			}
			if got := cmp.Or(h.resume, h.prompt); got != test.want {
				t.Errorf("%q, want %q", got, test.want)
			}
		})
	}
}
