package ui

import (
	"os"
	"path/filepath"
	"testing"

	"fyne.io/fyne/v2"

	"rollcall/app/store/lock"
	"rollcall/internal/must"
	"rollcall/proc"
)

// TestTerminalInRenamedFolder: a lock holds the folder of its process, also once the folder was renamed. No
// terminal is opened there.
func TestTerminalInRenamedFolder(t *testing.T) {
	w, p, dir := launchWindow(t, full())
	was, is := filepath.Join(dir, "was"), filepath.Join(dir, "is")
	must.Do(t, os.Mkdir(was, 0o700))
	t.Chdir(was)
	k := lock.Lock{Path: was, Kind: lock.Auto, Owner: proc.Self(), Launch: "l-1", Agent: "codex"}
	if _, err := w.ui.options.Launches.Locks().Take(t.Context(), k, false, nil); err != nil {
		t.Fatal(err)
	}
	must.Do(t, os.Rename(was, is))
	p.folder.SetText(is)
	p.terminal.SetChecked(true)
	w.press(p.start, fyne.KeyReturn)
	w.until("an answer", func() bool { return !p.busy() })
	if len(w.system.opened) > 0 {
		t.Fatalf("opened %q", w.system.opened)
	}
	shows(t, p.refused, "is locked by a launch of codex")
}
