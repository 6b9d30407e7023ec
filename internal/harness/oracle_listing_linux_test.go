package harness

import (
	"fmt"
	"slices"

	"rollcall/adapters"
	"rollcall/internal/adaptertest/scene"
	"rollcall/internal/harness/listing"
)

// lister is a real agent that lists its sessions itself.
type lister interface {
	// lists returns the program of the agent, and the environment in which it is asked.
	lists() (program, env []string)
}

func (r *realAgent) lists() (program, env []string) {
	return r.box.Argv(r.release), r.box.Env()
}

// wrongListings compares what an agent lists itself with what Rollcall lists: no session that does not exist, and none missing. Of a session without an
// answer not every agent lists the beginning.
func (t *harness) wrongListings(troop *troop) (wrong []string) {
	l, can := troop.agent.(lister)
	name := string(troop.agent.Name())
	if !can || t.relaxed(name) || len(troop.live)+len(troop.stopped) == 0 {
		return nil
	}
	program, env := l.lists()
	for _, way := range listing.Ways[name] {
		dir := slices.Concat(troop.live, troop.stopped)[0].CWD
		before := t.rollcall.list().Sessions
		theirs, err := way.Ask(program, dir, env)
		if err != nil {
			t.differs(nil, "%s does not list its sessions: %v", name, err)
			continue
		}
		t.listings++
		after := t.rollcall.list().Sessions
		for _, one := range theirs {
			is := func(r row) bool { return r.Agent == name && one.Is(r.ID, r.PID) }
			if !slices.ContainsFunc(before, is) && !slices.ContainsFunc(after, is) {
				wrong = append(wrong, fmt.Sprintf("%s %s is listed by the agent (%q: %+v), and not by Rollcall", name, one.ID, way.Args, one))
			}
		}
		for _, r := range after {
			is := func(one listing.Session) bool { return one.ID == r.ID || one.PID != 0 && one.PID == r.PID }
			there := func(x row) bool { return x.Agent == r.Agent && x.ID == r.ID }
			switch {
			case r.Agent != name, r.Parent != "", way.Live && r.PID == 0, way.Folder && r.CWD != dir, !t.answered(r.ID), !slices.ContainsFunc(before, there):
			case !slices.ContainsFunc(theirs, is):
				wrong = append(wrong, fmt.Sprintf("%s %s (process %d) is listed by Rollcall, and not by the agent (%q)", name, r.ID, r.PID, way.Args))
			}
		}
	}
	return wrong
}

// answered reports whether a session is none that has begun here without an answer.
func (t *harness) answered(id string) bool {
	for _, x := range t.script.lives() {
		if x.ID == id {
			return slices.ContainsFunc(x.Past(), func(was scene.Truth) bool { return was.Outcome == adapters.Completed })
		}
	}
	return true
}

// compareListings asks one agent after the other, a comparison each; all reports that every agent is asked.
func (t *harness) compareListings(all bool) {
	t.Helper()
	if !t.real {
		return
	}
	troops := t.script.troops
	if !all {
		troops = troops[t.rounds%len(troops):][:1]
	}
	asked := map[adapters.Name]bool{}
	for _, troop := range troops {
		if asked[troop.agent.Name()] {
			continue
		}
		asked[troop.agent.Name()] = true
		t.until("an agent lists other sessions", realLimit, func() []string { return t.wrongListings(troop) })
	}
}
