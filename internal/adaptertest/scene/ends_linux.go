package scene

import "rollcall/adapters"

// Open starts a new process for a stopped session, and gives it no prompt. It does nothing and returns false where the player can't.
func (s *Session) Open() bool {
	p, can := s.player.(interface {
		open(s *Session) adapters.Outcome
	})
	if !can || !s.Resumes(1) {
		return false
	}
	outcome := p.open(s)
	s.step(Truth{Status: adapters.Idle, Outcome: outcome}, func() {})
	return true
}

// Terminate ends the process of a working session by SIGTERM, or with its terminal. It does nothing and returns false where the player can't.
func (s *Session) Terminate() bool {
	p, can := s.player.(interface{ terminate(s *Session) })
	if !can || s.Truth().Status != adapters.Working {
		return false
	}
	s.step(Truth{Status: adapters.Stopped, Outcome: adapters.Died}, func() { p.terminate(s) })
	return true
}

// Drop takes away what claims the session for its process, as agents do a moment before they exit. What is true until Exit follows is nowhere
// recorded. It does nothing and returns false where the player can't.
func (s *Session) Drop() bool {
	p, can := s.player.(interface{ drop(s *Session) })
	if can {
		p.drop(s)
	}
	return can
}
