package fuse

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"rollcall/internal/eventually"
	"rollcall/internal/must"
)

const (
	sessionVariable = "ROLLCALL_FUSE_TEST_SESSION"
	// racesVariable is how often each race is run.
	racesVariable = "ROLLCALL_CONTINUE_RACES"
)

// storedSession is a session that is at its limit and whose agent is a folder of files, which several processes use.
type storedSession string

func (s storedSession) path(name string) string { return filepath.Join(string(s), name) }

func (s storedSession) has(name string) bool {
	_, err := os.Stat(s.path(name))
	return err == nil
}

// begin begins a turn, unless one is open. It reports who began it.
func (s storedSession) begin(by string) error {
	f, err := os.OpenFile(s.path("turn"), os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	return errors.Join(f.Close(), s.add("turns", by))
}

func (s storedSession) add(name, line string) error {
	f, err := os.OpenFile(s.path(name), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintln(f, line)
	return errors.Join(err, f.Close())
}

func (s storedSession) count(name, line string) (n int) {
	text, _ := os.ReadFile(s.path(name))
	for _, l := range strings.Split(string(text), "\n") {
		if l == line {
			n++
		}
	}
	return n
}

// prompt is the Continue of a keeper. A kill can end it before and after the agent has the prompt.
func (s storedSession) prompt(context.Context, Continue) (string, error) {
	pause := func() { time.Sleep(rand.N(5 * time.Millisecond)) } // the race that is tested
	if err := s.add("turns", "call"); err != nil {
		return "", err
	}
	pause()
	if s.has("deleted") {
		return "", errors.New("no such session")
	}
	if s.has("turns-by-hand") {
		return "", errors.New("it was used since")
	}
	if err := s.begin("keeper"); err != nil {
		return "", errors.New("it is working")
	}
	pause()
	return "the session has the prompt", nil
}

// now is the clock of the processes: the system's, set by the test.
func (s storedSession) now() time.Time {
	text, _ := os.ReadFile(s.path("clock"))
	off, _ := time.ParseDuration(string(text))
	return time.Now().Add(off)
}

func (s storedSession) setClock(t *testing.T, off time.Duration) {
	t.Helper()
	next := s.path("clock-" + off.String())
	if err := errors.Join(os.WriteFile(next, []byte(off.String()), 0o600), os.Rename(next, s.path("clock"))); err != nil {
		t.Error(err)
	}
}

// keeper starts a process that keeps the fuses.
func (s storedSession) keeper(t *testing.T, fuses *Fuses) (kill func()) {
	t.Helper()
	p := exec.Command(os.Args[0])
	p.Env = append(os.Environ(), stateVariable+"="+fuses.Folder(), sessionVariable+"="+string(s))
	must.Do(t, p.Start())
	return func() {
		_ = p.Process.Kill()
		_ = p.Wait()
	}
}

// TestContinueRacesOfProcesses: keepers are real processes. One is killed at any moment while a user continues or cancels, the clock jumps, a second keeper runs, the
// limit is hit again, or the session is deleted. The session never gets the prompt twice, nor after the user's, and what is told is what happened.
func TestContinueRacesOfProcesses(t *testing.T) {
	races := 5
	if text := os.Getenv(racesVariable); text != "" {
		races = must.Get(strconv.Atoi(text))(t)
	}
	for name, disturb := range map[string]func(b *bench, s storedSession, kill func()){
		"keeper killed": func(_ *bench, _ storedSession, kill func()) { kill() },
		"cancelled": func(b *bench, s storedSession, _ func()) {
			if _, err := b.CancelContinue(context.Background(), "s1"); err == nil {
				_ = s.add("turns", "cancel")
			}
		},
		"by hand": func(_ *bench, s storedSession, _ func()) {
			if s.begin("hand") == nil {
				_ = s.add("turns-by-hand", "1")
			}
		},
		"clock jumps": func(b *bench, s storedSession, _ func()) {
			s.setClock(b.t, time.Hour)
			s.setClock(b.t, -time.Hour)
		},
		"limit again":     func(_ *bench, s storedSession, _ func()) { _ = os.Remove(s.path("turn")) },
		"session deleted": func(_ *bench, s storedSession, _ func()) { _ = s.add("deleted", "") },
	} {
		for i := range races {
			t.Run(fmt.Sprint(name, " ", i), func(t *testing.T) {
				t.Parallel()
				continueRace(t, storedSession(t.TempDir()), disturb)
			})
		}
	}
}

func continueRace(t *testing.T, s storedSession, disturb func(b *bench, s storedSession, kill func())) {
	b := newBench(t)
	x := must.Get(b.SetContinue(t.Context(), limited("s1", b.now()), "Go on.", b.now().Add(150*time.Millisecond)))(t)
	first, second := s.keeper(t, b.Fuses), s.keeper(t, b.Fuses)
	defer second()
	due := func() bool { return time.Now().After(x.Expires) }
	eventually.True(t, "the time", due)
	time.Sleep(rand.N(15 * time.Millisecond)) // the race that is tested
	disturb(b, s, first)
	first()
	s.setClock(t, time.Minute)
	third := s.keeper(t, b.Fuses)
	defer third()
	if s.count("turns", "cancel") > 0 {
		b.setContinue("s2", time.Millisecond) // the only one that is continued
	}
	eventually.True(t, "it is decided", func() bool { got := b.only(); return got.Finished() || got.ResultUnknown() })
	got := b.only()
	calls := s.count("turns", "call")
	prompts := s.count("turns", "keeper")
	byHand := s.count("turns", "hand")
	switch {
	case calls > 1 || prompts > 1 || prompts > 0 && byHand > 0:
		t.Errorf("%d calls, %d prompts, %d by hand", calls, prompts, byHand)
	case got.ResultUnknown(): // told as such
	case got.Outcome == Succeeded && prompts != 1 || got.Outcome == Failed && prompts > 0 || got.Outcome == "":
		t.Errorf("%s, %q: %d prompts", got.Outcome, got.Results, prompts)
	}
}
