package codex

import (
	"context"
	"errors"
	"strings"

	"rollcall/adapters"
	"rollcall/adapters/internal/report"
)

var _ adapters.Namer = (*Adapter)(nil)

// Named implements adapters.Namer. It reads the names of the rollouts.
func (a *Adapter) Named(ctx context.Context, prefix string) ([]string, error) {
	census, err := takeCensus(ctx, a.table)
	answer := report.NewAnswer()
	answer.Problem(err)
	var ids []string
	for _, r := range a.roots(census, answer) {
		fits := func(id string) bool { return strings.HasPrefix(id, prefix) }
		rollouts, more := a.walk(ctx, r.path, fits, func(string) bool { return true }, false)
		answer.Problem(more...)
		for _, found := range rollouts {
			ids = report.AppendNew(ids, found.id)
		}
	}
	return ids, errors.Join(answer.Problems()...)
}
