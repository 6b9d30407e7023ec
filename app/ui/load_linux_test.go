package ui

import (
	"slices"
	"strings"
	"testing"

	"rollcall/adapters"
	"rollcall/proc"
)

// TestDetailsShowWhatIsUsed: the details show what a session's processes use, and it is read only while they are shown.
func TestDetailsShowWhatIsUsed(t *testing.T) {
	snap := snapshotOf(session("a", adapters.Working, func(s *adapters.Session) { s.Process = proc.Self() }))
	w := openWith(t, &fakeCore{snapshot: snap}, Options{Agents: usualAgents(), Table: proc.Open()})
	d := w.ui.sessions.detail
	uses := func() bool {
		return slices.ContainsFunc(shownTexts(d.content), func(text string) bool { return strings.Contains(text, "B in 1 process") })
	}
	w.ui.sessions.showDetail()
	if uses() || d.loads.reading || !d.loads.next.IsZero() {
		t.Error("it was read before it is looked at")
	}
	d.showFacts(true)
	w.until("what it uses", uses)
}
