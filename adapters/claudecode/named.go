package claudecode

import (
	"context"
	"errors"
	"maps"
	"slices"
	"strings"
	"sync"

	"rollcall/adapters"
	"rollcall/adapters/internal/agentfile"
	"rollcall/adapters/internal/report"
	"rollcall/adapters/internal/uuid"
)

var _ adapters.Namer = (*Adapter)(nil)

// Named implements adapters.Namer: by the names of the transcripts and the
// entries of the registry.
func (a *Adapter) Named(ctx context.Context, prefix string) ([]string, error) {
	t, _ := a.readTable(ctx)
	answer := report.NewAnswer()
	var mu sync.Mutex
	found := map[string]bool{}
	add := func(id string) {
		mu.Lock()
		defer mu.Unlock()
		if strings.HasPrefix(id, prefix) {
			found[id] = true
		}
	}
	_, roots, _ := a.homes(t, answer, a.now())
	for _, root := range roots {
		reg, problem := readRegistry(ctx, root)
		answer.Problem(problem)
		for i := range reg.entries {
			add(reg.entries[i].id)
		}
		dirs, problems := projectFolders(root)
		answer.Problem(problems...)
		agentfile.Parallel(len(dirs), func(i int) {
			names, err := readNames(dirs[i])
			answer.Problem(err)
			for _, name := range names {
				if id, ok := strings.CutSuffix(name, ".jsonl"); ok && uuid.Is(id) {
					add(id)
				}
			}
		})
	}
	return slices.Collect(maps.Keys(found)), errors.Join(answer.Problems()...)
}
