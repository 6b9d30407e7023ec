package harness

import (
	"os"
	"testing"

	"rollcall/adapters"
	"rollcall/internal/adaptertest/scene"
	"rollcall/internal/agents"
	"rollcall/internal/harness/screen"
	"rollcall/internal/must"
)

// TestPictures: the signs of each release tell what its pictures show, and there is one of each state that it has: Pi asks for no permission. Who raises a
// release takes them again: see TestTakePictures.
func TestPictures(t *testing.T) {
	for _, r := range releases[1:] { // the first one is Node
		signs := must.Get(screen.Load(r.Screen()))(t)
		for _, state := range screen.States {
			optional := state == screen.Question || state == screen.Plan && r != agents.CodexNewest || state == screen.Permission && r == agents.PiNewest
			if signs.Pictures[state] == "" && !optional {
				t.Errorf("%v: no picture of %s", r, state)
			}
		}
		for state, text := range signs.Pictures {
			if got, line := signs.Read(text); got != state {
				t.Errorf("%v: the picture of %s is read as %q by %q", r, state, got, line)
			}
		}
	}
}

// TestTakePictures takes the picture of each state of each real agent, where ROLLCALL_HARNESS_PICTURES names a folder:
//
//	make harness AGENTS=real PICTURES=/some/folder
//
// ROLLCALL_HARNESS_ONLY names some of the agents.
func TestTakePictures(t *testing.T) {
	if os.Getenv("ROLLCALL_HARNESS_PICTURES") == "" || !areReal() {
		t.Skip("ROLLCALL_HARNESS_PICTURES names no folder, or the agents are not the real ones")
	}
	if os.Getenv(stageKey) != asTest {
		enter(t)
		return
	}
	h := newHarness(t, 1)
	for _, troop := range h.script.troops {
		r, shown := troop.agent.(*realAgent)
		if !shown || troop != h.script.troop(r.name) {
			continue
		}
		x := troop.begin(r.Start(h.script.folder(r.name), "a prompt"))
		h.picture()
		if x.Ask() {
			h.picture()
			x.Prompt("")
		}
		x.Answer("an answer")
		h.picture()
		if r.plans != "" {
			r.proposes(x.Session)
			h.picture()
			r.endsPlan(x.Session)
		}
		if r.question != "" {
			x.Prompt("another one")
			r.answerWith(x.Session, "[[ask]]")
			r.terminals[x.CWD].Shows(r.question)
			x.Became(scene.Truth{Status: adapters.Waiting, WaitingFor: adapters.ForQuestion})
			h.picture()
		}
		x.Kill()
	}
}
