package ui

import (
	"strings"
	"testing"
	"time"

	"rollcall/app"
	"rollcall/app/describe"
	"rollcall/internal/agentname"
)

// TestMachinesShown: a machine that does not answer is named with its reason, also where there is no session, and has a card beside the agents'.
func TestMachinesShown(t *testing.T) {
	s := &app.Snapshot{At: time.Now(), Generation: 1, Adapters: []app.Health{{Name: agentname.Codex, State: app.OK}},
		Machines: []app.MachineHealth{{Name: "devbox", State: app.Failed, Problems: []string{"connection refused"}}, {Name: "server", State: app.OK}}}
	if got := describe.Problems(s); got != "devbox: connection refused" {
		t.Errorf("%q", got)
	}
	w := open(t, s)
	shows(t, w.ui.content, "Cannot read the sessions of devbox")
	if all := describe.Healths(s); len(all) != 3 || all[1].Name != "Machine devbox" || all[1].State != app.Failed {
		t.Errorf("%+v", all)
	}
	s.Machines[0].State = app.Pending
	if m, fills := w.ui.sessions.instead(); !fills || !m.Busy {
		t.Errorf("while a machine is read the page shows %+v", m)
	}
	for range 10 {
		s.Machines = append(s.Machines, app.MachineHealth{Name: "m", State: app.Failed, Problems: []string{"host not found"}})
	}
	if got := describe.Problems(s); strings.Count(got, "\n") != describe.MaxFailures || !strings.HasSuffix(got, "and 4 more") {
		t.Errorf("%q", got)
	}
}
