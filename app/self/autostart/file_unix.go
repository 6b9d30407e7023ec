//go:build unix

package autostart

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// maxFile is far above the size of what On writes.
const maxFile = 64 << 10

// file is a file of the user's system that starts a program.
type file struct {
	path    string
	text    func(program string) string
	program func(text string) string // reads the program from text; empty: it has none
	// switches are the beginnings of lines with which desktops turn an entry on and off. A change of such a line does not count as an edit by hand.
	switches []string
	// off are the lines with which desktops turn an entry off.
	off []string
	// link is the path of a link to the file, without which nothing is started; empty if no link is needed.
	link string
	hint string // see Change
	// turnedOff reports whether the system's settings turned the entry off elsewhere than in the file, and turnOn takes that back;
	// nil where the file alone decides.
	turnedOff func() bool
	turnOn    func() error
}

func (e Entry) on(program string) (c Change, err error) {
	if strings.ContainsFunc(program, func(r rune) bool { return r < ' ' }) {
		return c, fmt.Errorf("the program's path %q has a control character; install it elsewhere", program)
	}
	f, err := e.file()
	if err != nil {
		return c, err
	}
	if err := f.write(program, &c); err != nil {
		return c, err
	}
	if f.turnedOff != nil && f.turnedOff() {
		if err := f.turnOn(); err != nil {
			return c, err
		}
	}
	if f.link == "" {
		return c, nil
	}
	if to, err := os.Readlink(f.link); err != nil || to != f.path {
		if err == nil {
			_ = os.Remove(f.link)
		}
		if err := cmp.Or(os.MkdirAll(filepath.Dir(f.link), 0o755), os.Symlink(f.path, f.link)); err != nil {
			return c, err
		}
	}
	c.Paths, c.Hint = append(c.Paths, f.link), f.hint
	return c, nil
}

func (e Entry) off() (c Change, err error) {
	f, err := e.file()
	if err != nil {
		return c, err
	}
	// The link is removed first, also if the file was edited by hand, since the link alone makes systemd start the file.
	if info, err := os.Lstat(f.link); err == nil && info.Mode()&os.ModeSymlink != 0 {
		if err := os.Remove(f.link); err != nil {
			return c, err
		}
		c.Paths = append(c.Paths, f.link)
	}
	err = f.remove(&c)
	return c, err
}

func (e Entry) state() (s State, err error) {
	f, err := e.file()
	if err != nil {
		return s, err
	}
	text, program, edited, err := f.read()
	switch {
	case errors.Is(err, fs.ErrNotExist):
	case err != nil:
		return s, err
	default:
		s = State{On: true, Paths: []string{f.path}, Program: program}
		if edited {
			s.Problem = (&EditedError{f.path}).Error()
		}
	}
	if slices.ContainsFunc(strings.Split(text, "\n"), func(line string) bool { return slices.Contains(f.off, line) }) {
		s.On, s.Problem = false, "the desktop's settings turned it off"
	}
	if s.On && f.turnedOff != nil && f.turnedOff() {
		s.On, s.Problem = false, "System Settings (General, Login Items & Extensions) turned it off"
	}
	if f.link == "" {
		return s, nil
	}
	if _, linkErr := os.Lstat(f.link); linkErr == nil {
		s.Paths = append(s.Paths, f.link)
		if _, err := os.Stat(f.link); err == nil {
			s.On = true // also a package's unit, which systemctl --user enable links
		}
	} else if errors.Is(linkErr, os.ErrNotExist) {
		s.On = false
	}
	return s, nil
}

// read returns the text of the file and the program that it starts. edited reports that it is not as On writes it, for any
// program.
func (f *file) read() (text, program string, edited bool, err error) {
	info, err := os.Lstat(f.path)
	if err != nil {
		return "", "", false, err
	}
	if !info.Mode().IsRegular() || info.Size() > maxFile { // a link was made by the user
		return "", "", true, nil
	}
	// Rollcall does not check who else may write to the desktop's folder, since nothing that is read here is executed.
	data, err := os.ReadFile(f.path)
	if err != nil {
		return "", "", false, err
	}
	text = string(data)
	program = f.program(text)
	return text, program, program == "" || f.unswitched(text) != f.unswitched(f.text(program)), nil
}

// unswitched returns text without the lines of desktops.
func (f *file) unswitched(text string) string {
	var kept []string
	for line := range strings.Lines(text) {
		own := false
		for _, s := range f.switches {
			own = own || strings.HasPrefix(line, s)
		}
		if !own {
			kept = append(kept, strings.TrimRight(line, "\r\n"))
		}
	}
	return strings.TrimSpace(strings.Join(kept, "\n"))
}

// write writes the file for a program, and its folder.
func (f *file) write(program string, c *Change) error {
	old, _, edited, err := f.read()
	want := f.text(program)
	switch {
	case err != nil && !errors.Is(err, fs.ErrNotExist):
		return err
	case edited:
		return &EditedError{f.path}
	case old != want:
		if err := replace(f.path, want); err != nil {
			return err
		}
	}
	c.Paths = append(c.Paths, f.path)
	return nil
}

// replace replaces a file as a whole, and makes its folder. The folder belongs to the desktop or to systemd, and may be a link into the user's own
// repository of settings, so app/store's rules for Rollcall's own folders do not hold for it.
func replace(path, text string) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	f, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+".*.rollcall-new")
	if err != nil {
		return of(path, err)
	}
	_, err = f.WriteString(text)
	err = errors.Join(err, f.Chmod(0o644), f.Sync(), f.Close())
	if err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		_ = os.Remove(f.Name())
	}
	return of(path, err)
}

// of returns an error of the temporary file with the path of the file that it should have replaced.
func of(path string, err error) error {
	if e, ok := errors.AsType[*fs.PathError](err); ok {
		return &fs.PathError{Op: e.Op, Path: path, Err: e.Err}
	}
	return err
}

// remove removes the file, if it exists and is as On writes it.
func (f *file) remove(c *Change) error {
	_, _, edited, err := f.read()
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return err
	case edited:
		return &EditedError{f.path}
	}
	if err := os.Remove(f.path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	c.Paths = append(c.Paths, f.path)
	return nil
}
