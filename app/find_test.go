package app

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"rollcall/adapters"
)

// namer is an agent that can name its sessions without reading them.
type namer struct {
	*agent
	err   error
	named atomic.Int32
}

func (a *namer) Named(_ context.Context, prefix string) ([]string, error) {
	a.named.Add(1)
	var ids []string
	for _, s := range a.sessions {
		if strings.HasPrefix(s.ID, prefix) {
			ids = append(ids, s.ID)
		}
	}
	return ids, a.err
}

// An agent that can name its sessions is asked for those alone; when the names
// are not all there, for everything.
func TestFindByName(t *testing.T) {
	for _, broken := range []bool{false, true} {
		a := &namer{agent: &agent{name: adapters.ClaudeCode}}
		b := &agent{name: adapters.Codex}
		a.says(nil, on("abc-1", adapters.Idle, 0), on("abd-2", adapters.Idle, 0))
		b.says(nil, on("xyz-3", adapters.Idle, 0))
		if broken {
			a.err = errors.New("a folder can't be read")
		}
		c := New(Config{Adapters: []adapters.Adapter{a, b}})
		if s, _, err := c.Find(t.Context(), "abc"); err != nil || s.ID != "abc-1" {
			t.Errorf("found %q, %v", s.ID, err)
		}
		whole := slices.ContainsFunc(a.questions(), func(q adapters.Query) bool { return q.IDs == nil })
		if a.named.Load() != 1 || whole != broken {
			t.Errorf("named %d times, asked %+v", a.named.Load(), a.questions())
		}
		if s, _, err := c.Find(t.Context(), "xy"); err != nil || s.ID != "xyz-3" {
			t.Errorf("found %q, %v", s.ID, err)
		}
		var many *AmbiguousError
		if _, _, err := c.Find(t.Context(), "ab"); !errors.As(err, &many) || len(many.Matches) != 2 {
			t.Errorf("ambiguous: %v", err)
		}
		if _, _, err := c.Find(t.Context(), "nobody"); !errors.Is(err, ErrNoSession) {
			t.Errorf("nobody: %v", err)
		}
	}
}
