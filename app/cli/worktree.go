package cli

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"rollcall/app/owned/worktree"
	"rollcall/app/present"
)

// worktreesJSON is the JSON document of worktree list. Empty fields are left out.
type worktreesJSON struct {
	Schema    int            `json:"schema"`
	At        string         `json:"at"`
	Repo      string         `json:"repo"`
	Worktrees []worktreeJSON `json:"worktrees"`
}

type worktreeJSON struct {
	Path       string `json:"path"`
	Name       string `json:"name"`
	Group      string `json:"group"`
	Branch     string `json:"branch,omitempty"` // checked out; none: detached
	Head       string `json:"head,omitempty"`
	Base       string `json:"base,omitempty"`
	Locked     bool   `json:"locked,omitempty"`
	Gone       bool   `json:"gone,omitempty"` // its folder is
	Changed    int    `json:"changed"`
	Conflicts  int    `json:"conflicts,omitempty"`
	Untracked  int    `json:"untracked"`
	Commits    int    `json:"commits"`        // commits that are neither in the base nor in a remote
	Lost       int    `json:"lost,omitempty"` // those of Commits that no other branch has
	Operation  string `json:"operation,omitempty"`
	Files      int    `json:"files"`
	Insertions int    `json:"insertions"`
	Deletions  int    `json:"deletions"`
	Ignored    int64  `json:"ignored_bytes,omitempty"`
	// Loses describes what would be lost with the worktree.
	Loses []string `json:"loses,omitempty"`
	Error string   `json:"error,omitempty"` // why the numbers are not known
}

func newWorktree(e *env) *cobra.Command {
	return newGroup("worktree", "List or clean the git worktrees of launches",
		`The agents of a group each work in a separate git worktree, next to the
repository: <repo>-try-<group>-<agent>, on the branch try/<group>/<agent>.`,
		newWorktreeList(e), newWorktreeClean(e))
}

func newWorktreeList(e *env) *cobra.Command {
	var dir string
	var asJSON bool
	return command(&cobra.Command{
		Use:   "list",
		Short: "List the worktrees of launches, with what was done in them",
		Args:  noArgs,
		RunE:  func(*cobra.Command, []string) error { return listWorktrees(e, dir, asJSON) },
	},
		repoFlag(&dir),
		jsonFlag(&asJSON),
	)
}

func listWorktrees(e *env, dir string, asJSON bool) error {
	repo, err := worktree.Open(e.ctx, dir)
	if err != nil {
		return err
	}
	list, err := repo.List(e.ctx)
	if err != nil {
		return err
	}
	if asJSON {
		if err := e.json(worktreesJSON{Schema: schema, At: timestamp(time.Now()), Repo: repo.Main, Worktrees: each(list, worktreeAsJSON)}); err != nil {
			return err
		}
		return e.unknownWorktrees(list)
	}
	if len(list) == 0 {
		e.printf("no worktree of a launch in %s\n", e.path(repo.Main))
	}
	for i := range list {
		printWorktree(e.output, &list[i])
	}
	return e.unknownWorktrees(list)
}

// unknownWorktrees returns an error where the state of a worktree could not be read, which was printed.
func (e *env) unknownWorktrees(list []worktree.Entry) error {
	unknown := 0
	for i := range list {
		if list[i].Err != nil {
			unknown++
		}
	}
	if unknown == 0 {
		return nil
	}
	return e.incomplete(someFailed(unknown, len(list), "worktree", "could not be read"))
}

func printWorktree(o *output, e *worktree.Entry) {
	o.printf("%s  %s\n", o.path(e.Path), present.Line(ifelse(e.Branch == "", fmt.Sprintf("detached at %.12s", e.Head), e.Branch)))
	switch {
	case e.Err != nil:
		o.printf("  not known: %s\n", present.Line(e.Err.Error()))
		return
	case e.Gone:
		o.printf("  its folder does not exist; git still has a record of it\n")
	case e.Base.Name != "":
		o.printf("  against %s: %s, %s, %s\n", present.Line(e.Base.Name),
			plural(e.Stat.Files, "file"), plural(e.Stat.Insertions, "insertion"), plural(e.Stat.Deletions, "deletion"))
	}
	o.printIf(e.Commits > 0, "  %s not pushed, and not in %s\n", plural(e.Commits, "commit"), present.Line(cmp.Or(e.Base.Name, "any base")))
	o.printIf(e.Locked, "  locked %s\n", present.Line(e.Reason))
	loses := present.Line(strings.Join(e.Losses(), ", "))
	o.printIf(loses != "", "  only here: %s\n", loses)
}

func worktreeAsJSON(e *worktree.Entry) worktreeJSON {
	return worktreeJSON{
		Path: e.Path, Name: e.Name, Group: e.Group, Branch: e.Branch, Head: e.Head, Base: e.Base.Name,
		Locked: e.Locked, Gone: e.Gone, Changed: e.Changed, Conflicts: e.Conflicts, Untracked: e.Untracked, Commits: e.Commits, Lost: e.Lost,
		Operation: e.Operation, Files: e.Stat.Files, Insertions: e.Stat.Insertions, Deletions: e.Stat.Deletions,
		Ignored: e.Ignored.Bytes, Loses: e.Losses(), Error: errorText(e.Err),
	}
}
