//go:build agents && linux

package agents

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"rollcall/internal/desktoptest"
	"rollcall/internal/must"
)

// window is the window of Rollcall, in the corner of the screen.
type window struct {
	l       *Launcher
	desktop *desktoptest.Desktop
	id      string
	cmd     *exec.Cmd
	ended   chan struct{}
}

// window opens it, with --launch at its launch page.
func (l *Launcher) window(desktop *desktoptest.Desktop, flags ...string) *window {
	l.t.Helper()
	l.terminals++
	log := must.Get(os.Create(fmt.Sprintf("%s/window%d", l.dir, l.terminals)))(l.t)
	defer log.Close()
	cmd := exec.Command(desktopBinary, append([]string{"window"}, flags...)...)
	cmd.Dir = l.Home
	cmd.Env = append(slices.Concat(l.Env(), desktop.Env()), "HOME="+l.Home, "ROLLCALL_SANDBOX="+l.dir, "XDG_STATE_HOME=", "XDG_DATA_HOME=", "XDG_CONFIG_HOME=",
		"PATH="+l.bin+":"+os.Getenv("PATH"))
	cmd.Stdout, cmd.Stderr = log, log
	if err := cmd.Start(); err != nil {
		l.t.Fatal(err)
	}
	w := &window{l: l, desktop: desktop, cmd: cmd, ended: make(chan struct{})}
	go func() { _ = cmd.Wait(); close(w.ended) }()
	l.t.Cleanup(func() {
		_ = cmd.Process.Kill()
		<-w.ended
		if text, err := os.ReadFile(log.Name()); err == nil && l.t.Failed() {
			l.t.Logf("window:\n%.4000s", text)
		}
	})
	if err := poll(20*time.Second, func() bool {
		w.id, _ = w.xdotool("search", "--all", "--onlyvisible", "--pid", fmt.Sprint(cmd.Process.Pid), "--name", "^Rollcall$")
		return w.id != ""
	}); err != nil {
		l.t.Fatalf("no window: %v", err)
	}
	for _, args := range [][]string{{"windowsize", "--sync", w.id, "1000", "760"}, {"windowmove", w.id, "20", "30"}, {"windowactivate", "--sync", w.id}} {
		if out, err := w.xdotool(args...); err != nil {
			l.t.Fatalf("xdotool %v: %v: %s", args, err, out)
		}
	}
	return w
}

// close ends the window as a crash does.
func (w *window) close() {
	_ = w.cmd.Process.Kill()
	<-w.ended
}

func (w *window) xdotool(args ...string) (string, error) {
	cmd := exec.Command("xdotool", args...)
	cmd.Env = w.desktop.Env()
	out, err := cmd.CombinedOutput()
	return strings.TrimSpace(string(out)), err
}

// shoot keeps a picture of the screen.
func (w *window) shoot(name string) {
	w.l.t.Helper()
	path := filepath.Join("..", "..", "build", "shots", name+".png")
	if err := w.desktop.Screenshot(path); err != nil {
		w.l.t.Error(err)
	}
}

// at clicks into the middle of something that the page has at this place.
func (w *window) at(x, y int, text string) {
	w.l.t.Helper()
	if err := w.desktop.Click(x, y, 1); err != nil {
		w.l.t.Fatal(err)
	}
	time.Sleep(500 * time.Millisecond) // nothing tells that the click was taken: nobody types as soon
	if err := w.desktop.Type(w.l.t.Context(), text); err != nil {
		w.l.t.Fatal(err)
	}
}

// Every agent is launched from the window by its user's hands: the only one that
// is installed is chosen already, the folder and the prompt are typed, and
// Ctrl+Enter starts it. Closing the window leaves it at work.
func TestLaunchFromWindow(t *testing.T) {
	nightly(t)
	desktop := newDesktop(t)
	launched(t, func(t *testing.T, l *Launcher) {
		const prompt = "from the window; $(touch pwned) [[delay 20]]"
		w := l.window(desktop, "--launch")
		started := func() []string {
			files, _ := filepath.Glob(l.state("launches", "*.json"))
			return files
		}
		// The page looks for programs first: typed too early, nothing is lost.
		w.at(450, 225, l.Project)
		w.at(450, 505, prompt)
		if err := poll(20*time.Second, func() bool {
			must.Do(t, desktop.Key(t.Context(), "ctrl+Return"))
			return poll(time.Second, func() bool { return len(started()) > 0 }) == nil
		}); err != nil {
			w.shoot("agents-window-" + l.Release.Agent)
			t.Fatalf("nothing was launched: %v", err)
		}
		r := l.Record(strings.TrimSuffix(filepath.Base(started()[0]), ".json"))
		l.Answered(prompt)
		s, agent := l.Own(r.ID)
		if s.Launch.Prompt != prompt || s.CWD != l.Project {
			t.Errorf("listed as %+v of launch %+v", s, s.Launch)
		}
		w.shoot("agents-window-" + l.Release.Agent)
		w.close()
		if again, still := l.Own(r.ID); again.ID != s.ID || still.PID != agent.PID {
			t.Errorf("after the window closed session %s runs in process %d, want %s in %d", again.ID, still.PID, s.ID, agent.PID)
		}
		if n := len(started()); n != 1 {
			t.Errorf("%d launches, want one", n)
		}
	})
}
