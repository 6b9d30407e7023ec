package cli

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"rollcall/app"
	"rollcall/app/owned/worktree"
	"rollcall/app/present"
)

// changesJSON is the JSON document of changes.
type changesJSON struct {
	Schema     int                 `json:"schema"`
	Session    string              `json:"session"`
	Folder     string              `json:"folder"`
	Branch     string              `json:"branch,omitempty"`
	Since      string              `json:"since,omitempty"`
	From       string              `json:"from,omitempty"`
	Note       string              `json:"note,omitempty"`
	Commits    []commitJSON        `json:"commits"`
	More       bool                `json:"more_commits,omitempty"`
	Changed    int                 `json:"changed"`
	Conflicts  int                 `json:"conflicts,omitempty"`
	Untracked  int                 `json:"untracked"`
	Hidden     int                 `json:"hidden,omitempty"`
	Operation  string              `json:"operation,omitempty"`
	Modules    bool                `json:"submodules,omitempty"`
	Insertions int                 `json:"insertions"`
	Deletions  int                 `json:"deletions"`
	Files      []worktree.FileStat `json:"files"`
	Unlisted   int                 `json:"unlisted,omitempty"`
	Diff       string              `json:"diff,omitempty"`
	LeftOut    []string            `json:"left_out,omitempty"`
}

type commitJSON struct {
	ID      string `json:"id"`
	At      string `json:"at"`
	Subject string `json:"subject,omitempty"`
}

type changesCommand struct {
	*env
	turn, stat, asJSON bool
}

func newChanges(e *env) *cobra.Command {
	c := &changesCommand{env: e}
	return command(&cobra.Command{
		Use:   "changes SESSION",
		Short: "Show what changed in a session's git repository since it began",
		Long: `Show what changed in the git repository of the session's folder since the
session began: commits, files with added and removed lines, what is not
committed, and the difference. It is compared with the commit that was checked
out then, whoever made the changes, so work that was not committed at that time
counts as well. Nothing that the repository names is run.`,
		Example: `  rollcall changes 9830e65d --stat
  rollcall changes 9830e65d --turn`,
		Args: oneName,
		RunE: withArg(c.run),
	},
		withFlag(&c.turn, "turn", "since its last turn began"),
		withFlag(&c.stat, "stat", "without the difference: only which files changed, and by how much"),
		jsonFlag(&c.asJSON),
	)
}

func (c *changesCommand) run(id string) error {
	s, _, _, err := c.findNamed(id, false)
	if err != nil {
		return err
	}
	if err := hasFolder(&s); err != nil {
		return c.sessionError(Failure, &s, err)
	}
	since := s.StartedAt
	if c.turn {
		since = s.TurnStartedAt
	}
	changes, err := worktree.ChangesSince(c.ctx, s.CWD, since, !c.stat)
	if err != nil {
		return c.sessionError(Failure, &s, err)
	}
	if c.asJSON {
		return c.json(changesAsJSON(s.ID, since, changes))
	}
	c.print(since, changes)
	return nil
}

// hasFolder returns an error for a session whose files are not on this machine.
func hasFolder(s *app.Session) error {
	switch {
	case s.HasLocalFolder():
		return nil
	case s.Remote != "":
		return fmt.Errorf("it runs on %s: its files are not on this machine", s.Remote)
	case s.Container != "":
		return errors.New("it runs in a container, whose files are not read: run git there")
	}
	return errors.New("its folder is not known")
}

func changesAsJSON(id string, since time.Time, c *worktree.Changes) changesJSON {
	j := changesJSON{Schema: schema, Session: id, Folder: c.Tree, Branch: c.Branch, Since: timestamp(since), From: c.From, Note: c.Note,
		Commits: each(c.Commits, commitAsJSON), More: c.More, Changed: c.Changed, Conflicts: c.Conflicts, Untracked: c.Untracked, Hidden: c.Hidden, Operation: c.Operation, Modules: c.Modules,
		Insertions: c.Stat.Insertions, Deletions: c.Stat.Deletions, Files: c.Files, Unlisted: c.Unlisted, Diff: c.Diff, LeftOut: c.LeftOut}
	if j.Files == nil {
		j.Files = []worktree.FileStat{}
	}
	return j
}

func commitAsJSON(c *worktree.Commit) commitJSON {
	return commitJSON{ID: c.ID, At: timestamp(c.At), Subject: c.Subject}
}

// print prints the changes in four parts: the sums, the commits, the files, the difference.
func (c *changesCommand) print(since time.Time, changes *worktree.Changes) {
	when := "not committed"
	if !since.IsZero() {
		when = "since its " + ifelse(c.turn, "turn", "session") + " began, " + since.Local().Format("2006-01-02 15:04")
	}
	branch := present.Line(changes.Branch)
	c.printf("%s%s · %s\n", c.path(changes.Tree), ifelse(branch == "", "", " on "+branch), when)
	from := "compared with " + present.Begin(changes.From, shownID)
	if changes.From == "" {
		from = "nothing was committed then"
	}
	c.printf("%s\n", from+ifelse(changes.Note == "", "", ": "+changes.Note))
	sums := []string{plural(len(changes.Commits), "commit") + ifelse(changes.More, " and more", ""), changes.Stat.String()}
	if open := changes.Unfinished(); len(open) > 0 {
		sums = append(sums, "not finished: "+strings.Join(open, ", "))
	}
	c.printf("%s\n", strings.Join(sums, " · "))
	c.printCommits(changes)
	c.printFiles(changes)
	if changes.Diff != "" {
		c.printf("\n")
		c.printDiff(changes.Diff)
	}
	for _, path := range changes.LeftOut {
		if !c.stat {
			c.printf("%s: too large to show here\n", present.Line(path))
		}
	}
}

// shownID is how many digits of a commit's id are shown.
const shownID = 10

func (c *changesCommand) printCommits(changes *worktree.Changes) {
	if len(changes.Commits) > 0 {
		c.printf("\n")
	}
	for _, commit := range changes.Commits {
		line := commit.At.Local().Format("2006-01-02 15:04") + "  " + present.Line(commit.Subject)
		c.printf("  %s  %s\n", c.colored(present.Begin(commit.ID, shownID), "33"), line)
	}
}

func (c *changesCommand) printFiles(changes *worktree.Changes) {
	var table [][]string
	for _, f := range changes.Files {
		path := present.Line(f.Path)
		if f.From != "" {
			path = present.Line(f.From) + " → " + path
		}
		table = append(table, []string{path, f.String() + ifelse(f.Untracked, "  untracked", "")})
	}
	if len(table) == 0 {
		return
	}
	c.printf("\n")
	for _, line := range align(table, max(c.streams.Width-len(textIndent), 0), false) {
		c.printf("%s%s\n", textIndent, line)
	}
	if changes.Unlisted > 0 {
		c.printf("%sand %s\n", textIndent, plural(changes.Unlisted, "more untracked file"))
	}
}

// printDiff prints a difference, safe for a terminal: its lines are an agent's text.
func (c *changesCommand) printDiff(diff string) {
	head := true
	for line := range strings.Lines(diff) {
		line = present.Output(strings.TrimRight(line, "\r\n"))
		code := ""
		switch {
		case strings.HasPrefix(line, "diff "), strings.HasPrefix(line, "untracked "):
			head = true
			code = "1"
		case strings.HasPrefix(line, "@@ "):
			head = false
			code = "36"
		case head:
			code = "1"
		case strings.HasPrefix(line, "+"):
			code = "32"
		case strings.HasPrefix(line, "-"):
			code = "31"
		}
		c.printf("%s\n", c.colored(line, code))
	}
}
