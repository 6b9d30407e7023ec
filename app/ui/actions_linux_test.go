package ui

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"fyne.io/fyne/v2"

	"rollcall/adapters"
	"rollcall/app/listing"
	"rollcall/app/present"
	"rollcall/app/ui/widgets"
	"rollcall/internal/agentname"
	"rollcall/internal/must"
)

// TestStop: the plan is shown, and the process ends.
func TestStop(t *testing.T) {
	w := openReal(t, "agent")
	s := w.started("do it")
	w.ui.upkeep.Stop(s)
	w.until("the plan", func() bool { return !w.ui.host.Sheet.IsWaiting() })
	shows(t, w.ui.host.Sheet.Popup, "Claude Code · "+present.Project(w.dir)+" · working", "The session is in the middle of a turn", fmt.Sprintf("%d ", s.Process.PID), "terminate and waits up to 5 s; if that is not enough, it sends kill")
	tap(t, w.ui.host.Sheet.Popup, "Stop")
	w.until("the end", func() bool {
		return strings.Contains(strings.Join(shownTexts(w.ui.host.Sheet.Popup), "\n"), ": it ended when asked to (SIGTERM).")
	})
	if w.agent.table.Alive(s.Process) {
		t.Error("it lives")
	}
	w.ui.upkeep.Stop(s)
	w.until("the answer", func() bool { return !w.ui.host.Sheet.IsWaiting() })
	shows(t, w.ui.host.Sheet.Popup, "The session is not running any more.")
}

// TestStopIdle: idle sessions are listed, and those that stay ticked are stopped.
func TestStopIdle(t *testing.T) {
	w := openReal(t, "agent")
	w.ui.upkeep.StopIdle()
	w.until("the list", func() bool { return !w.ui.host.Sheet.IsWaiting() })
	shows(t, w.ui.host.Sheet.Popup, "There is no idle session that can be stopped.")
	w.ui.host.CloseSheet()
	first := w.started("first")
	other := filepath.Join(w.dir, "..", "other")
	must.Do(t, os.Mkdir(other, 0o700))
	w.launchPage().folder.SetText(other)
	second := w.started("second")
	w.agent.be(adapters.Idle)
	// The sheet joins a question that is under way, and one may have begun before the sessions became idle.
	w.core.RefreshOne(t.Context(), agentname.ClaudeCode)
	w.ui.upkeep.StopIdle()
	w.until("the list", func() bool { return !w.ui.host.Sheet.IsWaiting() })
	shows(t, w.ui.host.Sheet.Popup, "first", "second", "Stop 2 sessions")
	check(t, w.ui.host.Sheet.Popup, "second", false)
	tap(t, w.ui.host.Sheet.Popup, "Stop 1 session")
	w.until("the end", func() bool {
		return strings.Contains(strings.Join(shownTexts(w.ui.host.Sheet.Popup), "\n"), ": it ended when asked to (SIGTERM).")
	})
	if w.agent.table.Alive(first.Process) || !w.agent.table.Alive(second.Process) {
		t.Error("the wrong one was stopped")
	}
	// One that works by now is left alone.
	w.ui.upkeep.StopIdle()
	w.until("the list", func() bool { return !w.ui.host.Sheet.IsWaiting() })
	w.agent.be(adapters.Working)
	tap(t, w.ui.host.Sheet.Popup, "Stop 1 session")
	w.until("the refusal", func() bool {
		return strings.Contains(strings.Join(shownTexts(w.ui.host.Sheet.Popup), "\n"), "it isn't idle any more (working)")
	})
	if !w.agent.table.Alive(second.Process) {
		t.Error("a working session was stopped")
	}
}

// TestResume: a session that is over gets a message in the background.
func TestResume(t *testing.T) {
	w := openReal(t, "agent")
	s := w.started("do it")
	w.ui.launch.Resume(s)
	shows(t, w.ui.host.Sheet.Popup, "The session is still running: its file.", "Write a message, or resume in a terminal.")
	w.ui.host.CloseSheet()
	must.Do(t, os.WriteFile(filepath.Join(w.agent.store, s.ID+".end"), nil, 0o600))
	w.until("its end", func() bool {
		return strings.Contains(w.run(), "Finished") && !w.ui.sessions.view.ByKey[listing.Key{Agent: s.Agent, ID: s.ID}].Live()
	})
	must.Do(t, os.Remove(filepath.Join(w.agent.store, s.ID+".end")))
	over := *w.ui.sessions.view.ByKey[listing.Key{Agent: s.Agent, ID: s.ID}]
	if !w.ui.launch.CanResume(&over) {
		t.Fatalf("can't be resumed: %+v", over)
	}
	w.ui.launch.Resume(over)
	r := w.ui.host.Sheet
	typeInto(t, r.Popup, "Also add a test for an empty file.", "go on")
	w.until("the command", func() bool { return strings.Contains(strings.Join(shownTexts(r.Popup), "\n"), "--resume "+s.ID) })
	tap(t, r.Popup, "Resume")
	w.until("the session", func() bool { return strings.Contains(strings.Join(shownTexts(r.Popup), "\n"), "is listed") })
	var e entry
	data, err := os.ReadFile(filepath.Join(w.agent.store, s.ID))
	if err != nil || json.Unmarshal(data, &e) != nil || e.Prompt != "go on" {
		t.Errorf("the agent got %q, %v", data, err)
	}
}

// TestCleanup: leftovers are shown first, those that are unticked stay, and the
// rest goes to the trash.
func TestCleanup(t *testing.T) {
	home := t.TempDir()
	t.Setenv("HOME", home)
	t.Setenv("XDG_DATA_HOME", "")
	w := openReal(t, "fail")
	w.ui.upkeep.CleanUp()
	w.until("the leftovers", func() bool { return !w.ui.host.Sheet.IsWaiting() })
	shows(t, w.ui.host.Sheet.Popup, "There is nothing to remove")
	w.launch("do it")
	w.until("its end", func() bool {
		// The lock's file goes after the record is closed.
		locks, err := filepath.Glob(filepath.Join(w.ui.options.Launches.Locks().Folder(), "*.json"))
		return err == nil && len(locks) == 0 && allOver(w.ui.options.Launches) && strings.Contains(w.run(), "no such model")
	})
	list, err := w.ui.options.Launches.List()
	if err != nil || len(list) != 1 {
		t.Fatalf("records %v, %v", list, err)
	}
	log := list[0].Log
	w.ui.upkeep.CleanUp()
	w.until("the leftovers", func() bool { return !w.ui.host.Sheet.IsWaiting() })
	shows(t, w.ui.host.Sheet.Popup, filepath.Base(log), "Remove 2 files")
	w.ui.host.CloseSheet()
	if _, err := os.Stat(log); err != nil {
		t.Fatal("looking removed something")
	}
	w.ui.upkeep.CleanUp()
	w.until("the leftovers", func() bool { return !w.ui.host.Sheet.IsWaiting() })
	boxes := boxes(w.ui.host.Sheet.Popup)
	if len(boxes) != 2 {
		t.Fatalf("%d boxes", len(boxes))
	}
	record := filepath.Join(w.ui.options.Launches.Folder(), list[0].ID+".json")
	texts := shownTexts(w.ui.host.Sheet.Popup)
	at := func(path string) int { // the beginning of a long path is cut
		return slices.IndexFunc(texts, func(x string) bool { return strings.HasSuffix(x, filepath.Base(path)) })
	}
	logFirst := at(log) < at(record)
	boxes[0].SetChecked(logFirst)
	boxes[1].SetChecked(!logFirst)
	for _, b := range w.ui.host.Sheet.Buttons.Objects {
		if b := b.(*widgets.Button); strings.HasPrefix(b.Text, "Remove 1 file") {
			b.Tapped(nil)
		}
	}
	w.until("the removal", func() bool {
		return strings.Contains(strings.Join(shownTexts(w.ui.host.Sheet.Popup), "\n"), "moved to "+filepath.Join(home, ".local/share/Trash/files"))
	})
	if _, err := os.Stat(log); !os.IsNotExist(err) {
		t.Errorf("the log is still there: %v", err)
	}
	if _, err := os.Stat(record); err != nil {
		t.Errorf("the record went, unticked: %v", err)
	}
}

func boxes(o fyne.CanvasObject) []*widgets.CheckBox {
	var out []*widgets.CheckBox
	for _, x := range visible(o) {
		if c, ok := x.(*widgets.CheckBox); ok {
			out = append(out, c)
		}
	}
	return out
}
