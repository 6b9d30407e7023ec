package ui

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"rollcall/adapters"
	"rollcall/app"
	"rollcall/app/owned/launch"
	"rollcall/internal/agentname"
	"rollcall/internal/eventually"
	"rollcall/internal/must"
	"rollcall/internal/uitest"
	"rollcall/proc"
)

func init() {
	roles["agent"] = playAgent
	roles["wrapper"] = playWrapper
	roles["fail"] = func() int { fmt.Println("no such model"); return 3 }
}

// entry is a session as the tests' agent stores it.
type entry struct {
	ID, Prompt, Dir string
	Args            []string
	Process         proc.Identity
}

// playAgent is the tests' agent: this binary, re-executed. It writes its session
// into its storage and works until it gets a signal to end, as agents do.
func playAgent() int {
	store := os.Getenv("FAKE_STORE")
	prompt, _ := io.ReadAll(os.Stdin)
	dir, _ := os.Getwd()
	e := entry{ID: fmt.Sprintf("s-%d", os.Getpid()), Prompt: string(prompt), Dir: dir, Args: os.Args[1:]}
	if i := slices.Index(e.Args, "--resume"); i >= 0 {
		e.ID = e.Args[i+1]
	}
	p, err := proc.OpenAt("/proc", "/etc").Find(os.Getpid())
	if err != nil {
		return 1
	}
	e.Process = p.Identity
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, syscall.SIGTERM, syscall.SIGINT)
	data, _ := json.Marshal(e)
	file := filepath.Join(store, e.ID)
	if os.WriteFile(file+".tmp", data, 0o600) != nil || os.Rename(file+".tmp", file) != nil {
		return 1
	}
	for {
		select {
		case <-signals:
			return 7
		case <-time.After(5 * time.Millisecond):
			if _, err := os.Stat(file + ".end"); err == nil {
				return 0
			}
		}
	}
}

// playWrapper starts the agent, and ends once that has its session.
func playWrapper() int {
	cmd := exec.Command(os.Args[0], os.Args[1:]...)
	cmd.Env = append(os.Environ(), roleVariable+"=agent")
	cmd.Stdin = os.Stdin
	cmd.Stdout = os.Stdout
	cmd.Stderr = os.Stderr
	if cmd.Start() != nil {
		return 1
	}
	for {
		if list, err := os.ReadDir(os.Getenv("FAKE_STORE")); err == nil && len(list) > 0 && !strings.HasSuffix(list[0].Name(), ".tmp") {
			return 0
		}
		time.Sleep(3 * time.Millisecond)
	}
}

// realAgent is the adapter of the tests' agent.
type realAgent struct {
	uitest.Agent
	store  string
	table  *proc.Table
	mu     sync.Mutex
	status adapters.Status // of live sessions; empty: working
}

func (a *realAgent) be(s adapters.Status) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.status = s
}

func (a *realAgent) WatchPaths() []string { return []string{a.store} }

func (a *realAgent) Program(func(string) (string, error)) (string, error) { return os.Args[0], nil }

func (a *realAgent) Discover(_ context.Context, q adapters.Query) (adapters.Roll, error) {
	roll := adapters.Roll{LookedIn: []string{a.store}}
	names, err := os.ReadDir(a.store)
	a.mu.Lock()
	status := a.status
	a.mu.Unlock()
	if status == "" {
		status = adapters.Working
	}
	for _, n := range names {
		if strings.Contains(n.Name(), ".") || q.IDs != nil && !slices.Contains(q.IDs, n.Name()) {
			continue
		}
		var e entry
		data, readErr := os.ReadFile(filepath.Join(a.store, n.Name()))
		if readErr != nil || json.Unmarshal(data, &e) != nil {
			continue
		}
		s := adapters.Session{
			ID: e.ID, Agent: a.Name(), Files: []string{filepath.Join(a.store, n.Name())},
			State: adapters.State{Status: status, Evidence: "its file"},
			Owner: adapters.Owner{Process: e.Process},
			Place: adapters.Place{CWD: e.Dir},
			Topic: adapters.Topic{Title: e.Prompt},
			Times: adapters.Times{LastActivityAt: time.Now()},
		}
		if !a.table.Alive(e.Process) {
			s.Status = adapters.Stopped
			s.Outcome = adapters.Completed
			s.Process = proc.Identity{}
		}
		roll.Sessions = append(roll.Sessions, s)
	}
	return roll, err
}

// realWindow is a window over a real core, with launches that start this binary.
type realWindow struct {
	*window
	agent *realAgent
	core  *app.Core
	dir   string
}

func openReal(t *testing.T, role string) *realWindow {
	t.Helper()
	table := proc.OpenAt("/proc", "/etc")
	agent := &realAgent{Agent: fakeAgent{As: agentname.ClaudeCode, Offers: usualAgents()[0].(*fakeAgent).Offers}, store: t.TempDir(), table: table}
	dir, err := filepath.EvalSymlinks(t.TempDir())
	must.Do(t, err)
	launches := launch.In(filepath.Join(t.TempDir(), "state"), table)
	core := app.New(app.Config{Adapters: []adapters.Adapter{agent}, Table: table, Launches: launches})
	core.Refresh(t.Context())
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- core.Run(ctx) }()
	t.Cleanup(func() { cancel(); <-done })
	w := openWith(t, core, Options{Agents: []adapters.Adapter{agent}, Launches: launches, Table: table})
	t.Cleanup(func() {
		killAgents(t, table, agent.store)
		eventually.True(t, "the window to note the ends", func() bool { return allOver(launches) })
	})
	w.ui.environ = func() []string {
		return append(os.Environ(), roleVariable+"="+role, "FAKE_STORE="+agent.store, "GORACE=atexit_sleep_ms=0")
	}
	w.ui.ShowLaunch()
	w.until("the agents", w.launchPage().asked)
	w.launchPage().folder.SetText(dir)
	return &realWindow{window: w, agent: agent, core: core, dir: dir}
}

// recordOf returns the stored record of a launch.
func recordOf(l *launch.Launches, id string) (r launch.Record, known bool) {
	list, _ := l.List()
	for _, r := range list {
		if r.ID == id {
			return r, true
		}
	}
	return r, false
}

// allOver reports whether the ends of all agents are noted, but of those that outlived the started process: only a keeper, which these
// windows do not have, notes theirs.
func allOver(l *launch.Launches) bool {
	list, err := l.List()
	return err == nil && !slices.ContainsFunc(list, func(r launch.Record) bool { return !r.Ended() && len(r.Former) == 0 })
}

// killAgents ends what a test started and nothing else.
func killAgents(t *testing.T, table *proc.Table, store string) {
	list, err := table.List(context.Background())
	if err != nil {
		t.Error(err)
	}
	for _, p := range list {
		env, err := table.Env(p.Identity)
		if err != nil || !slices.Contains(env, "FAKE_STORE="+store) {
			continue
		}
		if h, err := table.Hold(p.Identity); err == nil {
			_ = h.Send(proc.Kill)
			h.Close()
		}
	}
}

func (w *realWindow) run() string {
	if len(w.launchPage().runs.Objects) == 0 {
		return ""
	}
	return strings.Join(shownTexts(w.launchPage().runs), "\n")
}

func (w *realWindow) launch(prompt string) {
	w.t.Helper()
	w.launchPage().prompt.SetText(prompt)
	w.launchPage().launch()
	w.until("the launch", func() bool { return !w.launchPage().busy() })
}

// started launches an agent and returns its session, once it is listed.
func (w *realWindow) started(prompt string) app.Session {
	w.t.Helper()
	w.launch(prompt)
	w.until("the session", func() bool { return strings.Contains(w.run(), "is listed") })
	var found app.Session
	w.until("its row", func() bool {
		for _, s := range w.ui.sessions.view.Snapshot.Sessions() {
			if s.Title == prompt && s.Live() && s.Launch != nil && !s.Launch.Unlisted {
				found = s
				return true
			}
		}
		return false
	})
	return found
}

// TestLaunchForReal: an agent is launched in the background, shows up in the
// list, and its end is shown.
func TestLaunchForReal(t *testing.T) {
	w := openReal(t, "agent")
	s := w.started("do 'it'; $(x)")
	if s.Launch.Prompt != "do 'it'; $(x)" || s.CWD != w.dir {
		t.Errorf("the session is %+v", s)
	}
	tap(t, w.launchPage().runs, "Show session")
	w.until("the session in the list", func() bool {
		return w.ui.page == pageSessions && w.ui.sessions.selected.ID == s.ID
	})
	// The folder is taken now.
	w.ui.ShowLaunch()
	w.launch("again")
	shows(t, w.launchPage().refused, "works here", "Launch in a worktree")
	must.Do(t, os.WriteFile(filepath.Join(w.agent.store, s.ID+".end"), nil, 0o600))
	w.until("its end", func() bool { return strings.Contains(w.run(), "Finished after") })
	w.until("the end to be noted", func() bool {
		list, err := w.ui.options.Launches.List()
		return err == nil && len(list) == 1 && list[0].Ended() && list[0].ExitCode != nil && *list[0].ExitCode == 0
	})
	locks, err := w.ui.options.Launches.Locks().List()
	if err != nil || len(locks) > 0 {
		t.Errorf("locks %v, %v", locks, err)
	}
}

// TestLaunchBehindWrapper: the death of a wrapper is not the death of the agent.
func TestLaunchBehindWrapper(t *testing.T) {
	w := openReal(t, "wrapper")
	s := w.started("do it")
	rec, _ := recordOf(w.ui.options.Launches, s.Launch.ID)
	w.until("the wrapper's end", func() bool { return !w.agent.table.Alive(rec.Former[0]) })
	if rec, _ := recordOf(w.ui.options.Launches, s.Launch.ID); rec.Ended() || rec.Process != s.Process {
		t.Errorf("the launch is %+v, its agent is %v", rec, s.Process)
	}
	if locks, err := w.ui.options.Launches.Locks().List(); err != nil || len(locks) != 1 || locks[0].Owner != s.Process {
		t.Errorf("locks %+v, %v", locks, err)
	}
	if text := w.run(); strings.Contains(text, "Finished") || strings.Contains(text, "Ended with") {
		t.Errorf("an end is shown: %s", text)
	}
}

// TestLaunchThatFails: an agent that ends at once says why.
func TestLaunchThatFails(t *testing.T) {
	w := openReal(t, "fail")
	w.launch("do it")
	w.until("its end", func() bool { return strings.Contains(w.run(), "no such model") })
	shows(t, w.launchPage().runs, "Ended with exit code 3 before it listed a session")
	tap(t, w.launchPage().runs, "") // the cross
	if len(w.launchPage().runs.Objects) > 0 {
		t.Error("it can't be taken off the page")
	}
}

// showWorktrees opens the sheet that removes the worktrees of a group.
func (w *window) showWorktrees(repo, group string) {
	w.t.Helper()
	w.ui.upkeep.Compare(repo, group)
	w.until("the comparison", func() bool { return !w.ui.host.Sheet.IsWaiting() })
	tap(w.t, w.ui.host.Sheet.Popup, "Clean up…")
	w.until("the worktrees", func() bool { return !w.ui.host.Sheet.IsWaiting() })
}

// TestLaunchGroup: several agents work in a worktree each, and are compared.
func TestLaunchGroup(t *testing.T) {
	w := openReal(t, "agent")
	repo := filepath.Join(w.dir, "app")
	git(t, w.dir, "init", "-q", "-b", "main", repo)
	git(t, repo, "commit", "-q", "--allow-empty", "-m", "first")
	p := w.launchPage()
	p.folder.SetText(repo)
	p.choices[0].model.SetText("opus, sonnet")
	p.prompt.SetText("do it")
	p.group.SetText("g-abc")
	w.command("--model opus", "--model sonnet", "in group g-abc")
	if p.start.Text != "Launch 2 agents" {
		t.Errorf("the button says %q", p.start.Text)
	}
	w.launch("do it")
	w.until("both sessions", func() bool { return strings.Count(w.run(), "is listed") == 2 })
	shows(t, p.runs, "Group g-abc", "2 agents started", "Claude Code opus in "+repo+"-try-g-abc-cc-opus", "Claude Code sonnet in")
	must.Do(t, os.WriteFile(filepath.Join(repo+"-try-g-abc-cc-opus", "new.txt"), []byte("x"), 0o600))
	tap(t, p.runs, "Compare…")
	w.until("the comparison", func() bool { return w.ui.host.Sheet != nil && !w.ui.host.Sheet.IsWaiting() })
	shows(t, w.ui.host.Sheet.Popup, "cc-opus", "cc-sonnet", "New files", "working")
	// Worktrees that are worked in stay.
	tap(t, w.ui.host.Sheet.Popup, "Clean up…")
	w.until("the worktrees", func() bool { return !w.ui.host.Sheet.IsWaiting() })
	shows(t, w.ui.host.Sheet.Popup, "cannot be removed: Claude Code s-", " (working) works in it", "Remove 0 worktrees")
	killAgents(t, w.agent.table, w.agent.store)
	w.until("their ends", func() bool {
		// The worktrees join a question that is under way: it may have been answered before the agents ended.
		live := slices.ContainsFunc(w.ui.sessions.view.Snapshot.Sessions(), func(s app.Session) bool { return s.Live() })
		return strings.Count(w.run(), "Ended with exit code") == 2 && !live
	})
	w.showWorktrees(repo, "g-abc")
	shows(t, w.ui.host.Sheet.Popup, "loses 1 untracked file", "Remove 1 worktree")
	tap(t, w.ui.host.Sheet.Popup, "Remove 1 worktree")
	w.until("the removal", func() bool { return slices.Contains(shownTexts(w.ui.host.Sheet.Popup), "removed") })
	if _, err := os.Stat(repo + "-try-g-abc-cc-sonnet"); !os.IsNotExist(err) {
		t.Errorf("the worktree is still there: %v", err)
	}
	if _, err := os.Stat(repo + "-try-g-abc-cc-opus"); err != nil {
		t.Errorf("work was lost: %v", err)
	}
	w.ui.showGroup("g-abc")
	w.until("the group's sessions", func() bool { return w.ui.sessions.view.Filter == "g-abc" })
	if n := w.ui.sessions.view.Matching; n != 2 {
		t.Errorf("%d sessions are of the group", n)
	}
	// What one of them changed leads to the comparison with the others.
	for _, s := range w.ui.sessions.view.ByKey {
		if strings.HasSuffix(s.CWD, "cc-opus") {
			w.ui.Show(s.ID)
		}
	}
	d := w.ui.sessions.detail
	d.showChanges(d.session)
	tap(t, d.content, "Compare its group")
	w.until("the comparison", func() bool { return w.ui.host.Sheet != nil && !w.ui.host.Sheet.IsWaiting() })
	shows(t, w.ui.host.Sheet.Popup, "Group g-abc", "cc-opus", "New files")
}

func git(t *testing.T, dir string, args ...string) {
	t.Helper()
	cmd := exec.Command("git", append([]string{"-c", "user.name=t", "-c", "user.email=t@example.org"}, args...)...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_SYSTEM=/dev/null")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("git %v: %v: %s", args, err, out)
	}
}
