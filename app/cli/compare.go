package cli

import (
	"fmt"
	"path/filepath"

	"github.com/spf13/cobra"

	"rollcall/app"
	"rollcall/app/machine"
	"rollcall/app/owned/worktree"
	"rollcall/app/present"
)

func newCompare(e *env) *cobra.Command {
	var dir string
	var asJSON bool
	return command(&cobra.Command{
		Use:        "compare GROUP",
		SuggestFor: []string{"diff"},
		Short:      "Show the results of a group side by side",
		Long: `Show side by side what the agents of a group did, each in its worktree: their
status, their tokens, and what they changed in which file.`,
		Args: exactlyOne("one group"),
		RunE: func(_ *cobra.Command, args []string) error { return compare(e, args[0], dir, asJSON) },
	},
		repoFlag(&dir),
		jsonFlag(&asJSON),
	)
}

// compareJSON is the JSON document of compare.
type compareJSON struct {
	Schema int       `json:"schema"`
	Group  string    `json:"group"`
	Base   string    `json:"base,omitempty"`
	Tries  []tryJSON `json:"tries"`
}

type tryJSON struct {
	Worktree worktreeJSON         `json:"worktree"`
	Session  *machine.SessionJSON `json:"session,omitempty"`
	Files    []worktree.FileStat  `json:"files,omitempty"`
}

func compare(e *env, group, dir string, asJSON bool) error {
	repo, err := worktree.Open(e.ctx, dir)
	if err != nil {
		return err
	}
	cmp, err := repo.Compare(e.ctx, group)
	if err != nil {
		return err
	}
	if len(cmp.Tries) == 0 {
		return fmt.Errorf("no worktree of group %q in %s", group, repo.Main)
	}
	_, snap, err := e.refresh(app.All, true)
	if err != nil {
		return err
	}
	e.warnFailed(snap)
	columns := cmp.Columns(snap)
	if asJSON {
		if err := e.json(comparisonAsJSON(&cmp, columns)); err != nil {
			return err
		}
		return e.unknownWorktrees(cmp.Tries)
	}
	printComparison(e.output, &cmp, columns)
	for i := range cmp.Tries {
		if err := cmp.Tries[i].Err; err != nil {
			e.warn(cmp.Tries[i].Name + ": " + err.Error())
		}
	}
	return e.unknownWorktrees(cmp.Tries)
}

func comparisonAsJSON(cmp *worktree.Comparison, columns []worktree.Column) compareJSON {
	d := compareJSON{Schema: schema, Group: cmp.Group, Base: cmp.Base.Name, Tries: []tryJSON{}}
	for _, column := range columns {
		t := tryJSON{Worktree: worktreeAsJSON(column.Entry), Files: column.Files}
		if column.Session != nil {
			s := sessionAsJSON(column.Session)
			t.Session = &s
		}
		d.Tries = append(d.Tries, t)
	}
	return d
}

// printComparison prints a column for each try.
func printComparison(o *output, cmp *worktree.Comparison, columns []worktree.Column) {
	var lines [][]string
	line := func(name string, value func(i int) string) {
		cells := []string{name}
		for i := range columns {
			cells = append(cells, present.Cut(present.Line(value(i)), 40))
		}
		lines = append(lines, cells)
	}
	line("", func(i int) string { return columns[i].Suffix })
	line("status", func(i int) string {
		if columns[i].Session == nil {
			return "–"
		}
		return present.Status(columns[i].Session.Session)
	})
	line("model", func(i int) string { return columns[i].Model() })
	line("tokens", func(i int) string { return columns[i].Tokens() })
	line("commits", func(i int) string { return fmt.Sprint(columns[i].Commits) })
	line("changed", func(i int) string { return columns[i].Changed() })
	line("untracked", func(i int) string { return fmt.Sprint(columns[i].Untracked) })
	for _, r := range cmp.Rows {
		line(present.Cut(present.Line(filepath.ToSlash(r.Path)), 40), func(i int) string { return r.Stats[i].String() })
	}
	for _, text := range align(lines, 0, false) {
		o.printf("%s\n", text)
	}
}
