package lock

import (
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"unicode"

	"rollcall/internal/must"
)

// TestRenamedFolder checks that a folder stays locked when it is renamed while an agent works in it.
func TestRenamedFolder(t *testing.T) {
	w := newWorld(t, 1, 2)
	base := folder(t, t.TempDir(), "x")
	k := w.take(t, auto(folder(t, base, "old"), 1))
	renamed := filepath.Join(filepath.Dir(k.Path), "new")
	must.Do(t, os.Rename(k.Path, renamed))
	w.cwds[pid(1)] = renamed
	for _, path := range []string{renamed, base, folder(t, renamed, "below")} {
		var held *HeldError
		if _, err := w.Take(t.Context(), auto(path, 2), false, nil); !errors.As(err, &held) || path != base && held.By.Path != renamed {
			t.Errorf("%s: %v", path, err)
		}
	}
	w.take(t, auto(folder(t, base, "other"), 2))
}

// TestPathIsNoText checks that a path that is not valid UTF-8 cannot be locked: JSON would store another path.
func TestPathIsNoText(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("file names are text here")
	}
	w := newWorld(t, 1)
	dir := folder(t, t.TempDir(), "a\xff")
	if _, err := w.Take(t.Context(), auto(dir, 1), false, nil); err == nil || !strings.Contains(err.Error(), "UTF-8") {
		t.Errorf("it was taken: %v", err)
	}
}

// TestForeignFiles checks that files that are not locks are reported once and have no effect.
func TestForeignFiles(t *testing.T) {
	w := newWorld(t, 1)
	dir := t.TempDir()
	k := w.take(t, auto(dir, 1))
	for name, text := range map[string]string{"a": "null", "b": `{"kind":"manual"}`, "c": `{"kind":"manual","path":"/"}`, "d": `{"kind":"auto","launch":"x"}`} {
		must.Do(t, os.WriteFile(filepath.Join(w.Folder(), name+".json"), []byte(text), 0o600))
	}
	if list, err := w.List(); len(list) != 1 || list[0].Path != k.Path || err == nil {
		t.Errorf("locks %+v, %v", list, err)
	}
	if _, err := w.List(); err != nil {
		t.Errorf("the damage was reported twice: %v", err)
	}
}

func TestUnlockAFolderThatIsGone(t *testing.T) {
	w := newWorld(t)
	t.Chdir(t.TempDir())
	must.Do(t, os.Mkdir("x", 0o700))
	w.take(t, manual("x"))
	must.Do(t, os.Remove("x"))
	if err := w.Unlock(t.Context(), "x"); err != nil {
		t.Error(err)
	}
}

// TestMessageOfAnOddFolder checks that control characters in a folder's name cannot hide the owner of its lock.
func TestMessageOfAnOddFolder(t *testing.T) {
	e := &HeldError{Path: "/a/\x1b]0;x", By: Lock{Path: "/a", Kind: Manual, By: "ann\x1b[2J", Reason: "x\ny"}}
	if s := e.Error(); strings.ContainsFunc(s, unicode.IsControl) || !strings.Contains(s, "is locked") || !strings.Contains(s, "ann") {
		t.Errorf("%q", s)
	}
}
