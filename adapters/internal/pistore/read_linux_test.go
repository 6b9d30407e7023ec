package pistore

import (
	"testing"
	"time"

	"rollcall/adapters"
	"rollcall/internal/agentname"
)

// 0.27.9 names the file by another id than that of the header.
func TestMisnamed(t *testing.T) {
	w := newFixture(t)
	s := newScript("6ee8429b-da41-436c-af5f-f41c18de898c", w.cwd(), time.Now().Add(-time.Hour)).prompt(second, "x").answer(2*second, "stop")
	s.label = "0e618263-e4ad-4693-a83e-a0ddd3a04049"
	w.put(s)
	a := w.store(agentname.Pi)
	w.expect(a, map[string]string{s.id: "stopped completed"})
	for _, a := range []*Store{a, w.store(agentname.Pi)} {
		for id, want := range map[string]int{s.id: 1, s.label: 0, idA: 0} {
			if got, _, err := ask(t, a, adapters.Query{IDs: []string{id}}); len(got) != want || err != nil {
				t.Errorf("asked for %s: %v, %v", id, got, err)
			}
		}
	}
}
