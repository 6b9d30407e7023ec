package adaptertest_test

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"rollcall/adapters"
	"rollcall/adapters/claudecode"
	"rollcall/internal/adaptertest"
	"rollcall/internal/adaptertest/scene"
)

// sabotage spoils the answers of an adapter that is right.
type sabotage struct {
	*claudecode.Adapter
	home  string
	spoil func(s *sabotage, ctx context.Context, roll *adapters.Roll, err *error)

	mu   sync.Mutex
	seen map[string]adapters.Session
}

func (s *sabotage) Discover(ctx context.Context, q adapters.Query) (adapters.Roll, error) {
	roll, err := s.Adapter.Discover(ctx, q)
	s.spoil(s, ctx, &roll, &err)
	return roll, err
}

// sabotages are mistakes, each with the check that must find it.
var sabotages = map[string]struct {
	check string
	spoil func(s *sabotage, ctx context.Context, roll *adapters.Roll, err *error)
}{
	"says that nothing is there, of what is absent": {"absent", func(_ *sabotage, _ context.Context, _ *adapters.Roll, err *error) { *err = nil }},
	"loses a session": {"statuses", func(_ *sabotage, _ context.Context, roll *adapters.Roll, _ *error) {
		if len(roll.Sessions) > 2 {
			roll.Sessions = roll.Sessions[1:]
		}
	}},
	"reads its own home alone": {"named home", func(s *sabotage, _ context.Context, roll *adapters.Roll, _ *error) {
		roll.Sessions = slices.DeleteFunc(roll.Sessions, func(one adapters.Session) bool { return !strings.HasPrefix(one.Home, s.home) })
	}},
	"lists one twice": {"at once", func(_ *sabotage, _ context.Context, roll *adapters.Roll, _ *error) {
		roll.Sessions = append(roll.Sessions, roll.Sessions[0])
	}},
	"remembers what was live": {"zombie", func(s *sabotage, _ context.Context, roll *adapters.Roll, _ *error) {
		s.mu.Lock()
		defer s.mu.Unlock()
		for i, now := range roll.Sessions {
			if was, known := s.seen[now.ID]; known && was.Status != adapters.Stopped {
				roll.Sessions[i] = was
			}
			s.seen[now.ID] = now
		}
	}},
	"trusts a pid": {"pid reused", func(_ *sabotage, _ context.Context, roll *adapters.Roll, _ *error) {
		for i := range roll.Sessions {
			roll.Sessions[i].Status, roll.Sessions[i].Outcome = adapters.Working, ""
		}
	}},
	"hides what can't be read": {"unreadable", func(_ *sabotage, _ context.Context, _ *adapters.Roll, err *error) { *err = nil }},
	"hides a new form":         {"unknown form", func(_ *sabotage, _ context.Context, _ *adapters.Roll, err *error) { *err = nil }},
	"doesn't count":            {"unknown record", func(_ *sabotage, _ context.Context, roll *adapters.Roll, _ *error) { roll.Skipped = nil }},
	"ignores its context":      {"cancelled", func(*sabotage, context.Context, *adapters.Roll, *error) { time.Sleep(3100 * time.Millisecond) }},
	"leaves a goroutine":       {"cancelled", func(_ *sabotage, ctx context.Context, _ *adapters.Roll, _ *error) { go func() { select {} }() }},
	"answers of long ago": {"changing", func(s *sabotage, _ context.Context, roll *adapters.Roll, _ *error) {
		s.mu.Lock()
		defer s.mu.Unlock()
		for i, now := range roll.Sessions {
			if was, known := s.seen[now.ID]; known {
				roll.Sessions[i] = was
			} else {
				s.seen[now.ID] = now
			}
		}
	}},
	"leaves a file": {"untouched", func(s *sabotage, _ context.Context, _ *adapters.Roll, _ *error) {
		_ = os.WriteFile(filepath.Join(s.home, ".claude", "seen"), nil, 0o600)
	}},
	"touches a folder": {"untouched", func(s *sabotage, _ context.Context, _ *adapters.Roll, _ *error) {
		path := filepath.Join(s.home, ".claude", "seen")
		_ = os.WriteFile(path, nil, 0o600)
		_ = os.Remove(path)
	}},
}

func spoiled(name string) adaptertest.Subject {
	return adaptertest.Subject{
		Agent: scene.ClaudeCode,
		New: func(w *scene.Environment) adapters.Adapter {
			return &sabotage{Adapter: claudecode.New(adapters.Config{Home: w.Home, Env: w.Env, Table: w.Table, Homes: w.NamedHomes}),
				home: w.Home, spoil: sabotages[name].spoil, seen: map[string]adapters.Session{}}
		},
		Exempt: map[string]string{"socket hangs": "it has none"},
	}
}

const spoil = "ADAPTERTEST_SABOTAGE"

// TestSabotaged is what TestConformanceFinds runs in a process of its own.
func TestSabotaged(t *testing.T) {
	name := os.Getenv(spoil)
	if name == "" {
		t.Skip("it is run by TestConformanceFinds")
	}
	adaptertest.Conformance(t, spoiled(name))
}

// Every mistake is found by the check that is there for it.
func TestConformanceFinds(t *testing.T) {
	for name, s := range sabotages {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			cmd := exec.Command(os.Args[0], "-test.run", "^TestSabotaged$/^"+strings.ReplaceAll(s.check, " ", "_")+"$", "-test.timeout", "180s")
			cmd.Env = append(os.Environ(), spoil+"="+name)
			out, err := cmd.CombinedOutput()
			want := "FAIL: TestSabotaged/" + strings.ReplaceAll(s.check, " ", "_")
			if err == nil || !strings.Contains(string(out), want) {
				t.Errorf("%v, want %q: %s", err, want, out)
			}
		})
	}
}
