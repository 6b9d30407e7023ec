// Package executable answers questions about the file of the program that runs: where it is, under which path it survives
// an update, and whether an update has replaced it.
package executable

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
)

// Path returns the path of this program. If the program was replaced while it runs, Path returns the path of the new file.
func Path() (string, error) {
	path, err := os.Executable()
	return strings.TrimSuffix(path, " (deleted)"), err // Linux adds that
}

// StablePath returns the path under which the program is still found after an update. It is Path, unless PATH has a link to
// that file: package managers that install each version in its own folder (Homebrew, Scoop) keep such a link.
func StablePath() (string, error) {
	path, err := Path()
	if err != nil {
		return path, err
	}
	name := filepath.Base(path)
	found, err := exec.LookPath(name)
	if err != nil || !filepath.IsAbs(found) || found == path {
		return path, nil
	}
	link, err := os.Lstat(found)
	if err != nil || link.Mode()&os.ModeSymlink == 0 || !sameFile(found, path) {
		return path, nil
	}
	return found, nil
}

// CheckPermanent returns why a path of a program must not be recorded, or nil. On macOS a program that was opened in a disk image is
// gone when the image is ejected, and one that was downloaded and not moved runs from a random read-only copy (App Translocation).
func CheckPermanent(path string) error { return checkPermanent(runtime.GOOS, path) }

func checkPermanent(system, path string) error {
	const fix = "move Rollcall.app to the folder Applications, open it there, then try again"
	switch {
	case system != "darwin":
		return nil
	case strings.HasPrefix(path, "/Volumes/"):
		return fmt.Errorf("%s is on a disk image or an external disk: %s", path, fix)
	case strings.Contains(path, "/AppTranslocation/"):
		return fmt.Errorf("macOS runs Rollcall from a temporary copy, since it was not moved after the download: %s", fix)
	}
	return nil
}

func sameFile(a, b string) bool {
	x, err := os.Stat(a)
	if err != nil {
		return false
	}
	y, err := os.Stat(b)
	return err == nil && os.SameFile(x, y)
}

// File is the file of a running program. The zero value is an unknown file, which Replaced never reports as replaced.
type File struct {
	path string
	info os.FileInfo
}

// Running returns the file of this process's program, or the zero value. It must be called early in the process: later the
// file may have been replaced already.
func Running() File {
	path, err := Path()
	if err != nil {
		return File{}
	}
	info, err := os.Stat(path)
	if err != nil {
		return File{}
	}
	if runtime.GOOS == "windows" {
		_ = os.SameFile(info, info) // reads the file's number, which os.Stat defers on Windows
	}
	return File{path, info}
}

// Replaced reports whether another file has taken the place of the program's. A program that was removed is not replaced.
func (f *File) Replaced() bool {
	if f.info == nil {
		return false
	}
	info, err := os.Stat(f.path)
	return err == nil && (!os.SameFile(info, f.info) || info.Size() != f.info.Size() || !info.ModTime().Equal(f.info.ModTime()))
}
