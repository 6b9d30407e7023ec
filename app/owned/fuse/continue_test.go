package fuse

import (
	"context"
	"errors"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"rollcall/adapters"
	"rollcall/app"
	"rollcall/internal/eventually"
	"rollcall/internal/must"
)

// limited returns a session that was last active at a time.
func limited(id string, active time.Time) *app.Session {
	return &app.Session{Session: adapters.Session{Agent: "codex", ID: id, Place: adapters.Place{CWD: "/gone/" + id}, Times: adapters.Times{LastActivityAt: active}}}
}

func (b *bench) setContinue(id string, in time.Duration) Fuse {
	b.t.Helper()
	x := must.Get(b.SetContinue(b.t.Context(), limited(id, b.now()), "Go on.", b.now().Add(in)))(b.t)
	return x
}

// continuing runs a keeper that calls do for each session, until the returned function is called.
func (f *Fuses) continuing(t *testing.T, do func(context.Context, Continue) (string, error)) (stop func()) {
	t.Helper()
	k := NewKeeper(f, slog.New(slog.DiscardHandler), nil)
	k.Continue = do
	ctx, cancel := context.WithCancel(context.Background())
	var running sync.WaitGroup
	running.Go(func() { _ = k.RunUntil(ctx, ctx) })
	return func() { cancel(); running.Wait() }
}

// TestContinueSetCancel: the timer of a session and that of its folder do not know each other.
func TestContinueSetCancel(t *testing.T) {
	b := newBench(t)
	dir := t.TempDir()
	b.set(Fuse{Path: dir, Script: "true"}, time.Hour)
	if _, err := b.SetContinue(t.Context(), limited("s1", b.now()), " Go on. ", b.now().Add(time.Hour)); err != nil {
		t.Fatal(err)
	}
	if _, err := b.SetContinue(t.Context(), limited("s1", b.now()), " Go on. ", b.now().Add(2*time.Hour)); !errors.Is(err, ErrExists) {
		t.Errorf("set twice: %v", err)
	}
	for _, in := range []time.Duration{-time.Second, 0, Most + time.Hour} {
		if _, err := b.SetContinue(t.Context(), limited("s2", b.now()), "x", b.now().Add(in)); err == nil {
			t.Errorf("in %s: no error", in)
		}
	}
	if _, err := b.SetContinue(t.Context(), limited("s2", b.now()), strings.Repeat("x", MaxPrompt+1), b.now().Add(time.Hour)); err == nil {
		t.Error("a huge prompt: no error")
	}
	if near, err := b.Near(dir); len(near) != 1 || near[0].Continue != nil || err != nil {
		t.Errorf("near %+v, %v", near, err)
	}
	if x, err := b.Cancel(t.Context(), dir); err != nil || x.Continue != nil {
		t.Errorf("cancelled %+v, %v", x, err)
	}
	if _, err := b.Cancel(t.Context(), dir); !errors.Is(err, ErrNone) {
		t.Errorf("the timer of a session was cancelled as that of a folder: %v", err)
	}
	if x := b.only(); x.Continue == nil || x.Continue.Prompt != "Go on." {
		t.Errorf("%+v", x)
	}
	if _, err := b.CancelContinue(t.Context(), "s1"); err != nil {
		t.Error(err)
	}
	if _, err := b.CancelContinue(t.Context(), "s1"); !errors.Is(err, ErrNoContinue) {
		t.Errorf("cancelled twice: %v", err)
	}
}

// TestContinueOnce: the result is kept, and the session is not continued again, neither by a later keeper nor when the clock is set back.
func TestContinueOnce(t *testing.T) {
	b := newBench(t)
	b.setContinue("s1", 30*time.Minute)
	b.setContinue("late", time.Minute)
	b.setContinue("fails", 30*time.Minute)
	b.later(-20 * time.Minute) // a limit is reset at its time of day
	var calls atomic.Int32
	do := func(_ context.Context, c Continue) (string, error) {
		calls.Add(1)
		if c.Session == "fails" {
			return "", errors.New("it was used since")
		}
		return "the session has the prompt", nil
	}
	stop := b.continuing(t, do)
	stop()
	if calls.Load() > 0 {
		t.Fatal("continued before its time")
	}
	b.later(51*time.Minute - time.Second)
	b.later(Late - 10*time.Minute) // "late" is later than Late now
	stop = b.continuing(t, do)
	want := map[string]string{"s1": "the session has the prompt", "late": "not continued: the time passed", "fails": "not continued: it was used since"}
	eventually.True(t, "all have results", func() bool {
		list, _ := b.List()
		for _, x := range list {
			if !x.Finished() {
				return false
			}
		}
		return len(list) == 3
	})
	stop()
	list, _ := b.List()
	for _, x := range list {
		if s := x.Continue.Session; !strings.HasPrefix(x.Results[0], want[s]) || (x.Outcome == Failed) != (s != "s1") {
			t.Errorf("%s: %q, %s", s, x.Results, x.Outcome)
		}
		if _, err := b.Retry(t.Context(), x.Path); err == nil {
			t.Errorf("%s is tried again", x.Continue.Session)
		}
	}
	b.later(-24 * time.Hour)
	stop = b.continuing(t, do)
	b.setContinue("next", time.Millisecond)
	eventually.True(t, "the next is continued", func() bool { return calls.Load() == 3 })
	stop()
	if calls.Load() != 3 {
		t.Errorf("%d calls", calls.Load())
	}
}

// TestContinueKeeperKilled: a session that a killed keeper may have continued is left alone by the next.
func TestContinueKeeperKilled(t *testing.T) {
	b := newBench(t)
	begun := filepath.Join(t.TempDir(), "begun")
	if _, err := b.SetContinue(t.Context(), limited("s1", b.now()), begun, b.now().Add(time.Millisecond)); err != nil {
		t.Fatal(err)
	}
	keeper := exec.Command(os.Args[0])
	keeper.Env = append(os.Environ(), stateVariable+"="+b.Folder())
	must.Do(t, keeper.Start())
	eventually.True(t, "the keeper to begin", func() bool { _, err := os.Stat(begun); return err == nil })
	if _, err := b.CancelContinue(t.Context(), "s1"); !errors.Is(err, ErrNoContinue) {
		t.Errorf("cancelled while it is continued: %v", err)
	}
	if _, err := b.SetContinue(t.Context(), limited("s1", b.now()), "x", b.now().Add(time.Hour)); !errors.Is(err, ErrRunning) {
		t.Errorf("set while it is continued: %v", err)
	}
	_ = keeper.Process.Kill()
	_ = keeper.Wait()
	if x := b.only(); !x.ResultUnknown() || x.Pending() {
		t.Errorf("%+v", x)
	}
	var calls atomic.Int32
	other := make(chan struct{})
	stop := b.continuing(t, func(_ context.Context, c Continue) (string, error) {
		calls.Add(1)
		close(other)
		return c.Session, nil
	})
	b.setContinue("s2", time.Millisecond)
	<-other
	stop()
	if calls.Load() != 1 {
		t.Errorf("continued %d times", calls.Load())
	}
}
