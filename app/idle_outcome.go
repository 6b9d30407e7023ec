package app

import (
	"fmt"
	"maps"
	"time"

	"rollcall/adapters"
	"rollcall/proc"
)

// idleOutcome is the outcome of a session's last turn, as an answer listed it while the session was idle. It is used for one
// purpose: to determine how that turn ended if the agent's files leave the turn open and the process has ended.
type idleOutcome struct {
	outcome adapters.Outcome
	process proc.Identity
	at      time.Time // when the question was asked
	// activity is the session's last activity in that answer. A record gets its time
	// before it is stored, so a later record can have a time before at.
	activity time.Time
	turn     time.Time // when that turn began; zero: not known
}

// isNewer reports whether x has a record that the answer did not contain.
func (r *idleOutcome) isNewer(x *adapters.Session) bool { return x.LastActivityAt.After(r.activity) }

// restore returns x with the outcome of its last turn, where x is listed as died and has no record since the turn was over.
// If there is a newer record, another turn died.
func (r *idleOutcome) restore(x Session) Session {
	if x.Status != adapters.Stopped || x.Outcome != adapters.Died || r.outcome == adapters.Died || r.isNewer(&x.Session) {
		return x
	}
	x.Outcome = r.outcome
	x.Evidence = fmt.Sprintf("its turn was over when Rollcall last saw process %d alive (%s), and nothing was recorded since; its agent's files: %s",
		r.process.PID, r.at.Format(time.TimeOnly), x.Evidence)
	return x
}

// recordIdle records the outcomes of the listed sessions that are idle. began is when
// the question was asked.
func (s *source) recordIdle(a *Answer, began time.Time) {
	listed := a.listed()
	for i := range s.shown {
		x := &s.shown[i]
		if !listed[x.ID] || x.Stale != nil || x.IsProcess() {
			continue
		}
		switch {
		case x.Status == adapters.Working, x.Status == adapters.Waiting, s.reported[x.ID].openTurn:
			delete(s.idleOutcomes, x.ID)
		case x.Status == adapters.Idle && hasProcess(x):
			s.idleOutcomes[x.ID] = idleOutcome{outcome: x.Outcome, process: x.Process, at: began, activity: x.LastActivityAt, turn: x.TurnStartedAt}
		}
	}
	if a.IDs == nil && a.complete() {
		maps.DeleteFunc(s.idleOutcomes, func(id string, _ idleOutcome) bool { return !listed[id] })
	}
}

// diedBefore reports whether the last turn of x had died before its last process ended: the end of that process ended no
// turn. A process that only opened the session may have stored a record (Claude Code 2.1.329: /exit); as long as no other
// turn has begun, the last turn is still the one that died.
func (s *source) diedBefore(x *Session) bool {
	r, ok := s.idleOutcomes[x.ID]
	if !ok || r.outcome != adapters.Died || x.Outcome != adapters.Died {
		return false
	}
	return !r.isNewer(&x.Session) || !r.turn.IsZero() && r.turn.Equal(x.TurnStartedAt)
}
