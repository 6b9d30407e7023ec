package instance

import (
	"encoding/json"
	"errors"
	"log/slog"
	"net"
	"path/filepath"
	"slices"
	"syscall"
	"testing"
	"time"

	"rollcall/internal/must"
)

// Connections that say nothing, however many, don't keep a second start from being
// heard.
func TestFlood(t *testing.T) {
	dir := home(t)
	i := must.Get(Claim(Window, slog.Default()))(t)
	defer func() { _ = i.Close() }()
	ours := filepath.Join(dir, "rollcall")
	var conns []net.Conn
	defer func() {
		for _, c := range conns {
			_ = c.Close()
		}
	}()
	for range connections(t) {
		c, err := connect(ours, Window, time.Now().Add(5*time.Second))
		for until := time.Now().Add(time.Minute); errors.Is(err, syscall.EAGAIN) && time.Now().Before(until); { // as many wait to be taken as the system allows
			time.Sleep(time.Millisecond)
			c, err = connect(ours, Window, time.Now().Add(5*time.Second))
		}
		must.Do(t, err)
		conns = append(conns, c)
	}
	sent := make(chan error, 1)
	go func() { sent <- Send(Window, Message{Verb: Show, Session: "real"}) }()
	select {
	case m := <-i.Messages():
		if m.Session != "real" {
			t.Errorf("%+v", m)
		}
	case <-time.After(answerLimit):
		t.Fatal("it was not heard")
	}
	if err := <-sent; err != nil {
		t.Error(err)
	}
	i.peers.mu.Lock()
	defer i.peers.mu.Unlock()
	if n := len(i.peers.list); n > maxPeers {
		t.Errorf("%d connections are kept", n)
	}
}

// What is not known is refused: it must not open a window.
func TestUnknownVerb(t *testing.T) {
	home(t)
	i := must.Get(Claim(Window, slog.Default()))(t)
	defer func() { _ = i.Close() }()
	for _, verb := range []string{"shutdown", "SHOW", " show"} {
		if err := Send(Window, Message{Verb: verb}); !errors.Is(err, ErrRefused) {
			t.Errorf("%q: %v", verb, err)
		}
	}
	select {
	case m := <-i.Messages():
		t.Errorf("got %+v", m)
	default:
	}
}

func FuzzMessage(f *testing.F) {
	for _, s := range []string{`{"verb":"show","session":"x"}`, `{"verb":"launch"}`, `{"verb":"x"}`, `{"verb":["show"]}`, `null`, "", "{"} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, line []byte) {
		msg, ok := parseMessage(line)
		if !ok {
			if msg != (Message{}) {
				t.Errorf("refused, and yet %+v", msg)
			}
			return
		}
		if !slices.Contains([]string{Show, Launch}, msg.Verb) {
			t.Errorf("takes %+v", msg)
		}
		again := must.Get(json.Marshal(msg))(t)
		if same, ok := parseMessage(again); !ok || same != msg {
			t.Errorf("%+v became %+v", msg, same)
		}
	})
}
