package onekey

import (
	"bytes"
	"context"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"rollcall/adapters"
	"rollcall/app/control/reading"
	"rollcall/internal/must"
	"rollcall/internal/namespaces"
)

// The test runs itself three times: on the machine, as the first process of namespaces of its own, and in these as a user without rights.
const (
	stageKey    = "ROLLCALL_ONE_KEY_STAGE"
	workKey     = "ROLLCALL_ONE_KEY_WORK" // the folder that becomes /tmp
	commandsKey = "ROLLCALL_ONE_KEY"      // how many commands; unset: a few
	limitKey    = "ROLLCALL_ONE_KEY_LIMIT"
	seedKey     = "ROLLCALL_HARNESS_SEED"
	judgeKey    = "ROLLCALL_ONE_KEY_JUDGE" // another judge than the rule, for comparison
	asInit      = "init"
	asFirst     = "first"
	asNobody    = "nobody"
	nobody      = 65534
)

func TestMain(m *testing.M) {
	if os.Getenv(stageKey) == asInit {
		namespaces.Main(os.Getenv(workKey), stageKey+"="+asFirst, nil)
	}
	os.Exit(m.Run())
}

// TestOneKey makes commands, and runs those that one key allows in every shell: none does more than to read files of its folder.
func TestOneKey(t *testing.T) {
	switch os.Getenv(stageKey) {
	case asFirst:
		dropRights(t)
	case asNobody:
		newOracle(t).run(t)
	default:
		must.Have(t, "strace", "setpriv", "bash", "dash", "zsh", "fish", "busybox", "git", "rg")
		work := t.TempDir()
		must.Do(t, os.Chmod(filepath.Dir(work), 0o755)) //nolint:gosec // the other user must reach it
		copyFile(t, "/proc/self/exe", filepath.Join(work, "onekey.test"))
		if judge := os.Getenv(judgeKey); judge != "" {
			copyFile(t, judge, filepath.Join(work, "judge"))
		}
		namespaces.Enter(t, stageKey+"="+asInit, workKey+"="+work)
	}
}

func copyFile(t *testing.T, from, to string) {
	t.Helper()
	data := must.Get(os.ReadFile(from))(t)
	must.Do(t, os.WriteFile(to, data, 0o755)) //nolint:gosec // another user runs it
}

// dropRights makes the file system read-only but for /tmp, and runs the test again as a user without rights.
func dropRights(t *testing.T) {
	t.Helper()
	must.Do(t, unix.Mount("", "/", "", unix.MS_REMOUNT|unix.MS_BIND|unix.MS_RDONLY, ""))
	args := []string{"--bounding-set=-all", "--inh-caps=-all", "--no-new-privs"}
	if isRoot() {
		args = append(args, "--reuid="+strconv.Itoa(nobody), "--regid="+strconv.Itoa(nobody), "--clear-groups")
	}
	cmd := exec.Command("setpriv", append(args, "/tmp/onekey.test", "-test.run=^TestOneKey$", "-test.timeout=0", "-test.v="+fmt.Sprint(testing.Verbose()))...)
	cmd.Env = append(os.Environ(), stageKey+"="+asNobody, "HOME=/tmp/home")
	cmd.Stdout = t.Output()
	cmd.Stderr = t.Output()
	must.Do(t, cmd.Run())
}

// isRoot reports whether this process may become another user. In a user namespace with one user it may not, and that user has no rights outside.
func isRoot() bool {
	users, err := os.ReadFile("/proc/self/uid_map")
	return err == nil && len(strings.Fields(string(users))) == 3 && strings.Fields(string(users))[2] != "1"
}

// shells are the shells that agents run commands in, and how.
var shells = map[string][]string{"bash": {"bash", "-c"}, "dash": {"dash", "-c"}, "zsh": {"zsh", "-c"}, "fish": {"fish", "-c"}, "busybox": {"busybox", "sh", "-c"}}

// oracle runs the commands that a judge allows.
type oracle struct {
	*generator
	folders  map[string]string         // of the projects, by their names
	baseline map[string]map[event]bool // what a shell does in a project by itself, by both
	seen     map[string]bool           // what was run
	commands int                       // how many to make
	end      time.Time                 // when to make no more
	judge    func(folder, shell string, list []string) []bool

	mu    sync.Mutex
	found map[string][]string // commands that did more, by what they did
	runs  int
}

func newOracle(t *testing.T) *oracle {
	t.Helper()
	number := func(key string, unset int) int {
		n, err := strconv.Atoi(os.Getenv(key))
		if err != nil {
			return unset
		}
		return n
	}
	o := &oracle{generator: newGenerator(t, uint64(number(seedKey, 1))), folders: map[string]string{}, baseline: map[string]map[event]bool{}, seen: map[string]bool{}, commands: number(commandsKey, 500), found: map[string][]string{}, judge: theRule}
	if limit, err := time.ParseDuration(os.Getenv(limitKey)); err == nil {
		o.end = time.Now().Add(limit)
	}
	if os.Getenv(judgeKey) != "" {
		o.judge = another
	}
	for _, p := range projects {
		folder := must.Get(makeProject(p))(t)
		o.folders[p.name] = folder
	}
	return o
}

// environment is that of an agent.
func environment(shell string) []string {
	return []string{"HOME=/tmp/home", "PATH=/usr/local/bin:/usr/bin:/bin", "SHELL=/bin/" + shell, "TERM=xterm-256color", "LANG=C.UTF-8", "USER=nobody"}
}

// theRule asks the rule itself.
func theRule(folder, shell string, list []string) (allowed []bool) {
	for _, text := range list {
		r := &adapters.Request{Kind: adapters.AsksCommand, Text: text, Folder: folder}
		allowed = append(allowed, reading.Is(r, reading.Place{Folder: folder, Env: environment(shell)}))
	}
	return allowed
}

// another asks a program, to which it gives the folder as its argument and a command a line, and which answers with a line that begins with ONEKEY for those
// that one key allows.
func another(folder, _ string, list []string) (allowed []bool) {
	var in bytes.Buffer
	for _, text := range list {
		in.WriteString(strings.NewReplacer("\n", `\NL`, "\t", `\TAB`).Replace(text) + "\n")
	}
	cmd := exec.Command("/tmp/judge", folder)
	cmd.Stdin, cmd.Stderr = &in, os.Stderr
	out, err := cmd.Output()
	if err != nil {
		panic(err)
	}
	lines := strings.Split(string(out), "\n")
	for i := range list {
		allowed = append(allowed, strings.HasPrefix(lines[i], "ONEKEY"))
	}
	return allowed
}

// job is a command that one key allows, in a project and a shell.
type job struct{ project, shell, text string }

// run makes commands until there are enough, or the time is over.
func (o *oracle) run(t *testing.T) {
	jobs := make(chan job)
	var workers sync.WaitGroup
	o.measureShells()
	for n := range runtime.NumCPU() + 1 {
		workers.Go(func() {
			for j := range jobs {
				o.check(j, n)
			}
		})
	}
	made, allowed := 0, 0
	distinct := map[string]bool{}
	for made < o.commands && (o.end.IsZero() || time.Now().Before(o.end)) {
		p := projects[made/batch%len(projects)]
		var list []string
		for range min(batch, o.commands-made) {
			if text := o.next(); !strings.ContainsRune(text, 0) && strings.TrimSpace(text) != "" && !strings.HasPrefix(text, "##") {
				list = append(list, text)
			} else {
				list = append(list, "pwd")
			}
		}
		made += len(list)
		for _, shell := range slices.Sorted(maps.Keys(shells)) {
			for i, ok := range o.judge(o.folders[p.name], shell, list) {
				if j := (job{p.name, shell, list[i]}); ok {
					allowed++
					distinct[p.name+" "+list[i]] = true
					if key := fmt.Sprint(j); !o.seen[key] {
						o.seen[key] = true
						jobs <- j
					}
				}
			}
		}
	}
	close(jobs)
	workers.Wait()
	t.Logf("%d commands; one key allowed %d of %d times that a shell was asked, %d distinct ones in a project; %d runs", made, allowed, made*len(shells), len(distinct), o.runs)
	for _, what := range slices.Sorted(maps.Keys(o.found)) {
		list := o.found[what]
		t.Errorf("%d times: %s, as by %s", len(list), what, strings.Join(list[:min(3, len(list))], " | "))
	}
	t.Logf("%d exceptions", len(o.found))
}

// batch is how many commands are judged at a time, in one project.
const batch = 250

// measureShells notes what each shell does in each project by itself.
func (o *oracle) measureShells() {
	for _, p := range projects {
		for shell := range shells {
			events, _ := o.trace(job{p.name, shell, ":"}, 0)
			own := map[event]bool{}
			for _, e := range events {
				own[e] = true
			}
			o.baseline[p.name+" "+shell] = own
		}
	}
}

// runLimit is how long a command may take on a busy machine.
const runLimit = 30 * time.Second

// trace runs a command under the tracer, and returns what it did. ended is false if it did not end.
func (o *oracle) trace(j job, worker int) (events []event, ended bool) {
	folder, log := o.folders[j.project], fmt.Sprintf("/tmp/trace-%d", worker)
	ctx, cancel := context.WithTimeout(context.Background(), runLimit)
	defer cancel()
	args := append([]string{"-f", "-qq", "-y", "-s", "4096", "-o", log, "-e", "trace=" + traced, "-e", "signal=none"}, shells[j.shell]...)
	cmd := exec.CommandContext(ctx, "strace", append(args, j.text)...)
	cmd.Dir = folder
	cmd.Env = environment(j.shell)
	cmd.WaitDelay = time.Second
	cmd.SysProcAttr = &unix.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return unix.Kill(-cmd.Process.Pid, unix.SIGKILL) }
	out, _ := cmd.CombinedOutput() // a command may fail
	text, err := os.ReadFile(log)
	if err != nil {
		panic(fmt.Sprintf("%v: %s", err, out))
	}
	return eventsOf(string(text), folder), ctx.Err() == nil
}

// check runs a job, and notes what it may not do.
func (o *oracle) check(j job, worker int) {
	events, ended := o.trace(j, worker)
	folder := o.folders[j.project]
	program, _, _ := strings.Cut(j.text, " ")
	own := o.baseline[j.project+" "+j.shell]
	o.mu.Lock()
	defer o.mu.Unlock()
	o.runs++
	did := []string{}
	if !ended {
		did = append(did, "does not end")
	}
	for i, e := range events {
		if i > 0 && !own[e] && e.isForbidden(program, folder, "/tmp/home") { // the first one executes the shell
			did = append(did, e.String())
		}
	}
	for _, what := range slices.Compact(did) {
		o.found[what] = append(o.found[what], fmt.Sprintf("%s in %s: %q", j.shell, j.project, j.text))
	}
}
