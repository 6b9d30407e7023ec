package launch

import (
	"context"
	"sync"

	"rollcall/adapters"
	"rollcall/app"
	"rollcall/proc"
)

// Observe refreshes the agents of launches that are new or have moved to another process, until ctx is done. It changes
// no record: the user's keeper does.
func (l *Launches) Observe(ctx context.Context, core *app.Core) error {
	changes, err := l.records.Changes(ctx)
	m := moved{core: core}
	defer m.refreshes.Wait()
	for {
		m.refresh(ctx, l.readable())
		select {
		case <-ctx.Done():
			return err
		case <-changes:
		}
	}
}

// moved finds the launches that are new or have moved, probably by another process of Rollcall, and refreshes their
// agents. The first files of an agent may be in a folder that is not watched yet.
type moved struct {
	core      *app.Core
	known     map[string]place // by launch, at the last call
	refreshes sync.WaitGroup
}

// place is the process and the session of a launch.
type place struct {
	process proc.Identity
	session string
}

func (m *moved) refresh(ctx context.Context, records []Record) {
	known := make(map[string]place, len(records))
	agents := map[adapters.Name]bool{}
	for i := range records {
		r := &records[i]
		if r.Ended() {
			continue
		}
		known[r.ID] = place{r.Process, r.Session}
		if m.known[r.ID] != known[r.ID] {
			agents[r.Agent] = true
		}
	}
	m.known = known
	for name := range agents {
		m.refreshes.Go(func() { m.core.RefreshOne(ctx, name) })
	}
}

// Changes returns a channel that receives when a record has changed; see store.Folder.Changes.
func (l *Launches) Changes(ctx context.Context) (<-chan struct{}, error) {
	return l.records.Changes(ctx)
}
