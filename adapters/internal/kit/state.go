package kit

import (
	"rollcall/adapters"
)

// Working returns the state of a session that is in a turn.
func Working(evidence string) adapters.State {
	return adapters.State{Status: adapters.Working, Evidence: evidence}
}

// Waiting returns the state of a session that needs the user.
func Waiting(what adapters.WaitingFor, evidence string) adapters.State {
	return adapters.State{Status: adapters.Waiting, WaitingFor: what, Evidence: evidence}
}

// Idle returns the state of a live session whose last turn ended with outcome,
// which is empty if it is not known.
func Idle(outcome adapters.Outcome, evidence string) adapters.State {
	return adapters.State{Status: adapters.Idle, Outcome: outcome, Evidence: evidence}
}

// Stopped returns the state of a session without a process.
func Stopped(outcome adapters.Outcome, evidence string) adapters.State {
	return adapters.State{Status: adapters.Stopped, Outcome: outcome, Evidence: evidence}
}

// Unknown returns the state of a session whose status can't be known. The evidence
// gives the reason.
func Unknown(evidence string) adapters.State {
	return adapters.State{Status: adapters.Unknown, Evidence: evidence}
}
