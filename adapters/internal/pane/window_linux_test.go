package pane

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"rollcall/internal/desktoptest"
	"rollcall/internal/eventually"
	"rollcall/internal/must"
	"rollcall/proc"
)

// windows is a display of the test's own, with terminals whose programs write their pid and set a title.
type windows struct {
	*desktoptest.Desktop
	t   *testing.T
	dir string
}

// start starts a terminal outside of all others.
func (w *windows) start(argv ...string) *exec.Cmd {
	w.t.Helper()
	cmd := exec.Command(argv[0], argv[1:]...)
	for _, entry := range w.Env() {
		if name, _, _ := strings.Cut(entry, "="); name != "TMUX" && name != "KITTY_PID" && name != "WINDOWID" {
			cmd.Env = append(cmd.Env, entry)
		}
	}
	cmd.Env = append(cmd.Env, "LC_ALL=C.UTF-8")
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	must.Do(w.t, cmd.Start())
	w.t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
	return cmd
}

// titled returns a shell command that stands for an agent, and ends with it: script outlives the window that it runs in.
func (w *windows) titled(name, title string) string {
	return "printf '\\033]0;" + title + "\\007'; sleep 1000 & echo $! >" + filepath.Join(w.dir, name) + "; wait"
}

// agent returns the process of such a command.
func (w *windows) agent(name string) (id proc.Identity) {
	w.t.Helper()
	eventually.True(w.t, "the agent "+name, func() bool {
		text, _ := os.ReadFile(filepath.Join(w.dir, name))
		if len(text) > 0 {
			id = identity(w.t, strings.TrimSpace(string(text)))
		}
		return len(text) > 0
	})
	w.t.Cleanup(func() { _ = syscall.Kill(id.PID, syscall.SIGKILL) })
	return id
}

func (w *windows) titles(ids ...proc.Identity) map[proc.Identity]Title {
	return Titles(w.t.Context(), proc.Open(), "Enter to select", ids)
}

// A window that shows one terminal tells its title; it does not say what the terminal shows.
func TestTitlesWindow(t *testing.T) {
	must.Have(t, "xterm")
	w := &windows{desktoptest.For(t, desktoptest.Options{}), t, t.TempDir()}
	w.start("xterm", "-e", "sh", "-c", w.titled("one", "✋  Action Required (x)"))
	w.start("xterm", "-e", "sh", "-c", w.titled("two", "◇  Ready (x)"))
	w.start("xterm", "-e", "script", "-qc", w.titled("nested", "✦  Working… (x)"), "/dev/null")
	one, two, nested := w.agent("one"), w.agent("two"), w.agent("nested")
	eventually.True(t, "the titles of two windows, and none of a terminal within a window", func() bool {
		got := w.titles(one, two, nested, proc.Self())
		return len(got) == 2 && got[one] == Title{Text: "✋  Action Required (x)"} && got[two] == Title{Text: "◇  Ready (x)"}
	})
	must.Do(t, syscall.Kill(two.PID, syscall.SIGSTOP))
	eventually.True(t, "no title of a suspended process", func() bool { return len(w.titles(two)) == 0 })
	stranger := &table{proc.Open(), []string{"DISPLAY=" + w.Display()}}
	if got := Titles(t.Context(), stranger, "", []proc.Identity{proc.Self()}); len(got) != 0 {
		t.Errorf("a process that only names the display has %+v", got)
	}
}
