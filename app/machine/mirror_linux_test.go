package machine

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"rollcall/adapters"
	"rollcall/app"
	"rollcall/internal/must"
)

// fed is a mirror that is fed with lines.
type fed struct {
	*mirror
	t   *testing.T
	now time.Time
}

func newFed(t *testing.T, lines ...string) *fed {
	f := &fed{newMirror("dev"), t, time.Now()}
	f.begin(f.now)
	f.feed(lines...)
	return f
}

func (f *fed) feed(lines ...string) (evs []app.Event) {
	f.t.Helper()
	for _, text := range lines {
		l := must.Get(decode([]byte(text)))(f.t)
		evs = append(evs, f.take(l, f.now)...)
	}
	return evs
}

func statusLine(id, status string) string {
	text := strings.Replace(sessionLine(id, ""), `"event":"session"`, `"event":"status"`, 1)
	return strings.Replace(text, `"working"`, `"`+status+`"`, 1)
}

func adapterLine(state string) string {
	return `{"schema":1,"event":"adapter","at":"2026-11-22T10:00:00Z","adapter":{"name":"codex","state":"` + state + `","error":"no answer in 5 s"}}`
}

// TestEndOfWaitIsTold: the end of a wait that was told is an event, however many events there were before it.
func TestEndOfWaitIsTold(t *testing.T) {
	f := newFed(t, hello, sessionLine("a", ""), sessionLine("b", ""), rollLine)
	if evs := f.feed(statusLine("a", "waiting")); len(evs) != 1 {
		t.Fatalf("%+v", evs)
	}
	for i := range maxEvents + 10 {
		f.feed(statusLine("b", []string{"working", "idle"}[i%2]))
	}
	if evs := f.feed(statusLine("b", "waiting"), statusLine("b", "working")); len(evs) != 0 {
		t.Errorf("more than %d events in a minute: %+v", maxEvents, evs)
	}
	if evs := f.feed(statusLine("a", "working")); len(evs) != 1 || evs[0].Session.ID != "dev:a" || evs[0].Session.Status != adapters.Working {
		t.Errorf("end of the wait: %+v", evs)
	}
	if evs := f.feed(statusLine("a", "idle")); len(evs) != 0 {
		t.Errorf("after the wait: %+v", evs)
	}
}

// TestWaitingRowIsRemoved: the wait of a session that is no longer listed ends.
func TestWaitingRowIsRemoved(t *testing.T) {
	f := newFed(t, hello, sessionLine("a", ""), sessionLine("b", ""), rollLine)
	f.feed(statusLine("a", "waiting"))
	removed := `{"schema":1,"event":"removed","at":"2026-11-22T10:00:00Z","removed":{"agent":"codex","id":"%s"}}`
	evs := f.feed(fmt.Sprintf(removed, "a"), fmt.Sprintf(removed, "b"))
	if len(evs) != 1 || evs[0].Kind != app.Changed || evs[0].Session.ID != "dev:a" || evs[0].Session.Status != adapters.Unknown ||
		evs[0].Session.WaitingFor != "" || evs[0].Before.Status != adapters.Waiting {
		t.Errorf("%+v", evs)
	}
	if r := f.roll(); len(r.Sessions) != 0 {
		t.Errorf("%+v", r)
	}
}

// TestAgentFailsTwice: a session that ended while its agent could not be read ends once.
func TestAgentFailsTwice(t *testing.T) {
	f := newFed(t, hello, sessionLine("a", ""), adapterLine("ok"), rollLine)
	var evs []app.Event
	for _, state := range []string{"failed", "ok"} {
		f.lose(failure("cut"))
		f.begin(f.now)
		evs = append(evs, f.feed(hello, adapterLine(state), rollLine)...)
	}
	evs = append(evs, f.feed(adapterLine("failed"), adapterLine("ok"))...)
	if len(evs) != 1 || evs[0].Kind != app.Ended || evs[0].Session.ID != "dev:a" {
		t.Errorf("%+v", evs)
	}
}
