package ui

import (
	"errors"
	"os"
	"strings"
	"testing"
	"time"

	"rollcall/bounded"
	"rollcall/internal/eventually"
	"rollcall/internal/testfs"
)

// A folder whose file system does not answer is named as such by the page of agents, and refused by a launch in a terminal, which
// opens none then.
func TestFolderThatHangs(t *testing.T) {
	mount := testfs.Mount(t, t.TempDir())
	good := t.TempDir()
	s := full()
	s.Adapters[0].LookedIn = []string{mount.Path, good}
	w := open(t, s)
	mount.Hang(t)
	eventually.True(t, "the mount to hang", func() bool { // the kernel knows the folder for a moment
		_, err := bounded.Within(t.Context(), time.Second, func() (os.FileInfo, error) { return os.Stat(mount.Path) })
		return errors.Is(err, bounded.ErrNoAnswer)
	})
	w.ui.placeNote = placeNote
	w.ui.open(pageAgents)
	w.until("the places", func() bool {
		return strings.Contains(strings.Join(shownTexts(w.ui.agents.Content), "\n"), mount.Path+"  (does not respond)")
	})
	if all := strings.Join(shownTexts(w.ui.agents.Content), "\n"); strings.Contains(all, good+"  (") {
		t.Errorf("something is wrong with a folder that answers:\n%s", all)
	}

	if name, err := w.ui.runTerminal(mount.Path, []string{"true"}); !errors.Is(err, bounded.ErrNoAnswer) {
		t.Errorf("opened %q, %v", name, err)
	}
	mount.Answer(t)
	eventually.True(t, "the folder to answer", func() bool { return placeNote(mount.Path) == "" })
}
