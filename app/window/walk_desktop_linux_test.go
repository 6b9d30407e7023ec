//go:build desktop && !headless

package window

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
	"rollcall/internal/eventually"
	"rollcall/internal/must"
)

// says waits until the window process prints a line with this beginning, and returns the rest of it. It keeps the other lines.
func (p *process) says(begin string) string {
	p.d.t.Helper()
	limit := time.After(wait)
	for {
		if rest, ok := p.kept(begin); ok {
			return rest
		}
		select {
		case got, ok := <-p.said:
			if !ok {
				p.d.t.Fatalf("the window process ended before it said %q\n%s", begin, p.stderr.String())
			}
			p.lines = append(p.lines, got)
		case <-limit:
			p.d.t.Fatalf("the window process didn't say %q", begin)
		}
	}
}

// kept takes the first of the kept lines that has this beginning, and returns the rest of it.
func (p *process) kept(begin string) (rest string, ok bool) {
	i := slices.IndexFunc(p.lines, func(line string) bool { return strings.HasPrefix(line, begin) })
	if i < 0 {
		return "", false
	}
	rest = p.lines[i][len(begin):]
	p.lines = slices.Delete(p.lines, i, i+1)
	return rest, true
}

// focus returns the widget that has the focus: its address, and what a person sees of it.
func (p *process) focus() (address, text string) {
	p.d.t.Helper()
	address, text, _ = strings.Cut(p.ask("focus"), " ")
	return address, text
}

// ask asks the window process a question of obey, and returns its answer. It pauses before: the window draws on the goroutine that answers.
func (p *process) ask(words ...any) string {
	p.d.t.Helper()
	time.Sleep(100 * time.Millisecond)
	if _, err := fmt.Fprintln(p.stdin, words...); err != nil {
		p.d.t.Fatal(err)
	}
	return p.says(fmt.Sprint(words[0], " "))
}

// focusIs waits until a widget with this text has the focus.
func (p *process) focusIs(want string) {
	p.d.t.Helper()
	eventually.True(p.d.t, "the focus on "+want, func() bool {
		_, text := p.focus()
		return text == want
	})
}

// tabTo presses Tab until a widget with this text has the focus.
func (p *process) tabTo(want string) {
	p.d.t.Helper()
	var seen []string
	for range 60 {
		address, text := p.focus()
		if text == want {
			return
		}
		seen = append(seen, text)
		p.d.key("Tab")
		eventually.True(p.d.t, "the next focus after "+text, func() bool {
			next, _ := p.focus()
			return next != address
		})
	}
	p.d.t.Fatalf("Tab doesn't reach %q, but %q", want, seen)
}

// TestDesktopKeyboardWalk: by keys alone a session is stopped, for real, a conversation is found and read, the usage of a year is read, and a setting is
// changed, which shows at once.
func TestDesktopKeyboardWalk(t *testing.T) {
	d := newScreen(t, desktoptest.Options{Dark: true})
	file := filepath.Join(t.TempDir(), "rollcall", "config.toml")
	agent := exec.Command("sleep", "600")
	must.Do(t, agent.Start())
	ended := make(chan struct{})
	go func() {
		_ = agent.Wait()
		close(ended)
	}()
	t.Cleanup(func() {
		_ = agent.Process.Kill()
		<-ended
	})
	p := d.open(fmt.Sprint(walkVariable, "=", agent.Process.Pid), settingsVariable+"="+file)
	p.activate()
	d.drawn()

	d.key("ctrl+1")
	p.tabTo("*ui.sessionList")
	d.key("Home", "Return")
	p.tabTo("Stop…")
	d.shootSoon("walk-stop")
	p.tabTo("Stop…") // the buttons are laid out again when the session's terminal was looked for, and the focus may have gone on
	d.key("Return")
	p.focusIs("Cancel")
	p.tabTo("Stop")
	d.key("Return")
	select {
	case <-ended:
	case <-time.After(wait):
		t.Fatal("the session still runs")
	}
	p.focusIs("Close")
	d.key("Return")

	d.key("ctrl+5")
	p.focusIs("retry the upload") // its example
	must.Do(t, d.Type(d.ctx, "CANARY"))
	p.tabTo("*widgets.List")
	d.key("Return")
	p.says("the hit is read")
	d.shootSoon("walk-search")

	d.key("ctrl+6")
	p.says("usage of ")
	p.tabTo("Last 30 days")
	d.key("Down")
	p.says("usage of 36")
	d.shootSoon("walk-usage")

	d.key("ctrl+comma")
	p.tabTo("Same as the desktop")
	d.shootSoon("walk-settings")
	d.key("Down")
	eventually.True(t, "the setting", func() bool {
		text, _ := os.ReadFile(file)
		return string(text) == "theme = \"light\"\n"
	})
	eventually.True(t, "the light window", func() bool { return !d.isDark() })
	d.key("ctrl+w")
	p.end()
}

// TestDesktopFirstStart: the first window opens at the introduction by itself, which Enter leaves; the second one opens at the sessions.
func TestDesktopFirstStart(t *testing.T) {
	d := newScreen(t, desktoptest.Options{})
	env := []string{fmt.Sprint(walkVariable, "=", os.Getpid()), settingsVariable + "=" + filepath.Join(t.TempDir(), "config.toml"), introduceVariable + "=1"}
	p := d.open(env...)
	p.activate()
	d.drawn()
	p.focusIs("Show my sessions")
	d.shootSoon("first-start")
	d.key("Return")
	eventually.True(t, "the sessions", func() bool {
		_, text := p.focus()
		return text != "Show my sessions"
	})
	d.key("ctrl+w")
	p.end()

	p = d.open(env...)
	p.activate()
	d.drawn()
	if _, text := p.focus(); text == "Show my sessions" {
		t.Error("the second window introduces the program again")
	}
	d.key("ctrl+w")
	p.end()
}
