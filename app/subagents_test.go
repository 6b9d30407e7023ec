package app

import (
	"slices"
	"testing"

	"rollcall/adapters"
	"rollcall/internal/agentname"
)

// TestNest: parents that are not listed, of another agent, or in a circle hide no session.
func TestNest(t *testing.T) {
	of := func(id, parent string, agent adapters.Name) Session {
		return Session{Session: adapters.Session{ID: id, Parent: parent, Agent: agent}}
	}
	f := Nest([]Session{of("a", "", agentname.Codex), of("b", "a", agentname.Codex), of("c", "b", agentname.Codex), of("d", "a", agentname.Pi),
		of("e", "gone", agentname.Codex), of("x", "y", agentname.Codex), of("y", "x", agentname.Codex), of("self", "self", agentname.Codex)})
	if want := []int{-1, 0, 1, -1, -1, 6, -1, -1}; !slices.Equal(f.Parent, want) {
		t.Errorf("parents %v, want %v", f.Parent, want)
	}
	if !slices.Equal(f.Children[0], []int{1}) || !slices.Equal(f.Children[6], []int{5}) {
		t.Errorf("children %v", f.Children)
	}
}
