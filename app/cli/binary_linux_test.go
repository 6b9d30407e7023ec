package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"rollcall/adapters"
	"rollcall/internal/adaptertest"
	"rollcall/internal/must"
	"rollcall/proc"
)

// binary builds the program once, as servers have it: static, without cgo.
var binary = sync.OnceValues(func() (string, error) {
	dir, err := os.MkdirTemp("", "rollcall-cli-")
	if err != nil {
		return "", err
	}
	built = dir
	path := filepath.Join(dir, "rollcall")
	cmd := exec.Command("go", "build", "-tags", "headless", "-ldflags", "-s -w -X main.version=9.8.7", "-o", path, "rollcall") // without debug information: linking takes half of the time
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := cmd.CombinedOutput(); err != nil {
		return dir, fmt.Errorf("%w: %s", err, out)
	}
	return path, nil
})

var built string // the folder of binary

func removeBinary() {
	if built != "" {
		_ = os.RemoveAll(built)
	}
}

func program(t testing.TB) string {
	t.Helper()
	path := must.Get(binary())(t)
	return path
}

// recordings are the recorded homes of all adapters.
func recordings(t testing.TB) []string {
	t.Helper()
	dirs, err := filepath.Glob("../../adapters/*/testdata/recordings/*")
	if err != nil || len(dirs) < 10 {
		t.Fatalf("%d recordings, %v", len(dirs), err)
	}
	// A gateway's recording has frames, no home: its adapter replays them.
	return slices.DeleteFunc(dirs, func(dir string) bool {
		_, err := os.Stat(filepath.Join(dir, "processes.json"))
		return err != nil
	})
}

func execute(t testing.TB, env []string, args ...string) result {
	t.Helper()
	path := program(t)                                                                     // built before the clock runs
	ctx, cancel := context.WithTimeout(context.WithoutCancel(t.Context()), 30*time.Second) // also for a cleanup
	defer cancel()
	cmd := exec.CommandContext(ctx, path, args...)
	cmd.Env = env
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	if err := cmd.Run(); err != nil && cmd.ProcessState == nil {
		t.Fatal(err)
	}
	return result{cmd.ProcessState.ExitCode(), out.String(), errs.String()}
}

// printed is a session as JSON, back in the adapters' form as far as JSON goes.
type printed struct {
	ID          string
	Agent       adapters.Name
	Status      adapters.Status
	WaitingFor  adapters.WaitingFor `json:"waiting_for"`
	Outcome     adapters.Outcome
	Evidence    string
	PID         int
	CWD         string
	Branch      string
	Model       string
	Title       string
	FirstPrompt string `json:"first_prompt"`
	LastPrompt  string `json:"last_prompt"`
	Parent      string
	Tokens      *adapters.Tokens
	CostUSD     float64 `json:"cost_usd"`
}

func (p printed) session(table *proc.Table) adapters.Session {
	s := adapters.Session{
		ID: p.ID, Agent: p.Agent, Model: p.Model, Parent: p.Parent,
		State: adapters.State{Status: p.Status, WaitingFor: p.WaitingFor, Outcome: p.Outcome, Evidence: p.Evidence},
		Place: adapters.Place{CWD: p.CWD, Branch: p.Branch},
		Topic: adapters.Topic{Title: p.Title, FirstPrompt: p.FirstPrompt, LastPrompt: p.LastPrompt},
		Spent: adapters.Spent{Tokens: p.Tokens, CostUSD: p.CostUSD},
	}
	if found, err := table.Find(p.PID); p.PID != 0 && err == nil {
		s.Process = found.Identity
	}
	return s
}

// TestRecordings: the program says of each recorded home what a correct monitor
// must say, and writes nothing there.
func TestRecordings(t *testing.T) {
	for _, dir := range recordings(t) {
		t.Run(filepath.Base(dir), func(t *testing.T) {
			rec := adaptertest.Replay(t, dir)
			adaptertest.Untouched(t, rec.Home)
			env := append(adaptertest.Env(rec), "XDG_CACHE_HOME="+t.TempDir())
			r := execute(t, env, "list", "--since", "all", "--json", "--strict")
			if r.code != Done || r.err != "" {
				t.Fatalf("exit code %d: %s", r.code, r.err)
			}
			var doc struct{ Sessions []printed }
			must.Do(t, json.Unmarshal([]byte(r.out), &doc))
			var got []adapters.Session
			for _, p := range doc.Sessions {
				got = append(got, p.session(rec.Table))
			}
			adaptertest.Check(t, got, rec.Expect)

			for _, s := range got[:min(len(got), 2)] {
				r := execute(t, env, "status", s.ID)
				if r.code != Done || !strings.Contains(r.out, s.ID) {
					t.Errorf("status %s: %+v", s.ID, r)
				}
			}
			if r := execute(t, env, "doctor", "--strict"); r.code != Done {
				t.Errorf("doctor: %+v", r)
			}
			table := execute(t, env, "list", "--since", "all").out
			for _, s := range got {
				if !strings.Contains(table, "  "+s.ID) {
					t.Errorf("%s is not in the table:\n%s", s.ID, table)
				}
			}
		})
	}
}

func empty(t *testing.T) []string {
	t.Helper()
	return []string{"HOME=" + t.TempDir(), "PATH=" + os.Getenv("PATH"), "HOST_PROC=" + t.TempDir()}
}

func TestProgramWithoutArgument(t *testing.T) {
	r := execute(t, empty(t))
	if r.code != Usage || !strings.Contains(r.out, "list ") || !strings.Contains(r.err, "this build has no tray") {
		t.Errorf("%+v", r)
	}
	if strings.Contains(r.out, "\n  window ") {
		t.Errorf("help offers a window:\n%s", r.out)
	}
}

func TestProgramVersion(t *testing.T) {
	for _, arg := range []string{"version", "--version"} {
		if r := execute(t, empty(t), arg); r.code != Done || !strings.HasPrefix(r.out, "rollcall 9.8.7 (headless, linux/") {
			t.Errorf("%s: %+v", arg, r)
		}
	}
}

// TestNothingInstalled: no agent is there; that is no failure.
func TestNothingInstalled(t *testing.T) {
	r := execute(t, empty(t), "list", "--strict")
	if r.code != Done || r.out != "" || r.err != "rollcall: no agent is installed\n" {
		t.Errorf("%+v", r)
	}
}

// endless is an environment with a transcript that nobody reads to its end.
func endless(t *testing.T) []string {
	t.Helper()
	env := empty(t)
	dir := filepath.Join(strings.TrimPrefix(env[0], "HOME="), ".claude", "projects", "-p")
	must.Do(t, os.MkdirAll(dir, 0o700))
	const record = `{"type":"user","message":{"role":"user","content":"hello"},"sessionId":"%[1]s","cwd":"/p","version":"2.1.329","timestamp":"%[2]s"}` + "\n"
	for _, id := range []string{"11111111-0000-4000-8000-000000000000", "22222222-0000-4000-8000-000000000000"} {
		path := filepath.Join(dir, id+".jsonl")
		must.Do(t, os.WriteFile(path, fmt.Appendf(nil, record, id, time.Now().UTC().Format(time.RFC3339)), 0o600))
		if id[0] == '2' {
			if err := os.Truncate(path, 1<<40); err != nil { // sparse
				t.Skip(err)
			}
		}
	}
	return env
}

// TestProgramDoesNotHang: the other session is listed, and this one with the reason, though reading all of it would take hours.
func TestProgramDoesNotHang(t *testing.T) {
	r := execute(t, endless(t), "list", "--all", "--json")
	if r.code != Done || !strings.Contains(r.out, "11111111-") {
		t.Errorf("%+v", r)
	}
}

func TestProgramIntoAClosedPipe(t *testing.T) {
	rec := adaptertest.Replay(t, recordings(t)[0])
	read, write, err := os.Pipe()
	must.Do(t, err)
	cmd := exec.Command(program(t), "list", "--since", "all", "--json")
	cmd.Env = adaptertest.Env(rec)
	var errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = write, &errs
	_ = read.Close()
	_ = cmd.Run()
	_ = write.Close()
	if errs.Len() > 0 {
		t.Errorf("printed %q", errs.String())
	}
}

// TestProgramIsStatic: it runs on any Linux, whatever its libraries.
func TestProgramIsStatic(t *testing.T) {
	out := must.Get(exec.Command("go", "version", "-m", program(t)).Output())(t)
	if !strings.Contains(string(out), "CGO_ENABLED=0") {
		t.Error("built with cgo")
	}
}
