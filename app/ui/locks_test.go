package ui

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/user"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"rollcall/adapters"
	"rollcall/app"
	"rollcall/app/listing"
	"rollcall/app/owned/fuse"
	"rollcall/app/owned/launch"
	"rollcall/app/store"
	"rollcall/app/store/lock"
	"rollcall/internal/agentname"
	"rollcall/internal/must"
	"rollcall/proc"
)

func (w *window) locksPage() string { return strings.Join(shownTexts(w.ui.upkeep.Content), "\n") }

// readLocks waits until the page shows the locks and timers.
func (w *window) readLocks() {
	w.t.Helper()
	w.until("the page", func() bool { return strings.Contains(w.locksPage(), "Locked folders") })
}

// TestLocks: the page follows the files, whoever writes them.
func TestLocks(t *testing.T) {
	w := open(t, full())
	dir, err := filepath.EvalSymlinks(t.TempDir())
	must.Do(t, err)
	w.ui.open(pageLocks)
	w.readLocks()
	shows(t, w.ui.upkeep.Content, "No folder is locked.", "No timer is set.")
	tap(t, w.ui.upkeep.Content, "Lock a folder…")
	s := w.ui.host.Sheet
	typeInto(t, s.Popup, "/home/me/project", filepath.Join(dir, "gone"))
	typeInto(t, s.Popup, "a release is being made", "a release")
	tap(t, s.Popup, "Lock")
	w.until("the refusal", func() bool { return strings.Contains(strings.Join(shownTexts(s.Popup), "\n"), "does not exist") })
	typeInto(t, s.Popup, "/home/me/project", dir)
	tap(t, s.Popup, "Lock")
	w.until("the lock", func() bool { return strings.Contains(w.locksPage(), ": a release") && w.ui.host.Sheet == nil })
	me, err := user.Current()
	must.Do(t, err)
	shows(t, w.ui.upkeep.Content, dir, "locked by "+me.Username+": a release")
	tap(t, w.ui.upkeep.Content, "Unlock")
	w.until("the unlocking", func() bool { return strings.Contains(w.locksPage(), "No folder is locked.") })

	// Another process locks, too.
	k := lock.Lock{Path: dir, Kind: lock.Manual, By: "mia"}
	if _, err := w.ui.options.Launches.Locks().Take(t.Context(), k, false, nil); err != nil {
		t.Fatal(err)
	}
	w.until("the other's lock", func() bool { return strings.Contains(w.locksPage(), "locked by mia") })
	if err := os.WriteFile(filepath.Join(w.ui.options.Launches.Locks().Folder(), "x.json"), []byte("{\x00"), 0o600); err != nil {
		t.Fatal(err)
	}
	w.until("the problem", func() bool { return strings.Contains(w.locksPage(), "Not all locks could be read") })
	shows(t, w.ui.upkeep.Content, "locked by mia")
}

func TestFuses(t *testing.T) {
	w := open(t, full())
	dir, err := filepath.EvalSymlinks(t.TempDir())
	must.Do(t, err)
	w.ui.host.Now = time.Now
	w.ui.open(pageLocks)
	w.readLocks()
	tap(t, w.ui.upkeep.Content, "Set a timer…")
	s := w.ui.host.Sheet
	typeInto(t, s.Popup, "/home/me/project", dir)
	typeInto(t, s.Popup, "https://example.org/hook", "ftp://x")
	tap(t, s.Popup, "Set timer")
	w.until("the refusal", func() bool {
		return strings.Contains(strings.Join(shownTexts(s.Popup), "\n"), "the URL of a webhook must begin with")
	})
	typeInto(t, s.Popup, "https://example.org/hook", "")
	typeInto(t, s.Popup, "docker compose down", "make down")
	typeInto(t, s.Popup, "the test cluster", "the test cluster")
	check(t, s.Popup, "Retry it if its result is lost (can run twice)", true)
	tap(t, s.Popup, "Set timer")
	w.until("the timer", func() bool { return strings.Contains(w.locksPage(), "make down") && w.ui.host.Sheet == nil })
	if list, err := w.ui.options.Fuses.List(); err != nil || len(list) != 1 || !list[0].Again {
		t.Errorf("set %+v, %v", list, err)
	}
	shows(t, w.ui.upkeep.Content, dir, "the test cluster", "(9 m")
	tap(t, w.ui.upkeep.Content, "Extend…")
	tap(t, w.ui.host.Sheet.Popup, "Extend")
	w.until("the longer time", func() bool { return strings.Contains(w.locksPage(), "(19 m") && w.ui.host.Sheet == nil })
	tap(t, w.ui.upkeep.Content, "Cancel")
	w.until("its end", func() bool { return strings.Contains(w.locksPage(), "No timer is set.") })
}

// A timer whose keeper died while its script ran says so, and can be retried.
func TestRetryFuse(t *testing.T) {
	state, dir := filepath.Join(t.TempDir(), "fuses"), t.TempDir()
	fuses := fuse.In(store.In(state))
	if _, err := fuses.Set(t.Context(), fuse.Fuse{Path: dir, Script: "make down"}, time.Hour); err != nil {
		t.Fatal(err)
	}
	files, err := filepath.Glob(filepath.Join(state, "*.json"))
	if err != nil || len(files) != 1 {
		t.Fatal(files, err)
	}
	text, err := os.ReadFile(files[0])
	must.Do(t, err)
	text = bytes.Replace(text, []byte("{"), fmt.Appendf(nil, `{"fired_at": %q, `, time.Now().Format(time.RFC3339)), 1) // by a process that is gone
	must.Do(t, os.WriteFile(files[0], text, 0o600))
	w := openWith(t, &fakeCore{snapshot: full()}, Options{Agents: usualAgents(), Fuses: fuses})
	w.ui.host.Now = time.Now
	w.ui.open(pageLocks)
	w.until("the timer", func() bool {
		return strings.Contains(w.locksPage(), "result unknown: Rollcall ended before the result was stored")
	})
	tap(t, w.ui.upkeep.Content, "Retry")
	w.until("the retry", func() bool { return !strings.Contains(w.locksPage(), "result unknown") })
	list, err := fuses.List()
	if err != nil || len(list) != 1 || list[0].Fired() || list[0].Expires.After(time.Now()) {
		t.Errorf("%+v, %v", list, err)
	}
}

// TestRetryHooks: the session of a launch whose keeper died while a hook ran has a button that runs the hook again. The button is gone
// once the hook is due.
func TestRetryHooks(t *testing.T) {
	launches := launch.In(t.TempDir(), proc.Open())
	gone := proc.Identity{PID: 1 << 22, Start: 1}
	hook := launch.Hook{When: launch.OnComplete, Command: "make test", RanAt: time.Now(), Runner: gone}
	text, err := json.Marshal(launch.Record{ID: "l-1", Agent: agentname.ClaudeCode, Process: gone, Dir: "/home/dev", LaunchedAt: time.Now(), EndedAt: time.Now(), Hooks: []launch.Hook{hook}})
	if err == nil {
		err = errors.Join(os.MkdirAll(launches.Folder(), 0o700), os.WriteFile(filepath.Join(launches.Folder(), "l-1.json"), text, 0o600))
	}
	must.Do(t, err)
	ranAt := func() time.Time {
		list, err := launches.List()
		if err != nil || len(list) != 1 {
			t.Fatal(list, err)
		}
		return list[0].Hooks[0].RanAt
	}
	lost := app.Hook{When: "complete", Command: "make test", RanAt: hook.RanAt, Lost: true}
	snapshot := func(of ...app.Hook) *app.Snapshot {
		var list []app.Session
		for i, h := range of {
			s := session(string(rune('a'+i)), adapters.Stopped, nil)
			s.Launch = &app.Launch{ID: fmt.Sprint("l-", i+1), Hooks: []app.Hook{h}}
			list = append(list, s)
		}
		return snapshotOf(list...)
	}
	w := openWith(t, &fakeCore{snapshot: snapshot(lost, lost)}, Options{Agents: usualAgents(), Launches: launches})
	first, second := listing.Key{Agent: agentname.ClaudeCode, ID: "a"}, listing.Key{Agent: agentname.ClaudeCode, ID: "b"}
	p := w.ui.sessions
	p.reveal(first)
	p.detail.showFacts(true)
	shows(t, p.detail.content, "make test")
	w.shoot("retry-hooks")
	retry := func() bool {
		for _, m := range p.detail.moreItems(p.detail.session) {
			if m.Label == "Retry hooks" {
				m.Action()
				return true
			}
		}
		return false
	}
	retry()
	w.until("the hook to be due", func() bool { return ranAt().IsZero() })
	if p.notice != "" {
		t.Errorf("the window shows %q", p.notice)
	}
	p.reveal(second) // whose launch was removed meanwhile
	retry()
	w.until("the refusal", func() bool { return p.notice != "" })
	shows(t, w.ui.content, "The hooks were not retried: ")
	p.reveal(first)
	w.publish(snapshot(app.Hook{When: "complete", Command: "make test"}, lost))
	if retry() {
		t.Error("the menu offers it although no hook was interrupted")
	}
}

func TestParseIn(t *testing.T) {
	for text, want := range map[string]time.Duration{"45m": 45 * time.Minute, "2 H": 2 * time.Hour, "90": 90 * time.Minute, "1h30m": 90 * time.Minute,
		"": 0, "-5m": 0, "0": 0, "soon": 0, "99999999999999999999": 0} {
		got, err := fuse.ParseIn(text)
		if got != want || (err == nil) != (want > 0) {
			t.Errorf("%q: %v, %v", text, got, err)
		}
	}
}

// TestLocksNotRead: a page whose locks and timers are being read, or could not be read, does not look as if there were none.
func TestLocksNotRead(t *testing.T) {
	w := openWith(t, &fakeCore{snapshot: full()}, blockedFolders(t))
	w.ui.pages[pageLocks].opened = nil
	w.ui.open(pageLocks)
	if shows(t, w.ui.upkeep.Content, "Reading the locks and timers…"); w.activity() == nil {
		t.Error("nothing moves while the page says that it reads")
	}
	w.ui.upkeep.Look()
	w.readLocks()
	shows(t, w.ui.upkeep.Content, "it is not a folder", "They could not be read", "Try again")
	if all := w.locksPage(); strings.Contains(all, "No folder is locked") || strings.Contains(all, "No timer is set") {
		t.Errorf("it shows that there are none:\n%s", all)
	}
	must.Do(t, os.Remove(w.ui.options.Launches.Locks().Folder()))
	tap(t, w.ui.upkeep.Content, "Try again")
	w.until("the locks", func() bool { return strings.Contains(w.locksPage(), "No folder is locked") })
}

// blockedFolders returns options with folders of locks and timers that can't be read.
func blockedFolders(t *testing.T) Options {
	t.Helper()
	fuses := filepath.Join(t.TempDir(), "fuses")
	o := Options{Agents: usualAgents(), Launches: launch.In(t.TempDir(), proc.Open()), Fuses: fuse.In(store.In(fuses))}
	for _, folder := range []string{fuses, o.Launches.Locks().Folder()} {
		must.Do(t, os.MkdirAll(filepath.Dir(folder), 0o700))
		must.Do(t, os.WriteFile(folder, nil, 0o600))
	}
	return o
}
