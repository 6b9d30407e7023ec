package kit

import (
	"time"

	"rollcall/adapters"
)

// Verdict is the status of a session with its evidence.
type Verdict struct {
	Status     adapters.Status
	WaitingFor adapters.WaitingFor
	Outcome    adapters.Outcome
	Evidence   string    // in words, for the user
	MayAsk     bool      // with Idle, Unknown or Stopped, see adapters.Session
	AskAgain   time.Time // see adapters.Session
}

// Until returns the verdict with the time from which it differs although nothing changes.
func (v Verdict) Until(t time.Time) Verdict {
	v.AskAgain = t
	return v
}

// Working returns the verdict on a session that is in a turn.
func Working(evidence string) Verdict {
	return Verdict{Status: adapters.Working, Evidence: evidence}
}

// Waiting returns the verdict on a session that needs the user.
func Waiting(what adapters.WaitingFor, evidence string) Verdict {
	return Verdict{Status: adapters.Waiting, WaitingFor: what, Evidence: evidence}
}

// Idle returns the verdict on a live session whose last turn ended with outcome,
// which is empty if it is not known.
func Idle(outcome adapters.Outcome, evidence string) Verdict {
	return Verdict{Status: adapters.Idle, Outcome: outcome, Evidence: evidence}
}

// Stopped returns the verdict on a session without a process.
func Stopped(outcome adapters.Outcome, evidence string) Verdict {
	return Verdict{Status: adapters.Stopped, Outcome: outcome, Evidence: evidence}
}

// Unknown returns the verdict on a session whose status can't be known. The evidence
// gives the reason.
func Unknown(evidence string) Verdict {
	return Verdict{Status: adapters.Unknown, Evidence: evidence}
}
