package cli

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"rollcall/adapters"
	"rollcall/adapters/all"
	"rollcall/internal/adaptertest/scene"
	"rollcall/proc"
)

// players play the agents whose sessions have a process.
var players = []func(*scene.Environment) scene.Agent{scene.ClaudeCode, scene.Codex, scene.OpenCode, scene.Kilo, scene.Copilot, scene.Cline, scene.Gemini,
	scene.Qwen, scene.Pi, scene.PiRust}

// reply is the exit code of a command, and a part of what it prints; several parts are alternatives.
type reply struct {
	code  int
	words []string
}

func says(code int, words ...string) reply { return reply{code, words} }

// noServer is said of an agent whose process could be asked, and has no server in the matrix.
var noServer = []string{"has no server", "no Codex daemon at", "did not interrupt", "its own terminal hosts it", "is no session of a `qwen serve`", "was not launched in a terminal by Rollcall"}

// actionsOf lists each action with what it says in each state; a state that is left out is not tested. No session can be reached here: each agent says why, and
// what to do. The process table is the test's own, so that nothing may be signalled.
var actionsOf = map[string]struct {
	args   []string
	states map[string]reply
}{
	"stop": {[]string{"stop", "ID", "--dry-run"}, map[string]reply{
		"stopped": says(Failure, "not running"), "died": says(Failure, "not running"),
	}},
	"answer": {[]string{"answer", "ID", "--allow"}, map[string]reply{
		"working": says(Unanswered, "nothing was answered", "can't be answered from here"), "waiting": says(Unanswered, "can't be answered from here"),
		"idle": says(Unanswered, "nothing was answered", "can't be answered from here"), "stopped": says(Unanswered, "nothing was answered", "can't be answered from here"),
		"died": says(Unanswered, "nothing was answered", "can't be answered from here"),
	}},
	"interrupt": {[]string{"interrupt", "ID"}, map[string]reply{
		"working": says(Unanswered, append([]string{"press Esc in its terminal"}, noServer...)...), "waiting": says(Unanswered, append([]string{"press Esc in its terminal"}, noServer...)...),
		"idle": says(Unanswered, "no turn is open"), "stopped": says(Unanswered, "it has stopped"), "died": says(Unanswered, "it has stopped"),
	}},
	"send": {[]string{"send", "ID", "-p", "go on"}, map[string]reply{
		"working": says(Unanswered, "a turn is open: use --queue", "takes no prompts from here: type it in its terminal"),
		"waiting": says(Unanswered, "it waits for an answer: answer it first", "takes no prompts from here: type it in its terminal"),
		"stopped": says(Unanswered, "it has stopped; resume it with: rollcall resume ID"), "died": says(Unanswered, "it has stopped; resume it with: rollcall resume ID"),
	}},
	"resume": {[]string{"resume", "ID", "-p", "go on"}, map[string]reply{
		"working": says(Failure, "is still running"), "waiting": says(Failure, "is still running"), "idle": says(Failure, "is still running"),
		"stopped": says(Failure, "the folder of session ID is gone"), "died": says(Failure, "the folder of session ID is gone"),
	}},
	"focus": {[]string{"focus", "ID"}, map[string]reply{
		"working": says(Failure, "its process has ended"), "idle": says(Failure, "its process has ended"), // no process of this machine has the stand-in's pid and start
		"stopped": says(Failure, "it has stopped"), "died": says(Failure, "it has stopped"),
	}},
}

// TestActionsOfAgents: actions × states × agents, each cell a test of the exit code and the words.
func TestActionsOfAgents(t *testing.T) {
	cells := 0
	for _, play := range players {
		w := scene.New(t)
		agent := play(w)
		states := played(agent)
		d := deps()
		d.Open = func() ([]adapters.Adapter, proc.Lister) {
			later := func() time.Time { return time.Now().Add(3 * time.Second) } // an answer of this moment may go on with a call
			return all.New(w.Table, all.Config{Home: w.Home, Now: later}), w.Table
		}
		d.Limit = 5 * time.Second
		for action, of := range actionsOf {
			for state, want := range of.states {
				s := states[state]
				if s == nil {
					continue // the agent's files show no wait
				}
				cells++
				args := slices.Clone(of.args)
				args[1] = s.ID
				r := run(t, d, args...)
				got := strings.ReplaceAll(r.out+r.err, s.ID, "ID")
				if r.code != want.code || !slices.ContainsFunc(want.words, func(part string) bool { return strings.Contains(got, part) }) {
					t.Errorf("%s of a %s session of %s: exit code %d, %q; want %d, one of %q", action, state, agent.Name(), r.code, got, want.code, want.words)
				}
			}
		}
	}
	t.Logf("%d cells", cells)
}

// played returns a session in each state.
func played(agent scene.Agent) map[string]*scene.Session {
	states := map[string]*scene.Session{}
	for _, state := range []string{"working", "waiting", "idle", "stopped", "died"} {
		states[state] = agent.Start(fmt.Sprintf("/home/dev/%s", state), state)
	}
	if !states["waiting"].Ask() {
		delete(states, "waiting")
	}
	states["idle"].Answer("fine")
	states["stopped"].Answer("bye")
	states["stopped"].Exit()
	states["died"].Kill()
	return states
}
