package ui

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"fyne.io/fyne/v2"

	"rollcall/adapters"
	"rollcall/app"
	"rollcall/internal/agentname"
	"rollcall/proc"
)

func TestShotFull(t *testing.T) {
	w := open(t, full())
	w.shoot("full")
	w.press(w.ui.sessions.list, fyne.KeyDown, fyne.KeyDown)
	w.win.Canvas().Focus(w.ui.sessions.list)
	w.shoot("full-subagents")
}

func TestShotSmall(t *testing.T) {
	w := open(t, full())
	w.win.Resize(fyne.NewSize(720, 420))
	w.shoot("small")
}

func TestShotLoading(t *testing.T) {
	w := open(t, &app.Snapshot{Refreshing: true, Adapters: []app.Health{
		{Name: agentname.ClaudeCode, State: app.Pending, Asking: true}, {Name: agentname.Codex, State: app.Pending, Asking: true}}})
	w.until("what is being read", func() bool { return w.ui.sessions.reading != "" })
	w.shoot("loading")
	w.ui.open(pageAgents)
	w.shoot("agents-loading")
}

// TestShotReading: a question that takes long says which agents it waits for, above the list.
func TestShotReading(t *testing.T) {
	s := full()
	s.Refreshing = true
	s.Adapters[1].Asking = true
	w := open(t, s)
	w.until("what is being read", func() bool { return w.ui.sessions.reading != "" })
	w.shoot("reading")
}

func TestShotEmpty(t *testing.T) {
	w := open(t, snapshotOf())
	w.shoot("empty")
}

func TestShotNothingInstalled(t *testing.T) {
	s := snapshotOf()
	for i := range s.Adapters {
		s.Adapters[i] = app.Health{Name: s.Adapters[i].Name, State: app.Absent, LookedIn: s.Adapters[i].LookedIn}
	}
	w := open(t, s)
	w.shoot("nothing-installed")
	w.system.missing = map[string]bool{}
	for _, h := range s.Adapters {
		for _, p := range h.LookedIn {
			w.system.missing[p] = true
		}
	}
	w.ui.open(pageAgents)
	w.until("the places", func() bool {
		return strings.Contains(strings.Join(shownTexts(w.ui.agents.Content), "\n"), "(does not exist)")
	})
	w.shoot("agents-absent")
}

func broken(s *app.Snapshot) *app.Snapshot {
	s.Adapters[1] = app.Health{Name: agentname.Codex, State: app.Failed, Elapsed: 5 * time.Second, Answered: ago(time.Minute),
		LookedIn: s.Adapters[1].LookedIn, Sessions: 4, Versions: s.Adapters[1].Versions,
		Skipped:  map[string]int{"unknown record type turn_hint": 12, "line longer than 16 MB": 1},
		Problems: []string{"/home/dev/.codex/state_5.sqlite: unreadable: permission denied (give your user read permission on it)", "no answer in 5 s"}}
	return s
}

func TestShotFailed(t *testing.T) {
	w := open(t, broken(snapshotOf()))
	w.shoot("failed")
	w.publish(broken(full()))
	shows(t, w.ui.sessions.problem.Content, "Codex could not be read completely.", "Details") // the reasons, five lines of them, are on the page that the button opens
	w.shoot("full-with-failure")
	w.ui.Show("019a-codex-3")
	w.shoot("stale")
	w.ui.open(pageAgents)
	w.shoot("agents")
}

func TestShotFilter(t *testing.T) {
	w := open(t, full())
	w.filter("codex")
	w.shoot("filter")
	w.filter("no such thing")
	w.shoot("filter-nothing")
}

func TestShotHostile(t *testing.T) {
	w := open(t, hostile())
	w.shoot("hostile")
	w.ui.Show("cjk")
	w.shoot("cjk")
}

func TestShotSuspended(t *testing.T) {
	snap := full()
	paused := &snap.Sessions()[7].Session
	paused.Suspended, paused.Outcome = true, ""
	paused.Process, paused.StartedAt = proc.Identity{PID: 20017, Start: 12}, ago(time.Hour)
	paused.Evidence = "process 20017 is suspended; before: registry 20017.json: busy, 7 m ago"
	snap.Sessions()[1].Suspended = true
	open := app.Session{Session: adapters.ProcessSession(agentname.OpenCode, proc.Process{
		Identity: proc.Identity{PID: 30412, Start: 8812345}, Started: ago(4 * time.Minute)}, "/home/dev/projects/lab")}
	snap.Own = slices.Insert(snap.Sessions(), 7, open)
	w := openWith(t, &fakeCore{snapshot: snap}, Options{Agents: usualAgents()})
	w.ui.Show(paused.ID)
	w.shoot("suspended")
	w.ui.Show(open.ID)
	shows(t, w.win.Content(), "open, no session yet", "No session yet. A session begins with the first prompt.")
	w.shoot("process")
	w.filter("suspended")
	w.shoot("filter-suspended")
}

func TestShotMany(t *testing.T) {
	w := open(t, many(500))
	w.ui.sessions.list.ScrollTo(250)
	w.shoot("many")
}

// many returns a snapshot of n sessions, in every status.
func many(n int) *app.Snapshot {
	statuses := []adapters.Status{adapters.Waiting, adapters.Working, adapters.Idle, adapters.Stopped, adapters.Stopped, adapters.Stopped}
	agents := []adapters.Name{agentname.ClaudeCode, agentname.Codex, agentname.OpenCode, agentname.Pi}
	sessions := make([]app.Session, n)
	for i := range sessions {
		sessions[i] = session(fmt.Sprintf("%08d-aaaa-bbbb", i), statuses[i%len(statuses)], func(s *adapters.Session) {
			s.Agent = agents[i%len(agents)]
			s.CWD = fmt.Sprintf("/home/dev/projects/project-%d", i%97)
			s.Title = fmt.Sprintf("Task number %d of a long day", i)
			s.FirstPrompt = "Please look into the failing build and tell me what broke it, then propose the smallest fix. " + s.Title
			s.LastPrompt = "Go on with step " + fmt.Sprint(i)
			s.Branch, s.Model = "main", "claude-sonnet-5-5"
			s.LastActivityAt = ago(time.Duration(i) * time.Minute)
			if i%10 == 9 {
				s.Parent = fmt.Sprintf("%08d-aaaa-bbbb", i-4)
				s.Agent = agents[(i-4)%len(agents)]
			}
		})
	}
	return snapshotOf(sessions...)
}
