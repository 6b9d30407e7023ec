package worktree

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/dustin/go-humanize"

	"rollcall/app"
	"rollcall/app/store/lock"
)

// Comparison compares the tries of one group.
type Comparison struct {
	Group string
	Base  Base
	Tries []Entry
	Rows  []Row // one for each file that a try changed, by path
}

// Row is one file in all tries.
type Row struct {
	Path  string
	Stats []*FileStat // one for each try, in the same order; nil: the try did not change the file
}

// Compare returns the tries of a group and the files that each changed. A group without a worktree has no tries.
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

// Column is one try of a comparison for display.
type Column struct {
	*Entry
	Session *app.Session // the session in the try, or the last one; nil: none
}

// Columns returns the tries, each with its session in snap.
func (c *Comparison) Columns(snap *app.Snapshot) []Column {
	out := make([]Column, len(c.Tries))
	for i := range c.Tries {
		out[i].Entry = &c.Tries[i]
		for s := range snap.All() { // live sessions first, then the newest
			if s.Parent == "" && s.HasLocalFolder() && lock.Within(out[i].Path, s.CWD) {
				out[i].Session = s
				break
			}
		}
	}
	return out
}

// unknown is shown for a value that is not known.
const unknown = "–"

// Model returns the model of the session.
func (c Column) Model() string {
	if c.Session == nil {
		return unknown
	}
	return c.Session.Model
}

// Tokens returns the session's input tokens, including those from a cache, and its output tokens.
func (c Column) Tokens() string {
	if c.Session == nil || c.Session.Tokens == nil {
		return unknown
	}
	t := c.Session.Tokens
	return fmt.Sprintf("%s in, %s out", humanize.Comma(t.Input+t.CacheRead+t.CacheWrite), humanize.Comma(t.Output))
}

// Changed returns the number of files and lines that the try changed, or why that is not known.
func (c Column) Changed() string {
	if c.Err != nil {
		return c.Err.Error()
	}
	return c.Stat.String()
}

// String returns the sum, such as "2 files, +3 −1".
func (s Stat) String() string {
	if s.Files == 1 {
		return fmt.Sprintf("1 file, +%d −%d", s.Insertions, s.Deletions)
	}
	return fmt.Sprintf("%d files, +%d −%d", s.Files, s.Insertions, s.Deletions)
}

// String returns the change of one file, such as "+3 −1". f may be nil.
func (f *FileStat) String() string {
	switch {
	case f == nil:
		return "·"
	case f.Binary && f.Size > 0:
		return "binary, " + humanize.IBytes(uint64(f.Size))
	case f.Binary:
		return "binary"
	case f.Untracked && f.Insertions == 0: // not read
		return humanize.IBytes(uint64(f.Size))
	}
	return fmt.Sprintf("+%d −%d", f.Insertions, f.Deletions)
}
