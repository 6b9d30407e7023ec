package codex

import (
	"context"
	"errors"
	"strings"

	"rollcall/adapters"
)

var _ adapters.Namer = (*Adapter)(nil)

// Named implements adapters.Namer: by the names of the rollouts.
func (a *Adapter) Named(ctx context.Context, prefix string) ([]string, error) {
	census, err := takeCensus(ctx, a.table)
	roots, _, problems := a.roots(census)
	var ids []string
	for _, r := range roots {
		fits := func(id string) bool { return strings.HasPrefix(id, prefix) }
		rollouts, more := a.walk(ctx, r.path, fits, func(string) bool { return true }, false)
		problems = append(problems, more...)
		for _, found := range rollouts {
			ids = appendNew(ids, found.id)
		}
	}
	return ids, errors.Join(append(problems, err)...)
}
