package launch

import (
	"strings"
	"testing"
	"time"

	"rollcall/adapters"
)

// TestStartingUnread: of an agent whose files nothing reads it is not known whether it works, from the first moment on.
func TestStartingUnread(t *testing.T) {
	adapters.SetUnread([]adapters.Unread{{Name: "aider", Title: "Aider", Programs: []string{"aider"}, Launch: []string{}}})
	defer adapters.SetUnread(nil)
	now := time.Now()
	l := &Launches{}
	for agent, want := range map[adapters.Name]adapters.Status{"aider": adapters.Unknown, "pi": adapters.Working} {
		row := l.row(&Record{Agent: agent, LaunchedAt: now.Add(-time.Second)}, now)
		if row.Status != want || !strings.Contains(row.Evidence, "launched 1s ago") {
			t.Errorf("%s: %s, %s", agent, row.Status, row.Evidence)
		}
	}
}
