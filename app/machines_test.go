package app

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"rollcall/adapters"
	"rollcall/internal/agentname"
)

// TestMachinesMergeSorted: the sessions of all machines are in the order of Sort, whatever their numbers.
func TestMachinesMergeSorted(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	some := func(machine string, n int) (out []Session) {
		for i := range n {
			s := Session{Machine: machine, Session: adapters.Session{
				ID: MachineID(machine, fmt.Sprint(i)), Agent: agentname.Codex,
				State: adapters.State{Status: Order[rng.IntN(len(Order))]},
				Times: adapters.Times{LastActivityAt: time.Unix(int64(rng.IntN(50)), 0)},
			}}
			out = append(out, s)
		}
		Sort(out)
		return out
	}
	for _, sizes := range [][]int{{0, 0, 0}, {3, 0, 0}, {0, 5, 0}, {1, 40, 7}, {60, 2, 90}} {
		var rolls []MachineRoll
		own := some("", sizes[0])
		want := slices.Clone(own)
		for i, n := range sizes[1:] {
			r := MachineRoll{MachineHealth: MachineHealth{Name: fmt.Sprint("m", i)}, Sessions: some(fmt.Sprint("m", i), n)}
			want = append(want, r.Sessions...)
			rolls = append(rolls, r)
		}
		Sort(want)
		same := func(a, b Session) bool { return a.ID == b.ID && a.Machine == b.Machine }
		snap := (&Snapshot{Own: own}).WithMachines(rolls)
		got := snap.Sessions()
		if !slices.EqualFunc(got, want, same) {
			t.Errorf("%v: not sorted", sizes)
		}
		if again := snap.Sessions(); len(got) > 0 && &again[0] != &got[0] {
			t.Errorf("%v: joined twice", sizes)
		}
		if got := (&Snapshot{Own: snap.Own, Others: snap.Others}).Sessions(); !slices.EqualFunc(got, want, same) {
			t.Errorf("%v: not sorted without a place for the joined list", sizes)
		}
		for stop := range len(want) + 1 { // a caller may want only the first ones
			var all []Session
			for s := range snap.All() {
				if len(all) == stop {
					break
				}
				all = append(all, *s)
			}
			if !slices.EqualFunc(all, want[:stop], same) {
				t.Errorf("%v: the first %d differ", sizes, stop)
			}
		}
	}
}

// TestMachineSessionsAreNotThisMachines: a row of another machine is never stopped by a signal, and stays where nothing answers for it.
func TestMachineSessionsAreNotThisMachines(t *testing.T) {
	c := New(Config{})
	row := Session{Machine: "dev", Session: adapters.Session{
		ID: "dev:a", Agent: "new-agent",
		State: adapters.State{Status: adapters.Working},
		Place: adapters.Place{Remote: "dev", CWD: "/src"},
	}}
	c.ShowMachine(MachineRoll{MachineHealth: MachineHealth{Name: "dev", State: OK}, Sessions: []Session{row}}, []Event{{Kind: Started, Session: row}})
	snap := c.Refresh(t.Context())
	if len(snap.Sessions()) != 1 || len(snap.Machines) != 1 || snap.Sessions()[0].IDThere() != "a" || snap.Sessions()[0].HasLocalFolder() || snap.Sessions()[0].MayStopIdle() {
		t.Errorf("%+v", snap)
	}
	if _, err := c.PlanStop(t.Context(), row); err == nil {
		t.Error("stopped without its machine")
	}
	if _, err := c.Peek(t.Context(), row, 1); err == nil {
		t.Error("peeked without its machine")
	}
	events := c.Events()
	defer events.Close()
	c.HideMachine("dev")
	if e, err := events.Next(t.Context()); err != nil || e.Kind != Changed || e.Session.ID != row.ID || e.Session.Status != adapters.Unknown || e.Before.Status != adapters.Working {
		t.Errorf("%+v, %v", e, err)
	}
	if snap := c.Snapshot(); len(snap.Sessions()) != 0 || len(snap.Machines) != 0 {
		t.Errorf("%+v", snap)
	}
}
