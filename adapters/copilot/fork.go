package copilot

import (
	"regexp"
	"slices"
	"time"
)

// At /fork, 1.0.102 copies a session's records to a new session, which its terminal then shows. It records that in both, and has a file of the copy open only
// from the copy's first prompt on: until then nothing shows whether a process has the copy.

// fork is a copy that was made of a session.
type fork struct {
	id string
	at time.Time
}

// copyName matches the end of the text of such a record: the id of the copy.
var copyName = regexp.MustCompile(`\(([0-9a-f]{8}-[0-9a-f-]{27})\)\.$`)

const maxForks = 64 // of a session that are kept: the last ones

// fork takes a record of /fork.
func (f *facts) fork(r *record, at time.Time) {
	m := copyName.FindStringSubmatch(r.text("message"))
	switch {
	case m == nil || r.sub() || r.text("infoType") != "fork":
	case m[1] == f.id:
		f.unused = true
	default:
		if len(f.forks) == maxForks {
			f.forks = slices.Delete(f.forks, 0, 1)
		}
		f.forks = append(f.forks, fork{m[1], at})
	}
}

// maker is the process that made a copy of a session, and the time when it began.
type maker struct {
	*process
	began time.Time
}

// maker returns the process that makes the copies of a session: that which has it, or which made it as an unused copy.
func (s *session) maker() (m maker, ok bool) {
	switch {
	case s.owner != nil && !s.unread:
		return maker{s.owner, s.began()}, true
	case s.facts.unused && s.made.process != nil:
		return s.made, true
	}
	return maker{}, false
}

// findCopies adds the copies that live processes made of the sessions that were read, and that no process has, to those to be read.
func (d *discovery) findCopies() {
	for _, s := range d.sessions {
		by, ok := s.maker()
		for _, f := range s.facts.forks {
			at := place{s.root, f.id}
			if _, known := d.makers[at]; !ok || known || f.at.Before(by.began) || len(d.owners[at]) > 0 {
				continue
			}
			d.makers[at] = by
			d.examine(at)
		}
	}
}

// mayBeShown reports whether a live process may show the session, which is a copy without a prompt of its own.
func (s *session) mayBeShown() bool { return s.owner == nil && s.facts.unused && s.made.process != nil }
