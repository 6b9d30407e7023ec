package worktree

import (
	"context"
	"maps"
	"slices"
)

// Comparison sets the tries of one group side by side.
type Comparison struct {
	Group string
	Base  Base
	Tries []Entry
	Rows  []Row // one for each file that some try touched, by path
}

// Row is one file across the tries.
type Row struct {
	Path  string
	Stats []*FileStat // one for each try, in their order; nil: not touched there
}

// Compare returns the tries of a group and what each did to which file. A group
// without a worktree has no tries.
func (r *Repo) Compare(ctx context.Context, group string) (Comparison, error) {
	list, err := r.List(ctx)
	if err != nil {
		return Comparison{}, err
	}
	c := Comparison{Group: group}
	rows := map[string][]*FileStat{}
	for _, e := range list {
		if e.Group == group {
			c.Tries, c.Base = append(c.Tries, e), e.Base
		}
	}
	for i := range c.Tries {
		for j := range c.Tries[i].Files {
			f := &c.Tries[i].Files[j]
			if rows[f.Path] == nil {
				rows[f.Path] = make([]*FileStat, len(c.Tries))
			}
			rows[f.Path][i] = f
		}
	}
	for _, path := range slices.Sorted(maps.Keys(rows)) {
		c.Rows = append(c.Rows, Row{path, rows[path]})
	}
	return c, nil
}
