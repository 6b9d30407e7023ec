package scene

import "rollcall/adapters"

// Steps take the steps of a session in another way than the players of this package, such as by the agent itself.
// Each returns when the step has been taken.
type Steps interface {
	// Prompt gives the session a prompt, or grants what it waits for.
	Prompt(s *Session, text string)
	Answer(s *Session, text string)
	// Interrupt ends a turn as the user does, where Interrupts returns true. TakesBack reports that the agent then gives the prompt back, and
	// records nothing.
	Interrupt(s *Session)
	Interrupts(s *Session) bool
	TakesBack() bool
	Exit(s *Session)
	Kill(s *Session)
	Resume(s *Session, prompt string)
	// Ask has the session wait for WaitsFor, which is empty for an agent that does not ask.
	Ask(s *Session)
	WaitsFor() adapters.WaitingFor
}

// Played returns a session, Working, whose steps are taken by steps.
func Played(agent adapters.Name, id, cwd string, steps Steps) *Session {
	p := played{steps}
	if steps.WaitsFor() == "" {
		return newSession(agent, p, id, cwd)
	}
	return newSession(agent, playedAsker{p}, id, cwd)
}

// played is the player of a session whose steps are taken elsewhere.
type played struct{ Steps }

func (p played) prompt(s *Session, text string)   { p.Prompt(s, text) }
func (p played) answer(s *Session, text string)   { p.Answer(s, text) }
func (p played) exit(s *Session)                  { p.Exit(s) }
func (p played) kill(s *Session)                  { p.Kill(s) }
func (p played) resume(s *Session, prompt string) { p.Resume(s, prompt) }
func (p played) strange(*Session)                 {}
func (p played) forget(*Session)                  {}

// resumes is that of Steps that have it: see Session.Resumes.
func (p played) resumes(s *Session, times int) bool {
	r, has := p.Steps.(interface {
		Resumes(s *Session, times int) bool
	})
	return !has || r.Resumes(s, times)
}

type playedAsker struct{ played }

func (p playedAsker) waitsFor() adapters.WaitingFor { return p.WaitsFor() }
func (p playedAsker) ask(s *Session)                { p.Ask(s) }

// Interrupt ends the turn of a working session as its user does. It does nothing and returns false where the player can't.
func (s *Session) Interrupt() bool {
	p, can := s.player.(interface {
		Interrupts(s *Session) bool
		Interrupt(s *Session)
	})
	if !can || !p.Interrupts(s) {
		return false
	}
	to := Truth{Status: adapters.Idle, Outcome: adapters.Interrupted}
	if t, can := p.(interface{ TakesBack() bool }); can && t.TakesBack() {
		to.Outcome = ""
	}
	s.step(to, func() { p.Interrupt(s) })
	return true
}
