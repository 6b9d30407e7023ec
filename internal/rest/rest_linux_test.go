package rest

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"rollcall/adapters"
	"rollcall/internal/agentname"
	"rollcall/internal/corpus"
	"rollcall/internal/desktoptest"
	"rollcall/internal/eventually"
	"rollcall/internal/must"
	"rollcall/proc"
)

const (
	sessions  = 10_000
	processes = 300
	// What the tray may use: a share of one core, and memory.
	mostCPU      = 0.001
	mostResident = 60 << 10 // KB
	// settled is for how long after its start the tray is left alone.
	settled = 30 * time.Second
)

// The test runs itself: as process 1 of namespaces of its own, and in these as the
// agents and the other processes.
const (
	insideKey = "ROLLCALL_REST_INSIDE" // the folder that becomes /tmp
	holdKey   = "ROLLCALL_REST_HOLD"   // a file that an agent has open; - for none
)

func TestMain(m *testing.M) {
	if path, ok := os.LookupEnv(holdKey); ok {
		if path != "-" {
			if _, err := os.OpenFile(path, os.O_WRONLY|os.O_APPEND, 0); err != nil {
				fmt.Fprintln(os.Stderr, err)
				os.Exit(1)
			}
		}
		_, _ = io.Copy(io.Discard, os.Stdin)
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// TestRest measures the built tray (make build) on a real panel.
func TestRest(t *testing.T) {
	length, err := time.ParseDuration(os.Getenv("ROLLCALL_REST"))
	if err != nil {
		t.Skip("ROLLCALL_REST does not say for how long: see make rest")
	}
	if dir := os.Getenv(insideKey); dir != "" {
		furnish(t, dir)
		measure(t, length)
		return
	}
	if os.Getuid() != 0 {
		t.Skip("only root can make the namespaces")
	}
	dir := t.TempDir()
	cmd := exec.Command("/proc/self/exe", "-test.run=^TestRest$", "-test.v", "-test.timeout="+(length+20*time.Minute).String())
	cmd.Env = append(os.Environ(), insideKey+"="+dir)
	cmd.SysProcAttr = &unix.SysProcAttr{Cloneflags: unix.CLONE_NEWPID | unix.CLONE_NEWNS, Pdeathsig: unix.SIGKILL}
	out, err := cmd.CombinedOutput()
	t.Logf("%s", out)
	keepResults(t, dir)
	must.Do(t, err)
}

// furnish gives the namespaces their own /proc and /tmp, in which are the programs.
func furnish(t *testing.T, dir string) {
	t.Helper()
	for from, names := range map[string][]string{"../../build/rollcall": {"rollcall"}, "/proc/self/exe": {"claude", "codex", "worker"}} {
		program, err := os.ReadFile(from)
		if errors.Is(err, os.ErrNotExist) {
			t.Fatalf("%v: run make build first", err)
		}
		must.Do(t, err)
		for _, name := range names {
			must.Do(t, os.WriteFile(filepath.Join(dir, name), program, 0o700))
		}
	}
	must.Do(t, os.Chmod(dir, 0o777|os.ModeSticky))
	must.Do(t, unix.Mount("", "/", "", unix.MS_REC|unix.MS_PRIVATE, ""))
	must.Do(t, unix.Mount(dir, "/tmp", "", unix.MS_BIND|unix.MS_REC, ""))
	must.Do(t, unix.Mount("proc", "/proc", "proc", unix.MS_NOSUID|unix.MS_NODEV|unix.MS_NOEXEC, ""))
	t.Setenv("TMPDIR", "/tmp")
	must.Do(t, os.Chdir("/tmp"))
}

func measure(t *testing.T, length time.Duration) {
	home := "/tmp/corpus/home"
	man, err := corpus.Write("/tmp/corpus", corpus.Options{Sessions: sessions, Seed: 1, Now: time.Now(), Scale: 0.05})
	must.Do(t, err)
	live := startAgents(t, home, man)
	desktop := desktoptest.For(t, desktoptest.Options{Panel: desktoptest.XfcePanel})
	for n := count(t); n < processes; n++ {
		run(t, "worker", "-")
	}
	env := append(desktop.Env(), "HOME="+home, "XDG_DATA_HOME="+home+"/.local/share", "CLAUDE_CONFIG_DIR=", "CODEX_HOME=")
	listed := list(t, env)
	if len(listed) != len(live) {
		t.Fatalf("%d live sessions are listed, want %d: %v", len(listed), len(live), listed)
	}

	tray := exec.Command("/tmp/rollcall")
	tray.Env, tray.Dir = env, home
	log := must.Get(os.Create("/tmp/tray.log"))(t)
	tray.Stdout, tray.Stderr = log, log
	must.Do(t, tray.Start())
	t.Cleanup(func() {
		_ = tray.Process.Signal(unix.SIGTERM)
		_ = tray.Wait()
		text, _ := os.ReadFile("/tmp/tray.log")
		t.Logf("the tray printed: %.2000s", text)
	})
	eventually.True(t, "the icon in the tray", func() bool {
		items, err := desktop.TrayItems()
		return err == nil && len(items) == 1
	})
	time.Sleep(settled)
	before := usage(t, tray.Process.Pid)
	time.Sleep(length)
	after := usage(t, tray.Process.Pid)
	cpu, wakes := after.cpu-before.cpu, after.wakes-before.wakes
	share := cpu.Seconds() / length.Seconds()
	t.Logf("at rest for %v with %d sessions on disk, %d processes, %d live agents: %v of CPU (%.4f %% of a core), %d wake-ups (%.1f a second), %d KB resident",
		length, sessions, count(t), len(live), cpu.Round(time.Millisecond), 100*share, wakes, float64(wakes)/length.Seconds(), after.resident)
	opened := openMenu(t, desktop).latencies(home, man, 200)
	window := windowLatencies(t, env, 5)
	t.Logf("menu open → complete rows: %v; window visible: %v", opened, window)
	writeResults(t, []result{
		{"menu", "menu open → rows with what changed right before, at the panel", "≤ 16 ms p99", fmt.Sprintf("p50 %s, p99 %s", millis(opened.Percentile(50)), millis(opened.Percentile(99))), opened.Percentile(50).Seconds()},
		{"window", "window: click → visible (its list of 7 days follows: see the table)", "≤ 0.5 s with the list", fmt.Sprintf("median %s", millis(window.Percentile(50))), window.Percentile(50).Seconds()},
		{"rest", "tray at rest", "≤ 40 MB, ≤ 0.1 % of a core", fmt.Sprintf("%d MB, %.4f %% of a core, for %v", after.resident>>10, 100*share, length), float64(after.resident)},
	})
	if share > mostCPU {
		t.Errorf("the tray uses %.4f %% of a core, want at most %.1f %%", 100*share, 100*mostCPU)
	}
	if after.resident > mostResident {
		t.Errorf("%d KB resident, want at most %d", after.resident, mostResident)
	}
}

// startAgents makes stopped sessions live: Claude Code's by an entry in its
// registry, Codex's by a process that has the rollout open.
func startAgents(t *testing.T, home string, man corpus.Manifest) []string {
	t.Helper()
	const each = 5
	table := proc.Open()
	counts := map[adapters.Name]int{}
	var live []string
	for i := range man.Sessions {
		s := &man.Sessions[i]
		if counts[s.Agent] == each {
			continue
		}
		switch s.Agent {
		case agentname.ClaudeCode:
			p := must.Get(table.Find(run(t, "claude", "-")))(t)
			writeEntry(t, home, s, p, "idle")
		case agentname.Codex:
			rollouts, _ := filepath.Glob(filepath.Join(home, ".codex/sessions/*/*/*/*"+s.ID+".jsonl"))
			if len(rollouts) != 1 {
				t.Fatalf("rollouts of %s: %q", s.ID, rollouts)
			}
			run(t, "codex", rollouts[0])
		default:
			continue
		}
		counts[s.Agent]++
		live = append(live, s.ID)
	}
	return live
}

// run starts a process that has a file open and does nothing, until the test ends.
func run(t *testing.T, name, hold string) int {
	t.Helper()
	cmd := exec.Command("/tmp/" + name)
	cmd.Env = []string{holdKey + "=" + hold, "HOME=/tmp/corpus/home"}
	cmd.Stderr = os.Stderr
	in := must.Get(cmd.StdinPipe())(t)
	must.Do(t, cmd.Start())
	t.Cleanup(func() {
		_ = in.Close()
		_ = cmd.Wait()
	})
	return cmd.Process.Pid
}

func count(t *testing.T) int {
	t.Helper()
	rows := must.Get(proc.Open().List(t.Context()))(t)
	return len(rows)
}

// list returns the ids of the live sessions that Rollcall lists.
func list(t *testing.T, env []string) []string {
	t.Helper()
	cmd := exec.Command("/tmp/rollcall", "list", "--json")
	cmd.Env, cmd.Stderr = env, os.Stderr
	out := must.Get(cmd.Output())(t)
	var doc struct {
		Sessions []struct{ ID, Status string }
	}
	must.Do(t, json.Unmarshal(out, &doc))
	var ids []string
	for _, s := range doc.Sessions {
		ids = append(ids, s.ID+" "+s.Status)
	}
	return ids
}

// use is what a process has used so far.
type use struct {
	cpu      time.Duration
	wakes    int // voluntary context switches of all threads
	resident int // KB
}

func usage(t *testing.T, pid int) use {
	t.Helper()
	var u use
	threads := must.Get(filepath.Glob(fmt.Sprintf("/proc/%d/task/*", pid)))(t)
	for _, thread := range threads {
		text, err := os.ReadFile(thread + "/schedstat")
		if err != nil {
			continue // the thread has ended
		}
		ns := must.Get(strconv.ParseInt(strings.Fields(string(text))[0], 10, 64))(t)
		u.cpu += time.Duration(ns)
		u.wakes += field(t, thread+"/status", "voluntary_ctxt_switches")
	}
	u.resident = field(t, fmt.Sprintf("/proc/%d/status", pid), "VmRSS")
	return u
}

func field(t *testing.T, path, name string) int {
	t.Helper()
	text := must.Get(os.ReadFile(path))(t)
	for line := range strings.Lines(string(text)) {
		if key, value, _ := strings.Cut(line, ":"); key == name {
			n := must.Get(strconv.Atoi(strings.Fields(value)[0]))(t)
			return n
		}
	}
	t.Fatalf("%s: no %s", path, name)
	return 0
}
