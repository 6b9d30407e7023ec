package pane

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"

	"rollcall/internal/desktoptest"
	"rollcall/internal/eventually"
	"rollcall/internal/must"
	"rollcall/proc"
)

// kittyShown is a kitty of the test's own, in which a program shows a file and then what is typed.
type kittyShown struct {
	t     *testing.T
	dir   string
	table *table
	agent proc.Identity
}

// inKitty opens a kitty with these options.
func inKitty(t *testing.T, text string, options ...string) *kittyShown {
	t.Helper()
	must.Have(t, "kitty")
	d := desktoptest.For(t, desktoptest.Options{})
	k := &kittyShown{t: t, dir: t.TempDir()}
	file := filepath.Join(k.dir, "screen")
	must.Do(t, os.WriteFile(file, []byte(text), 0o600))
	const program = `stty -echo -icanon; printf '\033[2J\033[H'; cat "$1"; echo $$ > "$1.pid"; env > "$1.env"; exec cat > "$1.typed"`
	cmd := exec.Command("kitty", append(append([]string{"--config", "NONE", "-o", "initial_window_width=100c", "-o", "initial_window_height=40c", "-o", "remember_window_size=no"}, options...),
		"sh", "-c", program, "sh", file)...)
	cmd.Env = d.Env()
	must.Do(t, cmd.Start())
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
	eventually.True(t, "the program runs", func() bool { return k.read("screen.env") != "" })
	k.agent = identity(t, strings.TrimSpace(k.read("screen.pid")))
	k.table = &table{proc.Open(), strings.Split(strings.TrimSpace(k.read("screen.env")), "\n")}
	return k
}

// read returns a file of the program; "" if it is not there yet.
func (k *kittyShown) read(name string) string {
	k.t.Helper()
	b, err := os.ReadFile(filepath.Join(k.dir, name))
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		k.t.Fatal(err)
	}
	return string(b)
}

// find returns the pane, once it shows a line.
func (k *kittyShown) find(line string) (p Pane, screen []string, d *Dialog) {
	k.t.Helper()
	eventually.True(k.t, "the text is shown", func() bool {
		p = must.Get(Find(k.t.Context(), k.table, k.agent))(k.t)
		screen = must.Get(p.Screen(k.t.Context()))(k.t)
		return strings.Contains(strings.Join(screen, "\n"), line)
	})
	d, ok := FindDialog(screen)
	if !ok {
		k.t.Fatalf("no dialog in\n%s", strings.Join(screen, "\n"))
	}
	return p, screen, d
}

// TestKitty: kitty presses a key once, while it shows each row of the dialog and nothing else.
func TestKitty(t *testing.T) {
	const command = `touch 'a"b' ü 漢字; echo $(x) \n {} %`
	k := inKitty(t, prompt(command), "-o", "allow_remote_control=yes", "--listen-on", "unix:@rollcall-test-"+strconv.Itoa(os.Getpid()))
	p, screen, d := k.find("Esc to cancel")
	if d.Body != command || len(d.Options) != 3 {
		t.Errorf("%+v", d)
	}
	t.Setenv("TMPDIR", t.TempDir()) // which shows what Press leaves behind
	for _, row := range d.Rows {
		other := append([]string(nil), screen...)
		other[row] += "x"
		if err := p.Press(t.Context(), "1", "k", other, d.Rows); !errors.Is(err, ErrRefused) {
			t.Errorf("another line %d: %v", row, err)
		}
	}
	var group sync.WaitGroup
	results := make(chan error, 4)
	for range cap(results) {
		group.Go(func() { results <- p.Press(t.Context(), "1", "k", screen, d.Rows) })
	}
	group.Wait()
	close(results)
	pressed := 0
	for err := range results {
		if err == nil {
			pressed++
		} else if !errors.Is(err, ErrRefused) {
			t.Error(err)
		}
	}
	eventually.True(t, "the key is typed", func() bool { return k.read("screen.typed") != "" })
	if got := k.read("screen.typed"); pressed != 1 || got != "1" {
		t.Errorf("%d pressed a key, and %q was typed", pressed, got)
	}
	if left, err := filepath.Glob(filepath.Join(os.TempDir(), "*")); err != nil || len(left) != 0 {
		t.Errorf("left behind: %q, %v", left, err)
	}
}

// TestKittyHistory: a window that shows its history is neither read nor given a key.
func TestKittyHistory(t *testing.T) {
	address := "unix:" + filepath.Join(t.TempDir(), "k")
	k := inKitty(t, strings.Repeat("old\n", 100)+prompt("touch a"), "-o", "allow_remote_control=yes", "--listen-on", address)
	p, screen, d := k.find("Esc to cancel")
	if out, err := exec.CommandContext(t.Context(), "kitty", "@", "--to", address, "scroll-window", "5-").CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	if err := p.Press(t.Context(), "1", "k", screen, d.Rows); !errors.Is(err, ErrRefused) {
		t.Errorf("pressed: %v", err)
	}
	if _, err := p.Screen(t.Context()); !errors.Is(err, ErrRefused) {
		t.Errorf("read: %v", err)
	}
	if got := k.read("screen.typed"); got != "" {
		t.Errorf("typed %q", got)
	}
}

// TestKittyWithoutControl: where remote control is off, or the socket or the window is another one's.
func TestKittyWithoutControl(t *testing.T) {
	k := inKitty(t, prompt("touch a"))
	if _, err := Find(t.Context(), k.table, k.agent); !errors.Is(err, ErrNoPane) || !strings.Contains(err.Error(), "remote control is off") {
		t.Errorf("without a socket: %v", err)
	}
	k.table.env = append(k.table.env, "KITTY_LISTEN_ON=unix:@rollcall-test-nobody")
	if _, err := Find(t.Context(), k.table, k.agent); !errors.Is(err, ErrNoPane) || !strings.Contains(err.Error(), "another program") {
		t.Errorf("a socket on which nobody listens: %v", err)
	}
	if _, err := Find(t.Context(), k.table, proc.Self()); !errors.Is(err, ErrNoPane) {
		t.Errorf("a process that only inherited the variables: %v", err)
	}
}
