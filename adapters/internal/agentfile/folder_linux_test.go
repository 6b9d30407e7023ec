package agentfile

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"

	"rollcall/internal/must"
)

// TestCheckFolder: what is in the place of a folder, or above it, is named; a folder, nothing, and a link to nothing are no error.
func TestCheckFolder(t *testing.T) {
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	must.Do(t, errors.Join(os.WriteFile(at("file"), nil, 0o600), unix.Mkfifo(at("pipe"), 0o600), os.Symlink("file", at("link")), os.Symlink("nothing", at("dangling"))))
	for path, want := range map[string]string{
		"file": "a file, not a folder", "file/below/it": "a file, not a folder", "pipe": "a named pipe, not a folder", "link": "a file, not a folder",
		"": "", "none/below": "", "dangling": "",
	} {
		err := CheckFolder(at(path))
		var named *fs.PathError
		if !errors.As(err, &named) {
			if want != "" || err != nil {
				t.Errorf("%s: %v, want %q", path, err, want)
			}
			continue
		}
		if top := at(filepath.ToSlash(path)[:4]); named.Err.Error() != want || named.Path != top || !errors.Is(err, ErrNotFolder) {
			t.Errorf("%s: %v of %s, want %q of %s", path, named.Err, named.Path, want, top)
		}
		if _, listed := Entries(t.Context(), at(path)); !errors.Is(listed, ErrNotFolder) {
			t.Errorf("%s is listed with %v", path, listed)
		}
	}
}
