package answer

import (
	"context"
	"errors"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"rollcall/adapters"
	"rollcall/app"
	"rollcall/app/control/risk"
	"rollcall/app/settings"
)

// runBoard starts a board over an agent, in a bubble of synctest.
func runBoard(t *testing.T, a *agent, again time.Duration) (*Board, app.Session, *atomic.Int64) {
	t.Helper()
	answers, s := over(a, "")
	changes := new(atomic.Int64)
	b := NewBoard(answers, again, func() { changes.Add(1) })
	ctx, cancel := context.WithCancel(t.Context())
	t.Cleanup(cancel)
	go b.Run(ctx)
	synctest.Wait()
	return b, s, changes
}

func texts(b *Board) string {
	var out []string
	for _, e := range b.List() {
		if !e.Read {
			out = append(out, "?")
		}
		for i := range e.Requests {
			out = append(out, e.Requests[i].Text)
		}
		if e.Nothing {
			out = append(out, "nothing")
		}
		if e.Err != nil {
			out = append(out, e.Err.Error())
		}
	}
	return strings.Join(out, ", ")
}

// TestBoard: what a session asks is read at once, follows what its agent says, and goes with the wait.
func TestBoard(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := asks("ls", "pwd")
		b, s, changes := runBoard(t, a, 2*time.Second)
		b.SetSessions(&app.Snapshot{Own: []app.Session{s}})
		synctest.Wait()
		if got := texts(b); got != "ls, pwd" || changes.Load() != 2 {
			t.Fatalf("%q after %d changes", got, changes.Load())
		}
		a.mu.Lock()
		a.requests = asks("make").requests
		a.mu.Unlock()
		time.Sleep(4 * time.Second)
		if got := texts(b); got != "make" || changes.Load() != 3 {
			t.Errorf("%q after %d changes", got, changes.Load())
		}
		b.SetSessions(&app.Snapshot{Own: []app.Session{s}})
		if changes.Load() != 3 {
			t.Error("the same snapshot is a change")
		}
		if e, ok := b.Of("example", "s1"); !ok || e.Requests[0].Text != "make" {
			t.Errorf("%+v, %v", e, ok)
		}
		s.Status = adapters.Working
		b.SetSessions(&app.Snapshot{Own: []app.Session{s}})
		if _, ok := b.Of("example", "s1"); ok || len(b.List()) != 0 {
			t.Errorf("it works, and the board has %q", texts(b))
		}
	})
}

// TestBoardAfterAnAnswer: an agent whose session counts as waiting, and says that nothing waits, is believed after a
// while only.
func TestBoardAfterAnAnswer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := asks("ls")
		b, s, _ := runBoard(t, a, time.Second)
		b.SetSessions(&app.Snapshot{Own: []app.Session{s}})
		synctest.Wait()
		a.mu.Lock()
		a.requests = nil
		a.mu.Unlock()
		b.Reread("example", "s1")
		synctest.Wait()
		if got := texts(b); got != "" {
			t.Errorf("right after it: %q", got)
		}
		time.Sleep(8 * time.Second)
		if got := texts(b); got != "nothing" {
			t.Errorf("later: %q", got)
		}
	})
}

// hung is an agent that ignores its time limit.
type hung struct {
	*agent
	release chan struct{}
	calls   atomic.Int32
}

func (h *hung) Pending(context.Context, adapters.Session) ([]adapters.Request, error) {
	h.calls.Add(1)
	<-h.release
	return h.requests, nil
}

// TestBoardWithAHungAgent: it is asked once, its session has an error meanwhile, and its late answer counts.
func TestBoardWithAHungAgent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := &hung{agent: asks("ls"), release: make(chan struct{})}
		c := &core{h.agent, h}
		s, _ := c.Current(t.Context(), "example", "s1")
		b := NewBoard(New(c, func() settings.Answering { return "" }), time.Second, func() {})
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		go b.Run(ctx)
		b.SetSessions(&app.Snapshot{Own: []app.Session{s}})
		time.Sleep(10 * time.Second)
		if got := texts(b); !strings.Contains(got, app.ErrNoAnswer.Error()) || h.calls.Load() != 1 {
			t.Errorf("%q after %d calls", got, h.calls.Load())
		}
		close(h.release)
		synctest.Wait()
		if got := texts(b); got != "ls" {
			t.Errorf("after its answer: %q", got)
		}
		limited, end := context.WithTimeout(t.Context(), time.Second)
		defer end()
		if b.Await(limited, &s); limited.Err() != nil {
			t.Error("Await waits for what is known")
		}
	})
}

// TestOtherMachine: a session of another machine is answered there.
func TestOtherMachine(t *testing.T) {
	answers, s := over(asks("ls"), "")
	s.Machine = "devbox"
	if p := answers.Of(t.Context(), s); !errors.Is(p.Err, adapters.ErrAnswerElsewhere) || len(p.Requests) != 0 {
		t.Errorf("%+v", p)
	}
}

// summary returns what a request asks in one line.
func summary(r *Request) string {
	a := AsksOf(&app.Session{}, r)
	return a.Line()
}

func TestSummary(t *testing.T) {
	for text, want := range map[string]string{
		"git push":                    "wants to run: git push",
		"rm -rf x":                    "wants to run: ⚠ rm -rf x",
		"ls\n\x1b[8m\u202ex":          "wants to run: ⚠ ls⏎ <U+001B>[8m<U+202E>x",
		strings.Repeat("a", 1<<20):    "wants to run: ⚠ " + strings.Repeat("a", maxSummary) + "…",
		" ":                           "wants to run",
		"echo \u00e9" + "\t" + "done": "wants to run: echo é<U+0009>done",
	} {
		r := asks(text).requests[0]
		q := Request{Request: r, Dangers: risk.Dangers(&r, r.Folder)}
		if got := summary(&q); got != want {
			t.Errorf("%.40q: %.80q, want %.80q", text, got, want)
		}
	}
}

// TestBoardBeforeThePrompt: an agent that shows its prompt a moment after it waits is read again soon, and not for ever.
func TestBoardBeforeThePrompt(t *testing.T) {
	for shown, want := range map[time.Duration]time.Duration{0: 0, 200 * time.Millisecond: 300 * time.Millisecond, 900 * time.Millisecond: time.Second, 2 * time.Second: 3 * time.Second} {
		synctest.Test(t, func(t *testing.T) {
			a := asks()
			b, s, _ := runBoard(t, a, 15*time.Second)
			began := time.Now()
			time.AfterFunc(shown, func() {
				a.mu.Lock()
				defer a.mu.Unlock()
				a.requests = asks("ls").requests
			})
			synctest.Wait()
			b.SetSessions(&app.Snapshot{Own: []app.Session{s}})
			synctest.Wait()
			for texts(b) != "ls" && time.Since(began) < 10*time.Second {
				time.Sleep(50 * time.Millisecond)
				synctest.Wait()
			}
			if took := time.Since(began); took != want {
				t.Errorf("the prompt of after %v was read after %v, want %v", shown, took, want)
			}
			time.Sleep(10 * time.Second)
		})
	}
	synctest.Test(t, func(t *testing.T) { // one that can't be answered is read four times
		a := asks()
		b, s, _ := runBoard(t, a, 15*time.Second)
		b.SetSessions(&app.Snapshot{Own: []app.Session{s}})
		time.Sleep(10 * time.Second)
		if n := a.asked.Load(); n != 4 {
			t.Errorf("read %d times", n)
		}
	})
}
