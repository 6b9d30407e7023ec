package soak

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"rollcall/adapters"
	"rollcall/internal/adaptertest/scene"
	"rollcall/proc"
)

// players play every agent that there is.
var players = map[adapters.Name]func(*scene.Environment) scene.Agent{
	adapters.ClaudeCode: scene.ClaudeCode,
	adapters.Codex:      scene.Codex,
	adapters.OpenCode:   scene.OpenCode,
	adapters.OpenClaw:   scene.OpenClaw,
	adapters.Pi:         scene.Pi,
	adapters.PiRust:     scene.PiRust,
}

// How many sessions of one agent there are: live ones, and stopped ones that the
// user has not deleted.
const (
	mostLive    = 5
	mostStopped = 6
)

// script takes steps with sessions of all agents, the same for the same seed,
// and knows the truth of each.
type script struct {
	rng    *rand.Rand
	troops []*troop
	frozen *troop // takes no steps at the moment

	came, went, steps int
	ended             map[proc.Identity]bool // local processes
	// resumed are those of them whose session lives in another process before
	// anybody may have looked: their end need not be told.
	resumed map[proc.Identity]bool
}

// troop are the sessions of one agent.
type troop struct {
	agent         scene.Agent
	live, stopped []*scene.Session
	begun         int
}

func newScript(w *scene.Environment, names []adapters.Name, seed uint64) *script {
	s := &script{rng: rand.New(rand.NewPCG(seed, seed)), ended: map[proc.Identity]bool{}, resumed: map[proc.Identity]bool{}}
	for _, name := range names {
		s.troops = append(s.troops, &troop{agent: players[name](w)})
	}
	return s
}

func (s *script) chance(percent int) bool { return s.rng.IntN(100) < percent }

// step takes one step with one session.
func (s *script) step() {
	t := s.troops[s.rng.IntN(len(s.troops))]
	if t == s.frozen {
		return
	}
	s.steps++
	switch {
	case len(t.stopped) > mostStopped:
		t.stopped[0].Forget()
		t.stopped = t.stopped[1:]
	case len(t.live) == 0, len(t.live) < mostLive && s.chance(25):
		s.begin(t)
	case len(t.stopped) > 0 && len(t.live) < mostLive && s.chance(5):
		i := s.rng.IntN(len(t.stopped))
		if !t.stopped[i].Resumes(1) {
			return
		}
		again := t.stopped[i]
		t.stopped = append(t.stopped[:i:i], t.stopped[i+1:]...)
		s.resumed[again.Process] = true
		again.Resume("once more")
		t.live = append(t.live, again)
		s.came++
	default:
		s.turn(t, s.rng.IntN(len(t.live)))
	}
}

// begin starts a session. Agents whose files name the process have several in
// one folder.
func (s *script) begin(t *troop) {
	t.begun++
	folder := t.begun
	if name := t.agent.Name(); name == adapters.ClaudeCode || name == adapters.Codex {
		folder %= 3
	}
	t.live = append(t.live, t.agent.Start(fmt.Sprintf("/home/dev/%s-%d", t.agent.Name(), folder), fmt.Sprintf("prompt %d", t.begun)))
	s.came++
}

// turn takes a step of a live session.
func (s *script) turn(t *troop, i int) {
	one := t.live[i]
	switch truth := one.Truth(); {
	case s.chance(8):
		s.end(t, i, one.Kill)
	case truth.Status == adapters.Working && s.chance(70):
		one.Answer(fmt.Sprintf("answer %d", s.steps))
	case truth.Status == adapters.Working:
		one.Ask()
	case truth.Status == adapters.Waiting, s.chance(60):
		one.Prompt(fmt.Sprintf("prompt %d", s.steps))
	default:
		s.end(t, i, one.Exit)
	}
}

// end ends a session, and its process.
func (s *script) end(t *troop, i int, how func()) {
	one := t.live[i]
	how()
	t.live = append(t.live[:i:i], t.live[i+1:]...)
	s.went++
	if !one.Remote {
		t.stopped = append(t.stopped, one)
		s.ended[one.Process] = true
	}
}

// sessions returns all that there are, by agent and id.
func (s *script) sessions() map[string]*scene.Session {
	all := map[string]*scene.Session{}
	for _, t := range s.troops {
		for _, one := range t.live {
			all[key(one.Agent, one.ID)] = one
		}
		for _, one := range t.stopped {
			all[key(one.Agent, one.ID)] = one
		}
	}
	return all
}

func key(name adapters.Name, id string) string { return string(name) + " " + id }

// troop of an agent; nil if nobody plays it.
func (s *script) troop(name adapters.Name) *troop {
	for _, t := range s.troops {
		if t.agent.Name() == name {
			return t
		}
	}
	return nil
}

func TestScriptIsTheSameForASeed(t *testing.T) {
	play := func() string {
		s := newScript(scene.New(t), []adapters.Name{adapters.ClaudeCode, adapters.Pi}, 7)
		for range 300 {
			s.step()
		}
		return fmt.Sprint(s.came, s.went, len(s.sessions()))
	}
	if a, b := play(), play(); a != b {
		t.Errorf("%s, then %s", a, b)
	}
}
