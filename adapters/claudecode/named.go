package claudecode

import (
	"context"
	"errors"
	"strings"
	"sync"

	"rollcall/adapters"
	"rollcall/adapters/internal/agentfile"
	"rollcall/adapters/internal/uuid"
)

var _ adapters.Namer = (*Adapter)(nil)

// Named implements adapters.Namer: by the names of the transcripts and the
// entries of the registry.
func (a *Adapter) Named(ctx context.Context, prefix string) ([]string, error) {
	t, _ := a.readTable(ctx)
	var problems []error
	var mu sync.Mutex
	found := map[string]bool{}
	add := func(id string) {
		mu.Lock()
		defer mu.Unlock()
		found[id] = found[id] || strings.HasPrefix(id, prefix)
	}
	homes, silent := a.homes(t, a.now())
	for _, dir := range silent {
		problems = append(problems, adapters.Unresponsive(dir))
	}
	for _, root := range realPaths(homes) {
		reg, problem := readRegistry(ctx, root)
		problems = append(problems, problem)
		for i := range reg.entries {
			add(reg.entries[i].id)
		}
		dirs, more := projectFolders(root)
		problems = append(problems, more...)
		agentfile.Parallel(len(dirs), func(i int) {
			names, err := readNames(dirs[i])
			if err != nil {
				mu.Lock()
				problems = append(problems, adapters.Unreadable(dirs[i], err))
				mu.Unlock()
			}
			for _, name := range names {
				if id, ok := strings.CutSuffix(name, ".jsonl"); ok && uuid.Is(id) {
					add(id)
				}
			}
		})
	}
	var ids []string
	for id, fits := range found {
		if fits {
			ids = append(ids, id)
		}
	}
	return ids, errors.Join(problems...)
}
