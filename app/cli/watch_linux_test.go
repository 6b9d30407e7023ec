package cli

import (
	"bufio"
	"context"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"rollcall/adapters"
	"rollcall/app/owned/fuse"
	"rollcall/app/store"
	"rollcall/internal/agentname"
	"rollcall/internal/eventually"
	"rollcall/internal/must"
	"rollcall/proc"
)

// busySoon is an adapter whose sessions are idle in its first answer and as the agent has them in the next, which it reports
// by itself.
type busySoon struct {
	*agent
	once     sync.Once
	answered chan struct{} // closed with the first answer
}

func becomesBusy(list ...adapters.Session) *busySoon {
	return &busySoon{agent: claude(list...), answered: make(chan struct{})}
}

func (b *busySoon) Discover(ctx context.Context, q adapters.Query) (adapters.Roll, error) {
	roll, err := b.agent.Discover(ctx, q)
	b.once.Do(func() {
		for i := range roll.Sessions {
			roll.Sessions[i].Status = adapters.Idle
		}
		close(b.answered)
	})
	return roll, err
}

// Push implements adapters.Pusher.
func (b *busySoon) Push(ctx context.Context, changed func()) {
	select {
	case <-b.answered:
		changed()
		<-ctx.Done()
	case <-ctx.Done():
	}
}

// TestWatch watches a real process end, and a fuse.
func TestWatch(t *testing.T) {
	s := running(t, simple("one", agentname.ClaudeCode, adapters.Working, time.Second), "sleep", "60")
	d := withTable(becomesBusy(s))
	f := fuse.In(store.In(filepath.Join(t.TempDir(), "fuses")))
	d.Fuses = func() (*fuse.Fuses, error) { return f, nil }
	ctx, cancel := context.WithCancel(t.Context())
	out, in := io.Pipe()
	code := make(chan int, 1)
	go func() {
		r := runOn(ctx, t, Streams{Out: in}, d, "watch", "--json")
		_ = in.Close()
		code <- r.code
	}()
	lines := make(chan eventJSON, 10)
	go func() {
		defer close(lines)
		for sc := bufio.NewScanner(out); sc.Scan(); {
			var e eventJSON
			if err := json.Unmarshal(sc.Bytes(), &e); err != nil {
				t.Errorf("%v in %s", err, sc.Text())
			}
			lines <- e
		}
	}()
	e := <-lines
	if e.Event != "status" || e.Before != string(adapters.Idle) || e.Session == nil || e.Session.Status != adapters.Working {
		t.Fatalf("first came %+v", e)
	}
	// Nothing reports from outside that it watches the fuses: one is set until it is reported.
	for e.Fuse == nil {
		if _, err := f.Set(t.Context(), fuse.Fuse{Path: t.TempDir(), Note: "n"}, time.Hour); err != nil {
			t.Fatal(err)
		}
		select {
		case e = <-lines:
		case <-time.After(200 * time.Millisecond):
		}
	}
	if e.Event != "fuse.set" || e.Fuse == nil || e.Fuse.Note != "n" || e.Schema != schema {
		t.Errorf("%+v", e)
	}
	h := must.Get(proc.OpenAt("/proc", "/etc").Hold(s.Process))(t)
	defer h.Close()
	must.Do(t, h.Send(proc.Kill))
	for e = range lines {
		if e.Session != nil {
			break
		}
	}
	if e.Event != "ended" || e.Session == nil || e.Session.ID != "one" || e.Session.Outcome != adapters.Died || e.At == "" {
		t.Errorf("%+v", e)
	}
	cancel()
	if got := <-code; got != Interrupted {
		t.Errorf("exit code %d", got)
	}
}

// A reader that has enough ends it.
func TestWatchWithoutReader(t *testing.T) {
	s := running(t, simple("one", agentname.ClaudeCode, adapters.Working, time.Second), "sleep", "60")
	out, in := io.Pipe()
	_ = out.Close()
	done := make(chan int, 1)
	go func() { done <- runOn(t.Context(), t, Streams{Out: in}, withTable(becomesBusy(s)), "watch").code }()
	select {
	case code := <-done:
		if code != Done {
			t.Errorf("exit code %d", code)
		}
	case <-time.After(eventually.Limit):
		t.Error("it watches on")
	}
}

// An output that can't be written fails, as it does for every command.
func TestWatchDiskFull(t *testing.T) {
	full := must.Get(os.OpenFile("/dev/full", os.O_WRONLY, 0))(t)
	defer full.Close()
	s := running(t, simple("one", agentname.ClaudeCode, adapters.Working, time.Second), "sleep", "60")
	for _, args := range [][]string{{"watch"}, {"watch", "--json", "--snapshot"}} {
		if got := runOn(t.Context(), t, Streams{Out: full}, withTable(becomesBusy(s)), args...); got.code != Failure || !strings.Contains(got.err, "no space left") {
			t.Errorf("%v: %+v", args, got)
		}
	}
}

func TestFuseEvents(t *testing.T) {
	at := time.Now()
	pending := fuse.Fuse{Path: "/a", SetAt: at, Expires: at.Add(time.Hour)}
	later := pending
	fired := pending
	again := pending
	later.Expires = at.Add(2 * time.Hour)
	fired.FiredAt = at
	again.SetAt = at.Add(time.Minute)
	for name, c := range map[string]struct {
		before, after []fuse.Fuse
		want          string
	}{
		"set":              {nil, []fuse.Fuse{pending}, "fuse.set"},
		"extended":         {[]fuse.Fuse{pending}, []fuse.Fuse{later}, "fuse.changed"},
		"fired":            {[]fuse.Fuse{pending}, []fuse.Fuse{fired}, "fuse.fired"},
		"set and fired":    {nil, []fuse.Fuse{fired}, "fuse.fired"},
		"cancelled":        {[]fuse.Fuse{pending}, nil, "fuse.cancelled"},
		"forgotten":        {[]fuse.Fuse{fired}, nil, ""},
		"set again":        {[]fuse.Fuse{fired}, []fuse.Fuse{again}, "fuse.set"},
		"nothing happened": {[]fuse.Fuse{pending}, []fuse.Fuse{pending}, ""},
	} {
		got := ""
		for _, e := range fuseEvents(c.before, c.after) {
			got += e.Event
		}
		if got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}

// A reader that has gone ends it at once, though nothing happens.
func TestWatchReaderGone(t *testing.T) {
	r, w, err := os.Pipe()
	must.Do(t, err)
	defer w.Close()
	code := make(chan int, 1)
	agent := becomesBusy()
	go func() { code <- runOn(t.Context(), t, Streams{Out: w}, withTable(agent), "watch", "--json").code }()
	<-agent.answered
	must.Do(t, r.Close())
	select {
	case got := <-code:
		if got != Done {
			t.Errorf("exit code %d", got)
		}
	case <-time.After(eventually.Limit):
		t.Fatal("it still watches")
	}
}

// watchStream runs watch --json --snapshot until the test ends, and returns its lines.
func watchStream(t *testing.T, d Deps, args ...string) <-chan eventJSON {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	out, in := io.Pipe()
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		runOn(ctx, t, Streams{Out: in}, d, append([]string{"watch", "--json", "--snapshot"}, args...)...)
		_ = in.Close()
	}()
	lines := make(chan eventJSON, 1000)
	go func() {
		defer close(lines)
		for sc := bufio.NewScanner(out); sc.Scan(); {
			var e eventJSON
			if err := json.Unmarshal(sc.Bytes(), &e); err != nil {
				t.Errorf("%v in %s", err, sc.Text())
			}
			lines <- e
		}
	}()
	t.Cleanup(func() {
		cancel()
		_ = out.Close()
		<-ended
	})
	return lines
}

// TestWatchStream: the stream begins with a hello and the whole roll; an event comes before its row, and a heartbeat
// follows.
func TestWatchStream(t *testing.T) {
	s := running(t, simple("one", agentname.ClaudeCode, adapters.Working, time.Second), "sleep", "60")
	lines := watchStream(t, withTable(claude(s)), "--heartbeat", "1s")
	var order []string
	var rolled []string
	for e := range lines {
		if e.Schema != schema {
			t.Errorf("schema %d in %+v", e.Schema, e)
		}
		if e.Event == streamHello && (e.Hello == nil || e.Hello.Heartbeat != 1) {
			t.Errorf("hello %+v", e.Hello)
		}
		order = append(order, e.Event)
		if e.Event == streamRoll {
			break
		}
		if e.Event == streamSession {
			rolled = append(rolled, e.Session.ID)
		}
	}
	if order[0] != streamHello || len(rolled) == 0 || rolled[0] != "one" {
		t.Fatalf("order %q, sessions %q", order, rolled)
	}
	for e := range lines {
		if e.Event == streamHeartbeat {
			break
		}
	}
	h := must.Get(proc.OpenAt("/proc", "/etc").Hold(s.Process))(t)
	defer h.Close()
	must.Do(t, h.Send(proc.Kill))
	var ended *eventJSON
	for e := range lines {
		if e.Event == "ended" {
			ended = &e
			if e.Process == "" || e.Was == nil || e.Was.Status != adapters.Working || e.Session.Outcome != adapters.Died {
				t.Errorf("%+v", e)
			}
		}
		if e.Event == streamSession && e.Session.Status == adapters.Stopped {
			break
		}
	}
	if ended == nil {
		t.Error("the row of the stopped session came before its end")
	}
}

func TestWatchStreamUsage(t *testing.T) {
	for _, args := range [][]string{{"--snapshot"}, {"--json", "--since", "7d"}, {"--json", "--snapshot", "--heartbeat", "1ms"}} {
		if r := run(t, deps(), append([]string{"watch"}, args...)...); r.code != Usage {
			t.Errorf("%q: exit code %d, %s", args, r.code, r.err)
		}
	}
}
