//go:build agents && linux

package agents

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"rollcall/adapters"
	"rollcall/adapters/pi"
	"rollcall/internal/must"
	"rollcall/proc"
)

// piWatch is Pi's adapter as the tray has it: asked again and again, with what it
// remembers of its earlier answers.
type piWatch struct {
	s       *Sandbox
	adapter *pi.Adapter
	mu      sync.Mutex
	last    []adapters.Session
}

// watchPi asks the adapter every 300 ms until the test ends.
func watchPi(s *Sandbox) *piWatch {
	w := &piWatch{s: s, adapter: pi.New(adapters.Config{Home: s.Home, Env: func(string) string { return "" }})}
	ctx, cancel := context.WithCancel(s.t.Context())
	var done sync.WaitGroup
	done.Go(func() {
		for ctx.Err() == nil {
			w.ask(ctx)
			select {
			case <-ctx.Done():
			case <-time.After(300 * time.Millisecond):
			}
		}
	})
	s.t.Cleanup(func() { cancel(); done.Wait() })
	return w
}

func (w *piWatch) ask(ctx context.Context) {
	roll, err := w.adapter.Discover(ctx, adapters.Query{})
	if ctx.Err() != nil {
		return
	}
	if err != nil {
		w.s.t.Errorf("Discover: %v", err)
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.last = roll.Sessions
}

// has waits until the session that began with a prompt is as wanted: "idle
// completed", and has the process; 0: none.
func (w *piWatch) has(prompt, want string, pid int) {
	w.s.t.Helper()
	w.hasOneOf(prompt, []string{want}, pid)
}

// hasOneOf is has with several states that are right, and processes.
func (w *piWatch) hasOneOf(prompt string, want []string, pids ...int) {
	w.s.t.Helper()
	var all []adapters.Session
	err := poll(20*time.Second, func() bool {
		w.mu.Lock()
		defer w.mu.Unlock()
		all = w.last
		return slices.ContainsFunc(all, func(x adapters.Session) bool {
			return strings.HasPrefix(x.FirstPrompt, prompt) && slices.Contains(pids, x.Process.PID) && slices.Contains(want, piState(x))
		})
	})
	if err != nil {
		w.s.t.Errorf("%q is not one of %q with one of the pids %d: %v in:%s", prompt, want, pids, err, describe(all))
	}
}

// lists waits until the process is listed.
func (w *piWatch) lists(p Process) {
	w.s.t.Helper()
	var all []adapters.Session
	err := poll(20*time.Second, func() bool {
		w.mu.Lock()
		defer w.mu.Unlock()
		all = w.last
		return slices.ContainsFunc(all, func(x adapters.Session) bool { return x.Process.PID == p.PID })
	})
	if err != nil {
		w.s.t.Errorf("%v is not listed: %v in:%s", p, err, describe(all))
	}
}

func piState(x adapters.Session) string {
	return strings.TrimSpace(string(x.Status) + " " + string(x.Outcome))
}

func describe(all []adapters.Session) string {
	var b strings.Builder
	for _, x := range all {
		b.WriteString("\n  " + piState(x) + " " + x.Process.String() + " " + x.FirstPrompt + ": " + x.Evidence)
	}
	return b.String()
}

// A fresh Pi in a folder leaves the folder's ended session as it is, and is
// listed without a session until its first prompt.
func TestPiFreshBesideEnded(t *testing.T) {
	each(t, pis, func(t *testing.T, s *Sandbox, r Release) {
		complete(s, r, "-p", "ended before")
		piWrote(s, 1)
		s.Becomes(byPrompt("ended before"), time.Now(), soon, "stopped/completed")
		terminal, agent := openPi(s, r)
		fresh := s.Becomes(byPID(agent.PID), time.Now(), soon, "idle", "unknown") // a first start can write as much as a first turn: see freshLimit
		if !strings.HasPrefix(fresh.ID, "process-") || fresh.CWD != s.Project {
			t.Errorf("fresh: %v in %s", fresh, fresh.CWD)
		}
		s.Stays(byPrompt("ended before"), time.Second, "stopped/completed")
		terminal.PromptUntil("its own", "Mock answer to: its own")
		s.Becomes(byPrompt("its own"), time.Now(), soon, "idle/completed")
		s.Becomes(byPID(agent.PID), time.Now(), soon, "idle/completed")
		s.Becomes(byPrompt("ended before"), time.Now(), soon, "stopped/completed")
	})
}

// A session whose turn was left open by a killed Pi is opened again without a prompt, and closed. While it is open, its status is not known.
func TestPiReopenedWithoutPrompt(t *testing.T) {
	each(t, pis, func(t *testing.T, s *Sandbox, r Release) {
		complete(s, r, "-p", "killed later")
		piWrote(s, 1)
		_, agent, asked := detachPi(s, r, "killed now [[delay 60]]", "-c")
		s.Becomes(byPrompt("killed later"), asked, soon, "working")
		s.Kill(agent)
		s.Becomes(byPrompt("killed later"), time.Now(), soon, "stopped/died")
		terminal := s.Open(s.Argv(r, "-c")...)
		terminal.Shows("killed now")
		agent = s.Descendant(terminal.PID(), "pi")
		s.Becomes(byPrompt("killed later"), time.Now(), soon, "unknown") // Pi stores which session it opened with its first record
		terminal.Leave("/quit", agent)
		s.Becomes(byPrompt("killed later"), time.Now(), soon, "stopped/died")
	})
}

// Three were started together, before the first had a session, and one is killed in mid-turn. Where their starts lie too close to tell whose
// session is whose, none has a process, and after the kill nobody knows; no session is ever given to another's process, or called dead.
func TestPiKilledOfThree(t *testing.T) {
	each(t, pis, func(t *testing.T, s *Sandbox, r Release) {
		w := watchPi(s)
		var terminals []*Terminal
		for range 3 {
			terminals = append(terminals, s.Open(s.Argv(r)...))
		}
		prompts := []string{"first job", "second job", "third job"}
		var agents []Process
		for i, terminal := range terminals { // all are seen before the first has a session
			terminal.Shows("/128k")
			agents = append(agents, s.Descendant(terminal.PID(), "pi"))
			w.lists(agents[i])
		}
		for i, terminal := range terminals {
			terminal.PromptUntil(prompts[i], "Mock answer to: "+prompts[i])
			w.hasOneOf(prompts[i], []string{"idle completed"}, agents[i].PID, 0)
		}
		terminals[1].Prompt("killed in it [[delay 60]]")
		w.hasOneOf(prompts[1], []string{"working"}, agents[1].PID, 0)
		s.Kill(agents[1])
		w.hasOneOf(prompts[1], []string{"stopped died", "unknown"}, 0)
		w.hasOneOf(prompts[0], []string{"idle completed", "unknown"}, agents[0].PID, 0)
		w.hasOneOf(prompts[2], []string{"idle completed", "unknown"}, agents[2].PID, 0)
	})
}

// /new in one of two leaves the other one's session at work.
func TestPiNewBesideWorking(t *testing.T) {
	each(t, pis, func(t *testing.T, s *Sandbox, r Release) {
		w := watchPi(s)
		first, firstAgent := openPi(s, r)
		second, secondAgent := openPi(s, r)
		first.PromptUntil("the first", "Mock answer to: the first")
		w.has("the first", "idle completed", firstAgent.PID)
		second.PromptUntil("the second", "Mock answer to: the second")
		w.has("the second", "idle completed", secondAgent.PID)
		second.Prompt("goes on [[delay 60]]")
		w.has("the second", "working", secondAgent.PID)
		first.Enter("/new")
		first.Shows("New session started")
		first.PromptUntil("another one", "Mock answer to: another one")
		w.has("another one", "idle completed", firstAgent.PID)
		w.has("the second", "working", secondAgent.PID)
		w.has("the first", "stopped completed", 0)
	})
}

// A second run in a folder is seen, and its folder is watched.
func TestPiSecondRunInFolder(t *testing.T) {
	each(t, pis, func(t *testing.T, s *Sandbox, r Release) {
		complete(s, r, "-p", "the first run")
		piWrote(s, 1)
		stored, err := filepath.Glob(filepath.Join(s.Home, ".pi", "agent", "sessions", "*"))
		if err != nil || len(stored) != 1 {
			t.Fatal(stored, err)
		}
		a := pi.New(adapters.Config{Home: s.Home, Env: func(string) string { return "" }})
		ask := func() []adapters.Session {
			t.Helper()
			roll := must.Get(a.Discover(t.Context(), adapters.Query{Since: time.Now()}))(t)
			return roll.Sessions
		}
		if all := ask(); len(all) != 0 || slices.Contains(a.WatchPaths(), stored[0]) {
			t.Errorf("before: %v, watched: %v", all, a.WatchPaths())
		}
		terminal, agent := openPi(s, r)
		row, err := proc.Open().Find(agent.PID)
		if err != nil || !a.OwnsProcess(row) {
			t.Errorf("process %v is not owned, %v", agent, err)
		}
		if all := ask(); len(all) != 1 || all[0].Process != row.Identity || !slices.Contains(a.WatchPaths(), stored[0]) {
			t.Errorf("after: %s, watched: %v", describe(all), a.WatchPaths())
		}
		terminal.Prompt("the second run [[bash sleep 6.5]]")
		command := s.Agent("sleep", "6.5")
		if row, err := proc.Open().Find(command.PID); err != nil || a.OwnsProcess(row) {
			t.Errorf("command %v is owned, %v", command, err)
		}
		if all := ask(); len(all) != 1 || all[0].Status != adapters.Working || all[0].Process != row.Identity {
			t.Errorf("at work: %s", describe(all))
		}
		terminal.Shows("Done.")
		if all := ask(); len(all) != 1 || piState(all[0]) != "idle completed" || all[0].FirstPrompt == "the first run" {
			t.Errorf("over: %s", describe(all))
		}
	})
}

// The session of a Pi with an agent folder of its own stays listed after its end.
func TestPiHomeElsewhere(t *testing.T) {
	nightly(t)
	each(t, pis, func(t *testing.T, s *Sandbox, r Release) {
		w := watchPi(s)
		elsewhere := filepath.Join(s.Home, "elsewhere")
		must.Do(t, os.CopyFS(elsewhere, os.DirFS(filepath.Join(s.Home, ".pi", "agent"))))
		terminal := s.Open(append([]string{"env", "PI_CODING_AGENT_DIR=" + elsewhere}, s.Argv(r)...)...)
		terminal.Shows("/128k")
		agent := s.Descendant(terminal.PID(), "pi")
		terminal.PromptUntil("far away", "Mock answer to: far away")
		w.has("far away", "idle completed", agent.PID)
		if !slices.Contains(w.adapter.WatchPaths(), filepath.Join(elsewhere, "sessions")) {
			t.Errorf("watched: %v", w.adapter.WatchPaths())
		}
		terminal.Leave("/quit", agent)
		w.has("far away", "stopped completed", 0)
	})
}
