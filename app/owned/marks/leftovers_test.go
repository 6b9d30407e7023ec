package marks

import (
	"strings"
	"testing"

	"rollcall/adapters"
	"rollcall/app"
	"rollcall/app/owned/cleanup"
	"rollcall/internal/agentname"
	"rollcall/internal/must"
)

// TestLeftovers: the note about a session is offered once its agent answers in full and no longer lists it, and is removed then.
func TestLeftovers(t *testing.T) {
	m := In(t.TempDir())
	for _, id := range []string{"listed", "gone", "begun again"} {
		must.Do(t, m.Change(t.Context(), agentname.Codex, id, func(x *app.Mark) { x.Pinned = true }))
	}
	must.Do(t, m.Change(t.Context(), agentname.Pi, "absent", func(x *app.Mark) { x.Hidden = true }))
	listed := []app.Session{{Session: adapters.Session{ID: "listed", Agent: agentname.Codex}}, {Session: adapters.Session{ID: "new", Agent: agentname.Codex, Continues: "begun again"}}}
	in := func(codex app.AdapterState) *cleanup.Cleaner {
		all := &app.Snapshot{Own: listed, Adapters: []app.Health{{Name: agentname.Codex, State: codex}, {Name: agentname.Pi, State: app.Absent}}}
		return &cleanup.Cleaner{Home: t.TempDir(), Sources: []cleanup.Source{Leftovers{m, all}}}
	}
	if items, err := in(app.Failed).Scan(t.Context()); err != nil || len(items) > 0 {
		t.Errorf("not everything was read: %v, %v", items, err)
	}
	c := in(app.OK)
	items, err := c.Scan(t.Context())
	if err != nil || len(items) != 1 || !strings.HasSuffix(items[0].Why, " no longer lists session gone") {
		t.Fatalf("%+v, %v", items, err)
	}
	if r := c.Remove(t.Context(), items); r[0].Err != nil {
		t.Error(r[0].Err)
	}
	left, err := m.Of(agentname.Codex)
	if _, ok := left["gone"]; ok || err != nil || len(left) != 2 || !left["listed"].Pinned {
		t.Errorf("left: %v, %v", left, err)
	}
	if !m.Any() || In(t.TempDir()).Any() {
		t.Error("whether there are notes")
	}
}
