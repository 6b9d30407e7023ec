package metrics

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/client_golang/prometheus/testutil/promlint"

	"rollcall/adapters"
	"rollcall/app"
	"rollcall/app/owned/fuse"
	"rollcall/app/owned/launch"
	"rollcall/app/store"
	"rollcall/app/store/lock"
	"rollcall/internal/doctest"
	"rollcall/internal/must"
	"rollcall/proc"
)

var at = time.Date(2026, 11, 22, 10, 0, 0, 0, time.UTC)

func session(a adapters.Name, st adapters.Status, change func(*adapters.Session)) app.Session {
	s := adapters.Session{ID: "x", Agent: a, State: adapters.State{Status: st}, Times: adapters.Times{LastActivityAt: at.Add(-time.Minute)}}
	if change != nil {
		change(&s)
	}
	return app.Session{Session: s}
}

// everything is a look with each metric.
func everything() *Look {
	usage := func(s *adapters.Session) {
		s.Tokens = &adapters.Tokens{Input: 100, Output: 20, CacheRead: 1000, CacheWrite: 7, Reasoning: 3}
		s.CostUSD = 0.25
	}
	return &Look{Version: "1.2.3", Build: "headless", Snapshot: &app.Snapshot{At: at,
		Adapters: []app.Health{{Name: "one", State: app.OK, Elapsed: 30 * time.Millisecond}, {Name: "two", State: app.Failed, Elapsed: 5 * time.Second},
			{Name: "three", State: app.Absent}, {Name: "four", State: app.Pending}},
		Own: []app.Session{
			session("one", adapters.Working, usage), session("one", adapters.Working, usage), session("one", adapters.Stopped, usage),
			session("one", adapters.Waiting, func(s *adapters.Session) {
				s.WaitingFor, s.LastActivityAt = adapters.ForPermission, at.Add(-time.Hour)
			}),
			session("two", adapters.Waiting, func(s *adapters.Session) { s.WaitingFor = adapters.ForQuestion }),
		}},
		Limits: []app.AgentLimits{{Agent: "one", Stored: true, Limits: []adapters.Limit{
			{Home: "/h", Window: 5 * time.Hour, Used: 92, At: at, ResetsAt: at.Add(time.Hour)}, {Home: "/h", Window: 5 * time.Hour, Used: 92, At: at},
			{Home: "/h", Name: "Opus", Window: 7 * 24 * time.Hour, Used: 41.5, At: at.Add(-time.Hour), ResetsAt: at}, {Home: "/h", Name: "credits", Balance: "3", At: at},
		}}, {Agent: "two"}},
		Locks:    []lock.Lock{{Kind: lock.Auto}, {Kind: lock.Auto}, {Kind: lock.Manual}},
		Fuses:    []fuse.Fuse{{Expires: at.Add(time.Hour)}, {Expires: at.Add(-time.Minute)}, {FiredAt: at}},
		Launches: []launch.Record{{}, {EndedAt: at}},
		Keeper:   &Keeper{Since: at, Ends: map[adapters.Outcome]int{adapters.Failed: 2, "": 1}, CPU: 1.5, Memory: 2e7},
	}
}

func text(t *testing.T, l *Look) string {
	t.Helper()
	var b bytes.Buffer
	must.Do(t, l.Write(&b))
	return b.String()
}

// values returns the metrics without their comments.
func values(text string) string {
	var out []string
	for line := range strings.Lines(text) {
		if !strings.HasPrefix(line, "#") {
			out = append(out, strings.TrimSpace(line))
		}
	}
	return strings.Join(out, "\n")
}

func TestWrite(t *testing.T) {
	const want = `rollcall_adapter_answer_seconds{agent="one"} 0.03
rollcall_adapter_answer_seconds{agent="three"} 0
rollcall_adapter_answer_seconds{agent="two"} 5
rollcall_adapter_failed{agent="one"} 0
rollcall_adapter_failed{agent="three"} 0
rollcall_adapter_failed{agent="two"} 1
rollcall_adapter_installed{agent="one"} 1
rollcall_adapter_installed{agent="three"} 0
rollcall_adapter_installed{agent="two"} 1
rollcall_ends_total{outcome="completed"} 0
rollcall_ends_total{outcome="died"} 0
rollcall_ends_total{outcome="failed"} 2
rollcall_ends_total{outcome="interrupted"} 0
rollcall_ends_total{outcome="unknown"} 1
rollcall_fuses{state="fired"} 1
rollcall_fuses{state="overdue"} 1
rollcall_fuses{state="set"} 1
rollcall_info{build="headless",version="1.2.3"} 1
rollcall_keeper_cpu_seconds_total 1.5
rollcall_keeper_memory_bytes 2e+07
rollcall_keeper_start_timestamp_seconds 1.7953416e+09
rollcall_launches{state="ended"} 1
rollcall_launches{state="running"} 1
rollcall_limit_recorded_timestamp_seconds{agent="one",home="/h",name="",window_seconds="18000"} 1.7953416e+09
rollcall_limit_recorded_timestamp_seconds{agent="one",home="/h",name="Opus",window_seconds="604800"} 1.795338e+09
rollcall_limit_reset_timestamp_seconds{agent="one",home="/h",name="",window_seconds="18000"} 1.7953452e+09
rollcall_limit_reset_timestamp_seconds{agent="one",home="/h",name="Opus",window_seconds="604800"} 1.7953416e+09
rollcall_limit_used_percent{agent="one",home="/h",name="",window_seconds="18000"} 92
rollcall_locks{kind="auto"} 2
rollcall_locks{kind="manual"} 1
rollcall_look_timestamp_seconds 1.7953416e+09
rollcall_oldest_wait_seconds 3600
rollcall_session_cost_usd{agent="one"} 0.5
rollcall_session_tokens{agent="one",kind="cache_read"} 2000
rollcall_session_tokens{agent="one",kind="cache_write"} 14
rollcall_session_tokens{agent="one",kind="input"} 200
rollcall_session_tokens{agent="one",kind="output"} 40
rollcall_session_tokens{agent="one",kind="reasoning"} 6
rollcall_sessions{agent="one",status="idle",waiting_for=""} 0
rollcall_sessions{agent="one",status="unknown",waiting_for=""} 0
rollcall_sessions{agent="one",status="waiting",waiting_for="permission"} 1
rollcall_sessions{agent="one",status="waiting",waiting_for="question"} 0
rollcall_sessions{agent="one",status="working",waiting_for=""} 2
rollcall_sessions{agent="two",status="waiting",waiting_for="question"} 1`
	if d := cmp.Diff(want, values(text(t, everything()))); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
	if got := values(text(t, &Look{Version: "1"})); got != `rollcall_info{build="",version="1"} 1` {
		t.Errorf("a look at nothing has %s", got)
	}
}

// TestDocumented: the document has each metric, with its labels.
func TestDocumented(t *testing.T) {
	doctest.SameSet(t, "metrics.md", "Metrics", doctest.First(doctest.Rows(t, "metrics.md", "Metrics")), names)
	got := text(t, everything())
	for _, name := range names {
		if !strings.Contains(got, "\n# HELP "+name+" ") && !strings.HasPrefix(got, "# HELP "+name+" ") {
			t.Errorf("no %s in\n%s", name, got)
		}
	}
}

// TestLint: the rules of promtool, from Prometheus' own library.
func TestLint(t *testing.T) {
	problems, err := promlint.New(strings.NewReader(text(t, everything()))).Lint()
	if err != nil || len(problems) > 0 {
		t.Errorf("%v %v", problems, err)
	}
}

// TestPromtool asks promtool itself. The rules are those of TestLint, so that it is no tool that CI must have.
func TestPromtool(t *testing.T) {
	tool, err := exec.LookPath("promtool")
	if err != nil {
		t.Skip("promtool is missing (Debian: prometheus)")
	}
	cmd := exec.CommandContext(t.Context(), tool, "check", "metrics")
	cmd.Stdin = strings.NewReader(text(t, everything()))
	if out, err := cmd.CombinedOutput(); err != nil || len(out) > 0 {
		t.Errorf("%v: %s", err, out)
	}
}

func TestWriteFile(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "rollcall.prom")
	for range 2 {
		must.Do(t, everything().WriteFile(path))
	}
	got, err := os.ReadFile(path)
	if err != nil || values(string(got)) != values(text(t, everything())) {
		t.Errorf("%v: %s", err, got)
	}
	info, err := os.Stat(path)
	if err != nil || runtime.GOOS != "windows" && info.Mode() != 0o644 {
		t.Errorf("mode %v, %v", info.Mode(), err)
	}
	if entries, _ := os.ReadDir(dir); len(entries) != 1 {
		t.Errorf("left behind: %v", entries)
	}
	if err := everything().WriteFile(filepath.Join(dir, "none", "x.prom")); err == nil || !strings.Contains(err.Error(), "cannot be written to "+dir) {
		t.Errorf("a missing folder: %v", err)
	}
}

func TestKeeper(t *testing.T) {
	k := NewKeeper(at, nil)
	if runtime.GOOS == "linux" && (k.Memory < 1<<20 || k.CPU < 0) {
		t.Errorf("%+v", k)
	}
}

// TestRead: what cannot be read has no number, not a wrong one.
func TestRead(t *testing.T) {
	state := t.TempDir()
	must.Do(t, os.Chmod(state, 0o700))
	l, f := launch.In(state, proc.Open()), fuse.In(store.Below(state, store.Fuses))
	if _, err := f.Set(t.Context(), fuse.Fuse{Path: t.TempDir(), Script: "true"}, time.Hour); err != nil {
		t.Fatal(err)
	}
	look, err := Read(t.Context(), nil, l, f)
	if err != nil || look.Locks == nil || look.Launches == nil || len(look.Fuses) != 1 {
		t.Errorf("%+v, %v", look, err)
	}
	if _, err := known([]lock.Lock{{}}, errors.New("unreadable")); err == nil {
		t.Error("the error is lost")
	}
	if list, _ := known([]lock.Lock{{}}, errors.New("unreadable")); list != nil {
		t.Errorf("a part counts as the whole: %v", list)
	}
}
