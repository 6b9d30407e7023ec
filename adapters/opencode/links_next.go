package opencode

import (
	"slices"
	"time"

	"rollcall/adapters/internal/kit"
)

// servedFor is how long before the start of a server of OpenCode 2 a session may have been used that it is taken for the process
// of: a service that was restarted serves those that were in use. The time that has passed since then changes nothing.
const servedFor = 24 * time.Hour

// ofNext returns the process of a session of OpenCode 2: a server, which all terminals use. A server
// goes on with turns that are claimed (2.0), and with no others of the time before its start. It has a
// session that was written or viewed since it started, or in the day before that, or that a terminal shows. It
// could open any other one as well, as one of an unused store.
func (l *links) ofNext(f *facts) claim {
	var may, services []*host
	for _, h := range l.hosts {
		if h.command != "serve" && h.command != "web" {
			continue
		}
		if s := l.serverAnswers[h]; s != nil && s.names(f.id) {
			return claim{host: h, why: "its server names the session"}
		}
		may = append(may, h)
		if h.service {
			services = append(services, h)
		}
	}
	if len(may) > 1 && len(services) == 1 && (f.open() != inTurn || l.serverAnswers[services[0]] != nil) {
		may = services
	}
	used := f.used().time()
	old := func(h *host) bool { return used.Add(servedFor).Before(h.began) }
	switch shown := l.shows(f.id); {
	case len(may) == 0:
		return claim{}
	case !f.next.claimed && !shown && !slices.ContainsFunc(may, func(h *host) bool { return !old(h) }):
		return claim{why: pids(may) + " serves its store, and has not had it since its start, " + kit.Clock(may[0].began, l.now)}
	case may[0].SetBack && !f.next.claimed && f.open() == inTurn:
		return claim{may: may, doubt: "the turn is of " + pids(may) + " or of an earlier server: the clock was set back since it began"}
	case len(may) > 1:
		return claim{may: may, doubt: "it is not stored which server runs it: " + pids(may) + " could"}
	}
	return claim{host: may[0], why: "the server of its store", opensOnly: !f.next.claimed && may[0].beganAfter(f)}
}

// shows reports whether a terminal was started with a session.
func (l *links) shows(id string) bool {
	return slices.ContainsFunc(l.hosts, func(h *host) bool { return h.role == terminal && h.resume == id && !h.fork })
}

// ofEmpty returns the process of a session without messages, of which the preview of OpenCode 2
// stores nothing of its own: a service that ran already, unless c names another process.
func (l *links) ofEmpty(f *facts, c claim) claim {
	for _, h := range l.hosts {
		if c.host == nil && c.doubt == "" && h.service && !f.created.time().Add(slack).Before(h.began) {
			return claim{host: h, why: "the server of its store"}
		}
	}
	return c
}
