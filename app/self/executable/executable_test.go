package executable

import (
	"os"
	"path/filepath"
	"testing"

	"rollcall/internal/must"
)

func TestReplaced(t *testing.T) {
	path := filepath.Join(t.TempDir(), "program")
	write := func(text string) {
		t.Helper()
		must.Do(t, os.WriteFile(path+".new", []byte(text), 0o700))
		must.Do(t, os.Rename(path+".new", path))
	}
	write("old")
	info := must.Get(os.Stat(path))(t)
	f := File{path, info}
	if f.Replaced() {
		t.Error("replaced before it was")
	}
	write("newer")
	if !f.Replaced() {
		t.Error("not replaced by another file")
	}
	must.Do(t, os.Remove(path))
	if f.Replaced() {
		t.Error("a program that was removed counts as replaced")
	}
	if running := Running(); running.Replaced() || running.info == nil {
		t.Error("this test's own program counts as replaced, or is not known")
	}
	if (&File{}).Replaced() {
		t.Error("an unknown file counts as replaced")
	}
}

func TestCheckPermanent(t *testing.T) {
	for path, refused := range map[string]bool{
		"/Applications/Rollcall.app/Contents/MacOS/rollcall":                                       false,
		"/Users/a/Applications/Rollcall.app/Contents/MacOS/rollcall":                               false,
		"/Volumes/Rollcall/Rollcall.app/Contents/MacOS/rollcall":                                   true,
		"/private/var/folders/x/T/AppTranslocation/0F1E-AB/d/Rollcall.app/Contents/MacOS/rollcall": true,
	} {
		if err := checkPermanent("darwin", path); (err != nil) != refused {
			t.Errorf("%s: %v", path, err)
		}
		if err := checkPermanent("linux", path); err != nil {
			t.Errorf("on Linux: %v", err)
		}
	}
}
