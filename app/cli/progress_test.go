package cli

import (
	"bytes"
	"context"
	"strings"
	"sync"
	"testing"

	"rollcall/adapters"
	"rollcall/internal/agentname"
	"rollcall/proc"
)

// slow is an agent that answers once the user was told that it is being read.
type slow struct {
	agent
	told chan struct{}
}

func (a *slow) Discover(ctx context.Context, q adapters.Query) (adapters.Roll, error) {
	select {
	case <-a.told:
	case <-ctx.Done():
		return adapters.Roll{}, ctx.Err()
	}
	return a.agent.Discover(ctx, q)
}

// watched is a terminal that reports the first line that has a text.
type watched struct {
	mu   sync.Mutex
	buf  bytes.Buffer
	text string
	told chan struct{}
}

func (w *watched) Write(b []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if strings.Contains(string(b), w.text) && !strings.Contains(w.buf.String(), w.text) {
		close(w.told)
	}
	return w.buf.Write(b)
}

func (w *watched) String() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.buf.String()
}

// A list that takes long shows on a terminal who has not answered yet, and removes that line.
func TestListProgress(t *testing.T) {
	told := make(chan struct{})
	a := &slow{*codex(simple("s1", agentname.Codex, adapters.Idle, 0)), told}
	d := deps(claude(full()), a)
	d.Limit = wholeLimit
	errs := &watched{text: "reading Codex… 1 session so far", told: told}
	var out bytes.Buffer
	code := Execute(t.Context(), []string{"list"}, Streams{Out: &out, Err: errs, Width: 80}, d)
	if code != 0 || !strings.HasSuffix(errs.String(), "\r\x1b[K") || !strings.Contains(out.String(), "s1") {
		t.Errorf("code %d, %q, %q", code, errs, out.String())
	}
	a = &slow{*codex(simple("s1", agentname.Codex, adapters.Idle, 0)), make(chan struct{})}
	d = deps(claude(full()), a) // it never answers, and nothing of a progress goes into a pipe
	if r := run(t, d, "list"); strings.Contains(r.err, "reading") || strings.Contains(r.err, "\x1b") {
		t.Errorf("%q", r.err)
	}
}

// --no-cache counts before the adapters are made.
func TestNoCache(t *testing.T) {
	for _, args := range [][]string{{"list"}, {"--no-cache", "list"}, {"list", "--no-cache"}} {
		d := deps(claude(full()))
		off, open := false, d.Open
		d.WithoutCache = func() { off = true }
		d.Open = func() ([]adapters.Adapter, proc.Lister) {
			if want := len(args) > 1; off != want {
				t.Errorf("%q: off %t, want %t", args, off, want)
			}
			return open()
		}
		if r := run(t, d, args...); r.code != 0 {
			t.Errorf("%+v", r)
		}
	}
}

// doctor shows where the cache is and how large.
func TestDoctorCache(t *testing.T) {
	cache := t.TempDir()
	t.Setenv("XDG_CACHE_HOME", cache)
	if r := run(t, deps(claude(full())), "doctor"); !strings.Contains(r.out, "cache: ") || r.code != 0 {
		t.Errorf("%+v", r)
	}
}
