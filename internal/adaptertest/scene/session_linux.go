package scene

import (
	"slices"
	"sync"

	"rollcall/adapters"
	"rollcall/proc"
)

// Session is one session that an Agent plays. Its steps are taken by one
// goroutine; Between and Truth are safe beside it.
type Session struct {
	ID      string
	Agent   adapters.Name
	CWD     string
	File    string // the agent's file that tells most of it
	Process proc.Identity
	Remote  bool // played by a gateway: it has no process here

	player player
	state  any // the player's own

	suspended Truth // what was true before Suspend; zero: it is not suspended

	mu sync.Mutex
	// history are the truths since the beginning. While a step is under way
	// the last one is not reached yet: some moments are as before, some as after.
	history []Truth
	settled int
}

func newSession(agent adapters.Name, p player, id, cwd string) *Session {
	return &Session{ID: id, Agent: agent, CWD: cwd, player: p, history: []Truth{{Status: adapters.Working}}}
}

// step takes the session to another truth.
func (s *Session) step(to Truth, write func()) {
	s.mu.Lock()
	s.history = append(s.history, to)
	s.mu.Unlock()
	write()
	s.mu.Lock()
	s.settled = len(s.history) - 1
	s.mu.Unlock()
}

// Truth is what is true now.
func (s *Session) Truth() Truth {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.history[len(s.history)-1]
}

// Past are the last truths, the newest last.
func (s *Session) Past() []Truth {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.history[max(0, len(s.history)-6):])
}

// Before returns what was true before the step that is under way; zero: it is the first.
func (s *Session) Before() Truth {
	past := s.Past()
	if len(past) < 2 {
		return Truth{}
	}
	return past[len(past)-2]
}

// Between begins a question: the function it returns tells whether an answer
// was true at some moment since, and what was.
func (s *Session) Between() func(got Truth) (bool, []Truth) {
	s.mu.Lock()
	from := s.settled
	s.mu.Unlock()
	return func(got Truth) (bool, []Truth) {
		s.mu.Lock()
		defer s.mu.Unlock()
		truths := slices.Clone(s.history[from:])
		return slices.Contains(truths, got), truths
	}
}

// Prompt takes the next prompt of an idle session, or answers what it waits for.
func (s *Session) Prompt(text string) {
	s.step(Truth{Status: adapters.Working}, func() { s.player.prompt(s, text) })
}

// Answer ends the turn well.
func (s *Session) Answer(text string) {
	s.step(Truth{Status: adapters.Idle, Outcome: adapters.Completed}, func() { s.player.answer(s, text) })
}

// Ask lets the session wait for the user. It does nothing, and says so, where
// the agent's files do not tell that.
func (s *Session) Ask() bool {
	a, can := s.player.(asker)
	if can {
		s.step(Truth{Status: adapters.Waiting, WaitingFor: a.waitsFor()}, func() { a.ask(s) })
	}
	return can
}

// Exit ends an idle session's process in good order. A gateway has no end of a
// session but its deletion.
func (s *Session) Exit() {
	if s.Remote {
		s.Forget()
		return
	}
	s.step(Truth{Status: adapters.Stopped, Outcome: s.Truth().Outcome}, func() { s.player.exit(s) })
}

// Kill ends the process of any session by SIGKILL.
func (s *Session) Kill() {
	if s.Remote {
		s.Forget()
		return
	}
	to, now := Truth{Status: adapters.Stopped, Outcome: adapters.Died}, s.Truth()
	if s.IsSuspended() {
		now = s.suspended
	}
	s.suspended = Truth{}
	if now.Status == adapters.Idle {
		to.Outcome = now.Outcome
	}
	s.step(to, func() { s.player.kill(s) })
}

// IsSuspended reports whether the session's process is suspended.
func (s *Session) IsSuspended() bool { return s.suspended != Truth{} }

// Suspend suspends the session's process. What follows is Continue or Kill.
func (s *Session) Suspend(p *Procs) {
	s.suspended = s.Truth()
	to := s.suspended
	if to.Status == adapters.Working { // nothing works on, and the turn is open
		to = Truth{Status: adapters.Idle}
	}
	s.step(to, func() { p.Suspend(s.Process.PID) })
}

// Continue lets a suspended process go on, as what it was.
func (s *Session) Continue(p *Procs) {
	to := s.suspended
	s.suspended = Truth{}
	s.step(to, func() { p.Continue(s.Process.PID) })
}

// Became says that something else happened to the session, such as the end of
// its process by the test's own hand.
func (s *Session) Became(to Truth) { s.step(to, func() {}) }

// Resumes reports whether so many more processes can take the session up, one after
// the other. Agents whose processes are told apart by times alone can't be played
// faster than they start.
func (s *Session) Resumes(times int) bool {
	if p, ok := s.player.(interface {
		resumes(s *Session, times int) bool
	}); ok {
		return p.resumes(s, times)
	}
	return !s.Remote
}

// Resume starts a new process for a stopped session, with a prompt. Until it has
// that, it is idle.
func (s *Session) Resume(prompt string) {
	s.mu.Lock()
	idle := Truth{Status: adapters.Idle, Outcome: s.history[len(s.history)-1].Outcome}
	s.history = append(s.history, idle)
	if idle.Outcome == adapters.Died { // which not every agent's files tell by then
		s.history = append(s.history, Truth{Status: adapters.Idle})
	}
	s.mu.Unlock()
	s.step(Truth{Status: adapters.Working}, func() { s.player.resume(s, prompt) })
}

// Forget deletes a session that is stopped, or a gateway's: it is listed no more,
// and its Truth is zero.
func (s *Session) Forget() {
	s.step(Truth{}, func() { s.player.forget(s) })
}

// Strange writes a record of a type that Rollcall does not know, which changes nothing.
func (s *Session) Strange() { s.player.strange(s) }
