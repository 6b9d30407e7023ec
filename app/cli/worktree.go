package cli

import (
	"cmp"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"rollcall/app/present"
	"rollcall/app/worktree"
)

// worktreesJSON is what worktree list prints as JSON. Empty fields are left out.
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
	Commits    int    `json:"commits"`        // neither in the base nor in a remote
	Lost       int    `json:"lost,omitempty"` // of these, in no branch that would stay
	Operation  string `json:"operation,omitempty"`
	Files      int    `json:"files"`
	Insertions int    `json:"insertions"`
	Deletions  int    `json:"deletions"`
	Ignored    int64  `json:"ignored_bytes,omitempty"`
	// Loses says in words what would be lost with it.
	Loses []string `json:"loses,omitempty"`
	Error string   `json:"error,omitempty"` // why the numbers are not known
}

func (c *command) worktreeCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "worktree",
		Short: "List or clean the git worktrees of launches",
		Long: `The agents of a group each work in a git worktree of their own, beside the
repository: <repo>-try-<group>-<agent>, on the branch try/<group>/<agent>.`,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) > 0 {
				return wrong("unknown command %q for %s\n  see: %s --help", args[0], cmd.CommandPath(), cmd.CommandPath())
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(c.worktreeListCommand(), c.worktreeCleanCommand())
	return cmd
}

func (c *command) worktreeListCommand() *cobra.Command {
	var repo string
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "list",
		Short: "List the worktrees of launches, with what was done in them",
		Args:  noArgs,
		RunE:  func(*cobra.Command, []string) error { return c.worktreeList(repo, asJSON) },
	}
	cmd.Flags().StringVar(&repo, "repo", "", "the repository that this `folder` is in; without it the current one")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON, schema 1")
	return cmd
}

func (c *command) worktreeList(dir string, asJSON bool) error {
	repo, err := c.openRepo(dir)
	if err != nil {
		return err
	}
	list, err := repo.List(c.ctx)
	if err != nil {
		return err
	}
	if asJSON {
		d := worktreesJSON{Schema: schema, At: timestamp(time.Now()), Repo: repo.Main, Worktrees: []worktreeJSON{}}
		for i := range list {
			d.Worktrees = append(d.Worktrees, worktreeAsJSON(&list[i]))
		}
		return c.printJSON(d)
	}
	if len(list) == 0 {
		fmt.Fprintf(&c.out, "no worktree of a launch in %s\n", c.home(present.Line(repo.Main)))
	}
	for i := range list {
		c.printWorktree(&list[i])
	}
	return nil
}

// openRepo opens the repository of a folder; empty: the current one.
func (c *command) openRepo(dir string) (*worktree.Repo, error) {
	git, err := worktree.FindGit()
	if err != nil {
		return nil, err
	}
	if dir == "" {
		if dir, err = os.Getwd(); err != nil {
			return nil, err
		}
	}
	return git.Open(c.ctx, dir)
}

func (c *command) printWorktree(e *worktree.Entry) {
	out := &c.out
	fmt.Fprintf(out, "%s  %s\n", c.home(present.Line(e.Path)), present.Line(ifelse(e.Branch == "", fmt.Sprintf("detached at %.12s", e.Head), e.Branch)))
	switch {
	case e.Err != nil:
		fmt.Fprintf(out, "  not known: %s\n", present.Line(e.Err.Error()))
		return
	case e.Gone:
		fmt.Fprintln(out, "  its folder is gone; git still has it on record")
	case e.Base.Name != "":
		fmt.Fprintf(out, "  against %s: %s, %s, %s\n", present.Line(e.Base.Name),
			plural(e.Stat.Files, "file"), plural(e.Stat.Insertions, "insertion"), plural(e.Stat.Deletions, "deletion"))
	}
	if e.Commits > 0 {
		fmt.Fprintf(out, "  %s not pushed, and not in %s\n", plural(e.Commits, "commit"), present.Line(cmp.Or(e.Base.Name, "any base")))
	}
	if e.Locked {
		fmt.Fprintf(out, "  locked %s\n", present.Line(e.Reason))
	}
	if loses := e.Losses(); len(loses) > 0 {
		fmt.Fprintf(out, "  only here: %s\n", present.Line(strings.Join(loses, ", ")))
	}
}

func worktreeAsJSON(e *worktree.Entry) worktreeJSON {
	j := worktreeJSON{
		Path: e.Path, Name: e.Name, Group: e.Group, Branch: e.Branch, Head: e.Head, Base: e.Base.Name,
		Locked: e.Locked, Gone: e.Gone, Changed: e.Changed, Conflicts: e.Conflicts, Untracked: e.Untracked, Commits: e.Commits, Lost: e.Lost,
		Operation: e.Operation, Files: e.Stat.Files, Insertions: e.Stat.Insertions, Deletions: e.Stat.Deletions,
		Ignored: e.Ignored.Bytes, Loses: e.Losses(),
	}
	if e.Err != nil {
		j.Error = e.Err.Error()
	}
	return j
}
