package openclaw

import (
	"encoding/json"
	"strings"
	"time"

	"rollcall/adapters"
)

// maxRuns is the largest number of runs that are kept from events.
const maxRuns = 20_000

// The states in the event "chat" of a session's run, and the phases in its event "agent" with the stream "lifecycle".
var (
	chatStates = map[string]run{"final": {outcome: adapters.Completed}, "aborted": {outcome: adapters.Interrupted},
		"error": {outcome: adapters.Failed}}
	runPhases = map[string]run{"start": {open: true}, "approval-resolved": {open: true}, "waiting-approval": {open: true, waits: true},
		"end": {outcome: adapters.Completed}, "error": {outcome: adapters.Failed}}
)

// event handles an event of a gateway. It calls the listeners if the next Discover may
// answer differently. It ignores events about single words of an answer.
func (l *link) event(f frame) {
	var e struct {
		SessionKey string `json:"sessionKey"`
		State      string `json:"state"`  // chat
		Stream     string `json:"stream"` // agent
		Data       struct {
			Phase string `json:"phase"`
		} `json:"data"`
	}
	_ = json.Unmarshal(f.Payload, &e) // members of another type are zero
	changed := false
	switch kind, _, _ := strings.Cut(f.Event, "."); {
	case kind == "sessions", f.Event == "shutdown", f.Event == "session.approval":
		changed = true
	case strings.Contains(f.Event, ".approval.") || kind == "question":
		changed = true
	case kind == "chat":
		var now run
		if now, changed = chatStates[e.State]; changed {
			l.note(e.SessionKey, now)
		}
	case f.Event == "agent" && e.Stream == "lifecycle":
		changed = true
		if now, known := runPhases[e.Data.Phase]; known {
			l.note(e.SessionKey, now)
		}
	}
	if changed || l.wasWaiting(e.SessionKey) {
		l.p.notify()
	}
}

// note records that a session's run began, or how it ended. A gateway reports an
// interruption also as an error or an end, before or after it: the run then still
// counts as interrupted.
func (l *link) note(key string, now run) {
	if key == "" {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	was, known := l.runs[key]
	if !known && len(l.runs) >= maxRuns {
		return
	}
	if !now.open && known && !was.open &&
		(was.outcome == adapters.Interrupted || was.outcome == adapters.Failed && now.outcome == adapters.Completed) {
		return
	}
	if l.runs == nil {
		l.runs = map[string]run{}
	}
	now.at = time.Now()
	l.runs[key] = now
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

// runsOf returns a function that returns the runs known from events of the kept
// connection c, or nil.
func (p *pusher) runsOf(id string, c *client) func(string) (run, bool) {
	l := p.link(id)
	if l == nil {
		return nil
	}
	return func(key string) (run, bool) {
		l.mu.Lock()
		defer l.mu.Unlock()
		if l.client != c {
			return run{}, false
		}
		r, ok := l.runs[key]
		return r, ok
	}
}
