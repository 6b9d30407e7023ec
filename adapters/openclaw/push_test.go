package openclaw_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"rollcall/adapters"
	"rollcall/adapters/openclaw"
	"rollcall/internal/eventually"
	"rollcall/internal/gatewaytest"
	"rollcall/internal/must"
)

// listen runs Push and returns what it tells. Push has ended when the test has.
func listen(t *testing.T, a *openclaw.Adapter) <-chan struct{} {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	told := make(chan struct{}, 1)
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		a.Push(ctx, func() {
			select {
			case told <- struct{}{}:
			default:
			}
		})
	}()
	t.Cleanup(func() {
		cancel()
		select {
		case <-ended:
		case <-time.After(eventually.Limit):
			t.Error("Push did not return")
		}
	})
	return told
}

// attached waits until Push has a connection.
func attached(t *testing.T, told <-chan struct{}) {
	t.Helper()
	select {
	case <-told:
	case <-time.After(eventually.Limit):
		t.Fatal("Push told nothing")
	}
}

// until asks again whenever something is told, until what is wanted is answered.
func until(t *testing.T, a *openclaw.Adapter, told <-chan struct{}, what string, want func(adapters.Roll, error) bool) {
	t.Helper()
	limit := time.After(eventually.Limit)
	for {
		roll, err := discover(t, a, adapters.Query{})
		if want(roll, err) {
			return
		}
		select {
		case <-told:
		case <-limit:
			t.Fatalf("never %s: %+v %v", what, roll.Sessions, err)
		}
	}
}

func status(want adapters.Status) func(adapters.Roll, error) bool {
	return func(r adapters.Roll, err error) bool {
		return err == nil && len(r.Sessions) == 1 && r.Sessions[0].Status == want
	}
}

func connected(t *testing.T, g *gatewaytest.Gateway, n int) {
	t.Helper()
	eventually.True(t, fmt.Sprintf("%d connections", n), func() bool { return g.Connections() == n })
}

func TestPush(t *testing.T) {
	w := newFixture(t)
	g := w.running(gatewaytest.Options{})
	a := w.adapter()
	told := listen(t, a)
	attached(t, told)
	g.Update(gatewaytest.Session{Key: "agent:main:k", SessionID: "s", Running: true})
	until(t, a, told, "working", status(adapters.Working))
	id := g.Ask("agent:main:k", "rm -rf /tmp/x")
	until(t, a, told, "waiting", status(adapters.Waiting))
	g.Answer(id)
	until(t, a, told, "working again", status(adapters.Working))
	g.Change("agent:main:k", func(s *gatewaytest.Session) { s.Running, s.Status = false, "done" })
	until(t, a, told, "idle", status(adapters.Idle))
	connected(t, g, 1)
	before := g.Accepted()
	for range 5 {
		one(t, a) // nothing waits: the kept connection is enough
	}
	if g.Accepted() != before {
		t.Errorf("%d new connections for 5 questions", g.Accepted()-before)
	}
	g.Delete("agent:main:k")
	until(t, a, told, "deleted", func(r adapters.Roll, err error) bool { return err == nil && len(r.Sessions) == 0 })
}

// TestGatewayComesBack: a gateway that dies is told of, asked for with pauses, and
// found again.
func TestGatewayComesBack(t *testing.T) {
	w := newFixture(t)
	g := w.running(gatewaytest.Options{})
	g.Update(gatewaytest.Session{Key: "k", SessionID: "s", Running: true})
	a := w.adapter()
	told := listen(t, a)
	attached(t, told)
	until(t, a, told, "working", status(adapters.Working))
	port := g.Port()
	g.Close()
	until(t, a, told, "gone", func(roll adapters.Roll, _ error) bool { return len(roll.Sessions) == 0 })
	again := w.running(gatewaytest.Options{Port: port})
	again.Update(gatewaytest.Session{Key: "k", SessionID: "s"})
	connected(t, again, 1)
	until(t, a, told, "back", status(adapters.Idle))
}

// TestNoBusyLoop: a gateway that refuses is not asked all the time.
func TestNoBusyLoop(t *testing.T) {
	w := newFixture(t)
	g := w.gateway(gatewaytest.Options{})
	w.cfg.Gateways = []openclaw.Gateway{{URL: g.URL(), Token: "wrong"}}
	listen(t, w.adapter())
	eventually.True(t, "a connection", func() bool { return g.Accepted() > 0 })
	<-time.After(3 * time.Second)
	if n := g.Accepted(); n > 5 {
		t.Errorf("%d connections in 3 s", n)
	}
}

// TestGatewayAppears: a profile that is set up while Push runs is connected to.
func TestGatewayAppears(t *testing.T) {
	w := newFixture(t)
	a := w.adapter()
	told := listen(t, a)
	g := w.gateway(gatewaytest.Options{})
	must.Do(t, g.WriteState(filepath.Join(w.home, ".openclaw-new")))
	g.Update(gatewaytest.Session{Key: "k", SessionID: "s", Running: true})
	until(t, a, told, "working", status(adapters.Working))
	connected(t, g, 1)
	if len(a.WatchPaths()) == 0 {
		t.Error("nothing is watched")
	}
}

// TestHangingConnection: a kept connection that says nothing any more costs the
// time limit once, and is replaced.
func TestHangingConnection(t *testing.T) {
	w := newFixture(t)
	g := w.running(gatewaytest.Options{})
	g.Update(gatewaytest.Session{Key: "k", SessionID: "s", Running: true})
	a := w.adapter()
	told := listen(t, a)
	attached(t, told)
	g.Hang()
	_, err := discover(t, a, adapters.Query{})
	onlyProblem(t, err, adapters.ErrTimeout, g.URL())
	g.Resume()
	until(t, a, told, "working", status(adapters.Working))
}

// TestKeptConnectionEnds: a kept connection that ends during a question costs another connection, and nothing of the answer: one who asks without
// it has all.
func TestKeptConnectionEnds(t *testing.T) {
	w := newFixture(t)
	g := w.running(gatewaytest.Options{})
	g.Update(gatewaytest.Session{Key: "k", SessionID: "s", Running: true,
		Messages: []gatewaytest.Message{{Role: "user", Text: "list the tests", At: time.Now()}}})
	for _, method := range []string{"sessions.list", "sessions.preview"} {
		a := w.adapter()
		told := listen(t, a)
		attached(t, told)
		g.DropNext(method)
		roll, err := discover(t, a, adapters.Query{})
		if !status(adapters.Working)(roll, err) || roll.Sessions[0].FirstPrompt != "list the tests" {
			t.Errorf("%s: %+v, %v", method, roll.Sessions, err)
			continue
		}
		until(t, a, told, "working", status(adapters.Working))
		g.DropNext("chat.history")
		if messages, err := a.Peek(t.Context(), roll.Sessions[0], 5); err != nil || len(messages) != 1 {
			t.Errorf("%s: %+v, %v", method, messages, err)
		}
	}
}

// TestKeptConnectionIsGivenUp: the kept connection of a gateway whose folder is away for a moment is given up; a question that it was lent to is answered.
func TestKeptConnectionIsGivenUp(t *testing.T) {
	w := newFixture(t)
	g := w.running(gatewaytest.Options{})
	g.Update(gatewaytest.Session{Key: "k", SessionID: "s", Running: true})
	a := w.adapter().Patient()
	told := listen(t, a)
	attached(t, told)
	connected(t, g, 1)
	g.Hang()
	var roll adapters.Roll
	var err error
	answered := make(chan struct{})
	go func() {
		defer close(answered)
		roll, err = discover(t, a, adapters.Query{})
	}()
	eventually.True(t, "the question reaches the gateway", func() bool { return g.Hanging() > 0 })
	state := filepath.Join(w.home, ".openclaw")
	must.Do(t, os.Rename(state, state+".away"))
	_, _ = discover(t, a, adapters.Query{})
	g.Resume()
	<-answered
	if !status(adapters.Working)(roll, err) {
		t.Errorf("%+v, %v", roll.Sessions, err)
	}
}

// TestCancelledQuestion: a question that is cancelled leaves the kept connection to the others.
func TestCancelledQuestion(t *testing.T) {
	w := newFixture(t)
	g := w.running(gatewaytest.Options{})
	g.Update(gatewaytest.Session{Key: "k", SessionID: "s"})
	a := w.adapter().Patient()
	told := listen(t, a)
	attached(t, told)
	connected(t, g, 1)
	before := g.Accepted()
	at := time.Now()
	for i := range 30 {
		// Its prompts are asked for again, and then its tokens.
		g.Update(gatewaytest.Session{Key: "k", SessionID: "s", Input: 10, Output: 5, UpdatedAt: at.Add(time.Duration(i) * time.Second)})
		ctx, cancel := context.WithCancel(t.Context())
		g.Next("sessions.preview", cancel)
		_, _ = a.Discover(ctx, adapters.Query{})
		if ctx.Err() == nil {
			t.Error("no question was cancelled")
		}
		cancel()
	}
	connected(t, g, 1)
	if g.Accepted() != before {
		t.Errorf("%d new connections", g.Accepted()-before)
	}
}

// TestWithoutAdmin: a gateway that does not list requests to us tells of them in events. Who heard them answers as one who asks now, with what can't be
// seen.
func TestWithoutAdmin(t *testing.T) {
	w := newFixture(t)
	g := w.running(gatewaytest.Options{DenyAdmin: true})
	g.Update(gatewaytest.Session{Key: "agent:main:k", SessionID: "s", Running: true})
	a := w.adapter()
	told := listen(t, a)
	attached(t, told)
	g.Ask("agent:main:k", "make")
	attached(t, told)
	for _, a := range []*openclaw.Adapter{a, w.adapter()} {
		if s := one(t, a); s.Status != adapters.Working || !strings.Contains(s.Evidence, "whether it waits for a permission can't be seen") {
			t.Errorf("%s (%s)", s.Status, s.Evidence)
		}
	}
}
