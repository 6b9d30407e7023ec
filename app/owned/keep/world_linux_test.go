package keep

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"rollcall/internal/eventually"
	"rollcall/internal/must"
	"rollcall/internal/namespaces"
	"rollcall/proc"
)

const (
	stageKey      = "ROLLCALL_KEEP_TEST_STAGE"
	workKey       = "ROLLCALL_KEEP_TEST_WORK"
	asInit        = "init"
	asTest        = "test"
	insideProgram = "/tmp/rollcall" // inside
)

func TestMain(m *testing.M) {
	if os.Getenv(stageKey) == asAsker {
		ask()
		os.Exit(0)
	}
	if os.Getenv(stageKey) == asInit {
		namespaces.Main(os.Getenv(workKey), stageKey+"="+asTest, nil)
	}
	_ = flag.Set("test.parallel", "6") // the tests only wait, each in a world of its own; the flag exists
	var err error
	built, err = os.MkdirTemp("", "rollcall-keep-")
	if err != nil {
		fmt.Fprintln(os.Stderr, "keep:", err)
		os.Exit(1)
	}
	code := m.Run()
	_ = os.RemoveAll(built)
	os.Exit(code)
}

var built string // the folder of the programs

// build builds the static program, with what tests need.
var build = sync.OnceValues(func() (string, error) { return buildWith("headless,netgo,osusergo,faults", "0") })

// buildWith builds the program with these tags, and returns its path.
func buildWith(tags, cgo string) (string, error) {
	path := filepath.Join(built, "rollcall-"+cgo)
	cmd := exec.Command("go", "build", "-tags", tags, "-ldflags", "-X main.version=1.2.3", "-o", path, "rollcall")
	cmd.Env = append(os.Environ(), "CGO_ENABLED="+cgo)
	if out, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("%w: %s", err, out)
	}
	return path, nil
}

// world is a machine without a desktop: it has a process table, a /tmp and a loopback of its own.
type world struct {
	t     *testing.T
	env   []string
	table *proc.Table
}

// agent is the agent of the tests. It notes that it was started, and ends as the file end says: with an exit code, or
// by a signal.
const agent = `#!/bin/sh
echo "$ROLLCALL_LAUNCH" >> /tmp/started
until [ -s "/tmp/end$AGENT" ]; do sleep 0.02; done
read how < "/tmp/end$AGENT"
case $how in kill) kill -9 $$;; esac
exit $how
`

// inWorld runs the test again in namespaces of its own, where it returns the world. Outside it returns nil.
func inWorld(t *testing.T) *world {
	t.Helper()
	return inWorldOf(t, build)
}

// inWorldOf is inWorld with another program, which build builds.
func inWorldOf(t *testing.T, build func() (string, error)) *world {
	t.Helper()
	if os.Getenv(stageKey) != asTest {
		enter(t, build)
		return nil
	}
	w := &world{t: t, table: proc.OpenAt("/proc", "/etc")}
	for _, dir := range []string{"/tmp/home", "/tmp/run", "/tmp/bin", "/tmp/work", "/tmp/other"} {
		w.check(os.MkdirAll(dir, 0o700))
	}
	w.write("/tmp/bin/codex", agent)
	w.check(os.Chmod("/tmp/bin/codex", 0o700))
	w.env = []string{"HOME=/tmp/home", "XDG_RUNTIME_DIR=/tmp/run", "PATH=/tmp/bin:" + os.Getenv("PATH"), "ROLLCALL_CLOCK=/tmp/clock", "ROLLCALL_WAIT=2s", "GOGC=50"}
	return w
}

// enter runs the test in namespaces, beside other tests. It skips the test where that is not permitted; in CI it fails.
func enter(t *testing.T, build func() (string, error)) {
	t.Helper()
	t.Parallel()
	path := must.Get(build())(t)
	work := t.TempDir()
	must.Do(t, copyFile(path, filepath.Join(work, "rollcall")))
	namespaces.Enter(t, stageKey+"="+asInit, workKey+"="+work)
}

func copyFile(from, to string) error {
	data, err := os.ReadFile(from)
	if err != nil {
		return err
	}
	return os.WriteFile(to, data, 0o700)
}

func (w *world) check(err error) {
	w.t.Helper()
	must.Do(w.t, err)
}

func (w *world) write(path, text string) {
	w.t.Helper()
	w.check(os.WriteFile(path+".new", []byte(text), 0o600))
	w.check(os.Rename(path+".new", path))
}

func (w *world) read(path string) string {
	text, err := os.ReadFile(path)
	if err != nil && !os.IsNotExist(err) {
		w.t.Fatal(err)
	}
	return string(text)
}

// run runs the program and returns its exit code and what it printed.
func (w *world) run(args ...string) (code int, said string) { return w.runWith(nil, args...) }

func (w *world) runWith(env []string, args ...string) (code int, said string) {
	w.t.Helper()
	cmd := exec.Command(insideProgram, args...)
	cmd.Env = append(append([]string{}, w.env...), env...)
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	var exit *exec.ExitError
	if err := cmd.Run(); err != nil && !errors.As(err, &exit) {
		w.t.Fatal(err)
	}
	return cmd.ProcessState.ExitCode(), out.String()
}

// done runs the program, which must succeed.
func (w *world) done(args ...string) string {
	w.t.Helper()
	code, said := w.run(args...)
	if code != 0 {
		w.t.Fatalf("%v: exit code %d: %s\n%s", args, code, said, w.log())
	}
	return said
}

func (w *world) log() string { return w.read("/tmp/home/.local/state/rollcall/logs/keeper.log") }

// until waits for something.
func (w *world) until(what string, is func() bool) {
	w.t.Helper()
	if !eventually.Happens(is) {
		w.t.Fatalf("no %s\n%s", what, w.log())
	}
}

// keeperStatus is what keep --status --json prints.
type keeperStatus struct {
	Running                bool
	PID                    int
	Launches, Hooks, Fuses int
	Webhook                bool
	Version                string
}

func (w *world) status() (s keeperStatus) {
	w.t.Helper()
	w.check(json.Unmarshal([]byte(w.done("keep", "--status", "--json")), &s))
	return s
}

// keepers returns the keepers that run.
func (w *world) keepers() (out []proc.Process) {
	w.t.Helper()
	list, err := w.table.List(w.t.Context())
	w.check(err)
	for _, p := range list {
		line, err := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", p.PID))
		if err == nil && strings.HasSuffix(string(line), "rollcall\x00keep\x00") {
			out = append(out, p)
		}
	}
	return out
}

// kill kills the keeper and waits for its end.
func (w *world) kill(pid int) {
	w.t.Helper()
	p, err := w.table.Find(pid)
	if err != nil {
		return
	}
	h, err := w.table.Hold(p.Identity)
	if err != nil {
		return
	}
	defer h.Close()
	w.check(h.Send(proc.Kill))
	w.until("end of the keeper", func() bool { return !w.table.Alive(p.Identity) })
}

// record is what the tests read of a launch's record.
type record struct {
	ID       string
	ExitCode *int `json:"exit_code"`
	Signal   string
	EndedAt  time.Time `json:"ended_at"`
	Hooks    []struct {
		Result string
		RanAt  time.Time `json:"ran_at"`
		Runner proc.Identity
	}
}

func (w *world) records() (out []record) {
	w.t.Helper()
	for _, f := range w.recordFiles() {
		data, err := os.ReadFile(f)
		if os.IsNotExist(err) {
			continue
		}
		w.check(err)
		var r record
		w.check(json.Unmarshal(data, &r))
		out = append(out, r)
	}
	return out
}

func (w *world) recordFiles() []string {
	w.t.Helper()
	files, err := filepath.Glob("/tmp/home/.local/state/rollcall/launches/l-*.json")
	w.check(err)
	return files
}

// touchRecords changes the times of the records' files, which the keeper notices as a change.
func (w *world) touchRecords() {
	w.t.Helper()
	for _, f := range w.recordFiles() {
		if err := os.Chtimes(f, time.Time{}, time.Now()); !os.IsNotExist(err) {
			w.check(err)
		}
	}
}
