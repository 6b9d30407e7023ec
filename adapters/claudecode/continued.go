package claudecode

import (
	"os"
	"path/filepath"
	"slices"
	"time"

	"rollcall/adapters"
	"rollcall/adapters/internal/kit"
)

// /bg moves a session to the background: its process ends, and some seconds later a process of the daemon goes on with its turn, as a session with
// another id whose transcript gets a copy of all records with its next answer. The last record of the first transcript names that id (2.1.332:
// continued-in).

// takeOverTime is the longest time that the daemon takes until the session that goes on has a registry entry or a transcript: 1 to 3 s were seen.
const takeOverTime = time.Minute

// continuation is the session that goes on with another one.
type continuation struct {
	id    string // empty: none does
	begun bool
}

// findContinued finds the sessions with which other ones go on, and leaves them out of the answer once these have begun: it is one conversation. What a
// session used is its own, and a question about it is answered.
func (d *discovery) findContinued() {
	continued := map[string]string{}
	d.wanted = slices.DeleteFunc(d.wanted, func(s *session) bool {
		s.next = d.continuationOf(s)
		if !s.next.begun || d.query.Usage || slices.Contains(d.query.IDs, s.id) {
			return false
		}
		continued[s.next.id] = s.id
		return true
	})
	for _, s := range d.wanted {
		s.continues = continued[s.id]
	}
}

func (d *discovery) continuationOf(s *session) continuation {
	t := &s.facts.turn
	if t.next == "" || s.err != nil || s.maybeLive() || s.file == nil {
		return continuation{}
	}
	if n := d.sessions[t.next]; n != nil && (n.maybeLive() || n.file != nil || n.endedEntry != nil || n.foreignEntry != nil) {
		return continuation{t.next, true}
	}
	if _, err := os.Stat(filepath.Join(s.file.dir, t.next+".jsonl")); err == nil {
		return continuation{t.next, true}
	}
	if d.now.Sub(t.nextAt) < kit.Delay(takeOverTime, d.table.Pressure()) {
		return continuation{t.next, false}
	}
	return continuation{}
}

// decideContinued returns the state of a session with which another one goes on.
func (d *discovery) decideContinued(s *session) adapters.State {
	at := d.ago(s.facts.turn.nextAt)
	if s.next.begun {
		return kit.Stopped("", "it goes on as session "+s.next.id+" since it was moved to the background, "+at)
	}
	said := "it was moved to the background " + at + ", as session " + s.next.id + ", which has not begun yet"
	return kit.Unknown(said).Until(s.facts.turn.nextAt.Add(kit.Delay(takeOverTime, d.table.Pressure())))
}
