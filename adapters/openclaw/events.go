package openclaw

import (
	"encoding/json"
	"strings"
)

// runStates are the states in the event "chat" that tell the end of a session's run.
var runStates = map[string]bool{"final": true, "aborted": true, "error": true}

// event handles an event of a gateway. It calls the listeners if the next Discover may
// answer differently; nothing of the event is kept. It ignores events about single words of an answer.
func (l *link) event(f frame) {
	var e struct {
		SessionKey string `json:"sessionKey"`
		State      string `json:"state"`  // chat
		Stream     string `json:"stream"` // agent
	}
	_ = json.Unmarshal(f.Payload, &e) // members of another type are zero
	changed := false
	switch kind, _, _ := strings.Cut(f.Event, "."); {
	case kind == "sessions", kind == "question", f.Event == "shutdown", f.Event == "session.approval", strings.Contains(f.Event, ".approval."):
		changed = true
	case kind == "chat":
		changed = runStates[e.State]
	case f.Event == "agent":
		changed = e.Stream == "lifecycle"
	}
	if changed || l.wasWaiting(e.SessionKey) {
		l.p.notify()
	}
}

// wasWaiting reports whether an event is of a session that waited for the user: when an
// approval is given, there may be no other event.
func (l *link) wasWaiting(key string) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.waiting[key]
}

// noteWaiting records which sessions wait for the user.
func (p *pusher) noteWaiting(id string, pending map[string]request) {
	l := p.link(id)
	if l == nil {
		return
	}
	waiting := make(map[string]bool, len(pending))
	for key := range pending {
		waiting[key] = true
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.waiting = waiting
}
