//go:build agents && linux

package agents

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"rollcall/internal/must"
)

// optioned is a terminal of an agent whose options are chosen by their numbers.
type optioned struct {
	typist
	sign  string   // that is shown while the agent asks
	moves []string // keys that select another option
	deny  string   // the key that denies
}

// TestKimiInTmux, TestGrokInTmux and their likes: a command that the terminal shows whole is allowed once and denied from outside, also after the user selected another
// option and in a narrow window. A later request is not answered by an earlier answer, and nothing is answered that the terminal shows only in part.
func TestKimiInTmux(t *testing.T) {
	each(t, []Release{KimiNewest}, func(t *testing.T, s *Sandbox, r Release) {
		terminal, _ := openKimi(s)
		s.answersOptions(&optioned{terminal, "Run this command?", []string{"Down"}, "3"}, terminal)
	})
}

func TestGrokInTmux(t *testing.T) {
	each(t, []Release{GrokNewest}, func(t *testing.T, s *Sandbox, r Release) {
		terminal := s.OpenInTmux(s.Argv(r, "--permission-mode", "default")...)
		terminal.Shows("❯")
		s.answersOptions(&optioned{terminal, "No, reject", []string{"Tab"}, "4"}, terminal)
	})
}

func TestKimiInKitty(t *testing.T) {
	nightly(t)
	each(t, []Release{KimiNewest}, func(t *testing.T, s *Sandbox, r Release) {
		s.onPath(r)
		terminal := s.openInKitty("kimi")
		terminal.shows("context:")
		s.answersOptions(&optioned{terminal, "Run this command?", nil, "3"}, nil)
	})
}

func TestGrokInKitty(t *testing.T) {
	nightly(t)
	each(t, []Release{GrokNewest}, func(t *testing.T, s *Sandbox, r Release) {
		terminal := s.openInKitty(s.Argv(r, "--permission-mode", "default")...)
		terminal.shows("❯")
		s.answersOptions(&optioned{terminal, "No, reject", nil, "4"}, nil)
	})
}

// answersOptions answers an agent's requests in its terminal; pane is that of tmux, or nil.
func (s *Sandbox) answersOptions(n *optioned, pane *Terminal) {
	s.t.Helper()
	file := func(name string) string {
		path := filepath.Join(s.Project, name)
		must.Do(s.t, os.WriteFile(path, nil, 0o600))
		return path
	}
	odd := file("a,b}#c[d]*.txt")
	n.Prompt("allow me [[bash rm -rf 'a,b}#c[d]*.txt']]")
	first := s.asks("rm -rf 'a,b}#c[d]*.txt'")
	first = s.answerable(first.Text)
	if first.Kind != "command" || first.Folder != s.Project || !first.CanDeny || first.Harmless {
		s.t.Errorf("%+v", first)
	}
	if pane != nil {
		s.tmux("copy-mode", "-t", pane.pane())
		if code, said := s.answer(first, "--allow"); code == 0 || !strings.Contains(said, "copy mode") {
			s.t.Errorf("in copy mode: exit code %d: %s", code, said)
		}
		s.tmux("send-keys", "-t", pane.pane(), "-X", "cancel")
	}
	n.Press(n.moves...)
	s.answered(first, "--allow")
	s.removed(odd)
	s.stale(first)
	s.Becomes(byID(first.Session.ID), time.Now(), soon, "idle/completed")

	kept := file("kept.txt")
	long := "rm -rf kept.txt " + strings.Repeat("abcdefgh ijk ", 7) + "x"
	n.Prompt("deny me [[bash " + long + "]]")
	second := s.answerable(long) // the first answer allowed nothing else
	s.stale(first)
	if pane != nil {
		s.tmux("resize-window", "-t", pane.pane(), "-x", "90", "-y", "50")
		second = s.answerable(long)
	}
	s.answered(second, "--deny")
	s.rests(second)
	if _, err := os.Stat(kept); err != nil {
		s.t.Errorf("a command that was denied ran: %v", err)
	}

	n.Prompt("elsewhere [[bash rm -rf kept.txt]]")
	third := s.answerable("rm -rf kept.txt")
	n.Press(n.deny)
	s.rests(third)
	s.stale(third)

	lines := "rm -rf kept.txt\n" + strings.Repeat("echo some line\n", 60) + "rm -rf kept.txt"
	n.Prompt("in part [[hold part]]")
	must.Do(s.t, s.Server.Release(s.t.Context(), "part", "[[bash "+lines+"]]"))
	s.asks(lines)
	time.Sleep(3 * time.Second) // the terminal has drawn it
	fourth := s.asks(lines)
	if fourth.CanAllow || fourth.CanDeny {
		s.t.Errorf("%+v", fourth)
	}
	if code, said := s.answer(fourth, "--allow"); code == 0 {
		s.t.Errorf("what is shown in part was allowed: %s", said)
	}
	if _, err := os.Stat(kept); err != nil {
		s.t.Errorf("a command ran that was not allowed: %v", err)
	}
}

// answerable waits until a session asks for exactly this and can be allowed.
func (s *Sandbox) answerable(text string) (found request) {
	s.t.Helper()
	last := ""
	err := poll(soon, func() bool {
		var list []request
		list, last = s.pending()
		for _, r := range list {
			if r.Text == text && r.CanAllow && r.CanDeny {
				found = r
			}
		}
		return found.Request != ""
	})
	if err != nil {
		s.t.Fatalf("%q can't be answered: %v\n%s", text, err, last)
	}
	return found
}

// rests waits until a session's turn is over.
func (s *Sandbox) rests(r request) {
	s.t.Helper()
	s.Becomes(byID(r.Session.ID), time.Now(), soon, "idle/completed", "idle/interrupted")
}

// removed waits until a file is gone.
func (s *Sandbox) removed(path string) {
	s.t.Helper()
	if err := poll(soon, func() bool { return !exists(path) }); err != nil {
		s.t.Errorf("%s was not removed: %v", path, err)
	}
}
