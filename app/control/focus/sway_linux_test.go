package focus_test

import (
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"slices"
	"strconv"
	"syscall"
	"testing"

	"rollcall/app/control/focus"
	"rollcall/internal/must"
	"rollcall/proc"
	"rollcall/proc/desktop"
)

// nobody returns the credentials of a user without rights, to whom a folder is given.
func nobody(t *testing.T, folder string) *syscall.Credential {
	t.Helper()
	u, err := user.Lookup("nobody")
	if err != nil {
		t.Skip(err)
	}
	uid, _ := strconv.Atoi(u.Uid)
	gid, _ := strconv.Atoi(u.Gid)
	for _, path := range []string{filepath.Dir(folder), folder, filepath.Join(folder, "run")} {
		must.Do(t, os.Chown(path, uid, gid))
	}
	return &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}
}

// swaySocket returns the path of sway's socket.
func (s *screen) swaySocket() string { return s.file(filepath.Join("sockets", "sway.sock")) }

// showOnSway raises two windows of foot in turn, and looks at which one sway reports as focused.
func (s *screen) showOnSway(start func(argv ...string) *exec.Cmd) {
	t := s.t
	t.Helper()
	d := desktop.OnSway(s.swaySocket())
	one := start("foot", "--title=◇  Ready (x)", "sh", "-c", s.agent("one"))
	two := start("foot", "sh", "-c", s.agent("two"))
	a, b := s.identity("one"), s.identity("two")
	s.windows(d, one.Process.Pid, 1)
	s.windows(d, two.Process.Pid, 1)
	list := must.Get(d.Windows(t.Context()))(t)
	if !slices.ContainsFunc(list, func(w desktop.Window) bool { return w.PID == one.Process.Pid && w.Title == "◇  Ready (x)" }) {
		t.Errorf("the title is not listed: %+v", list)
	}
	finder := focus.New(s.table, d)
	for _, tt := range []struct {
		id, other proc.Identity
		pid       int
	}{{a, b, one.Process.Pid}, {b, a, two.Process.Pid}, {a, b, one.Process.Pid}} {
		s.show("a window of sway", tt.id, d)
		active, ok, err := d.Active(t.Context())
		if err != nil || !ok || active.PID != tt.pid {
			t.Errorf("the window of %d has the focus, not that of %d (%v)", active.PID, tt.pid, err)
		}
		if got := finder.HasFocus(t.Context(), tt.id); got != focus.Focused {
			t.Errorf("state %d of what was shown", got)
		}
		if got := finder.HasFocus(t.Context(), tt.other); got != focus.Elsewhere {
			t.Errorf("state %d of the other", got)
		}
	}
}
