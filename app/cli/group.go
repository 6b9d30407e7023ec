package cli

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"rollcall/adapters"
	"rollcall/app"
	"rollcall/app/launch"
	"rollcall/app/lock"
	"rollcall/app/present"
	"rollcall/app/worktree"
)

// members reads AGENT[=MODEL] arguments.
func members(args []string, o launchOptions) []launch.Member {
	var out []launch.Member
	for _, a := range args {
		agent, model, ok := strings.Cut(a, "=")
		if !ok {
			model = o.model
		}
		out = append(out, launch.Member{Agent: adapters.Name(agent), Model: model, Mode: o.mode})
	}
	return out
}

// matrixOf is what the arguments and flags of launch ask for, as a matrix.
func (c *command) matrixOf(args []string, o launchOptions) (*launch.Matrix, error) {
	if o.matrix == "" {
		task, err := c.taskOf(adapters.Task{Dir: o.dir}, o)
		if err != nil {
			return nil, err
		}
		m := &launch.Matrix{Request: c.requestOf(task, o), Members: members(args, o)}
		return m, launch.CheckMembers(m.Members)
	}
	if len(args) > 0 || o.prompt != "" || o.promptFile != "" || o.model != "" || o.mode != "" {
		return nil, wrong("a matrix file names the agents, models, modes and the prompt itself")
	}
	m, err := launch.LoadMatrix(c.ctx, o.matrix)
	if err != nil {
		return nil, err
	}
	if o.group != "" {
		m.Request.Group = o.group
	}
	m.Request.KeepEnv = c.requestOf(adapters.Task{}, o).KeepEnv
	return m, nil
}

// launchGroup starts several agents, each in a worktree of its own.
func (c *command) launchGroup(args []string, o launchOptions) error {
	if o.terminal {
		return wrong("only one agent fits into a terminal")
	}
	m, err := c.matrixOf(args, o)
	if err != nil {
		return err
	}
	list, _ := c.deps.Open()
	find := func(name adapters.Name) adapters.Adapter {
		for _, a := range list {
			if a.Name() == name {
				return a
			}
		}
		return nil
	}
	g, err := launch.PrepareGroup(c.ctx, m, find, os.Environ())
	if err != nil {
		return err
	}
	fmt.Fprintf(&c.out, "group %s\n", g.Name)
	for i, p := range g.Plans() {
		c.printLaunch(p)
		o.mode = m.Members[i].Mode
		if err := c.warnUnsafe(find(p.Agent), o); err != nil {
			return err
		}
	}
	if o.dryRun {
		return nil
	}
	l, err := c.launches()
	if err != nil {
		return err
	}
	if err := c.flushNow(); err != nil {
		return err
	}
	results, err := g.Start(c.ctx, l, func(r launch.GroupResult) {
		if r.Err != nil {
			fmt.Fprintf(&c.out, "%s: not started\n", present.AgentName(r.Member.Agent))
		} else {
			fmt.Fprintf(&c.out, "%s: started %s, process %d, in %s\n", present.AgentName(r.Member.Agent), r.Started.Record.ID,
				r.Started.Child.PID(), c.home(present.Line(r.Folder)))
			for _, w := range r.Started.Warnings {
				c.complain(w.Error())
			}
		}
		_ = c.flushNow()
	})
	if err != nil {
		return err
	}
	fmt.Fprintf(&c.out, "how they get on: rollcall compare %s\n", g.Name)
	return launch.Failed(results)
}

func (c *command) compareCommand() *cobra.Command {
	var repo string
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "compare GROUP",
		Short: "Set the results of a group side by side",
		Long: `Set side by side what the agents of a group did, each in its worktree: what they
do now, their tokens, and what they changed in which file.`,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) != 1 || args[0] == "" {
				return wrong("compare takes one group\n  see: %s --help", cmd.CommandPath())
			}
			return nil
		},
		RunE: func(_ *cobra.Command, args []string) error { return c.compare(args[0], repo, asJSON) },
	}
	cmd.Flags().StringVar(&repo, "repo", "", "the repository that this `folder` is in; without it the current one")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON, schema 1")
	return cmd
}

// compareJSON is what compare prints as JSON.
type compareJSON struct {
	Schema int       `json:"schema"`
	Group  string    `json:"group"`
	Base   string    `json:"base,omitempty"`
	Tries  []tryJSON `json:"tries"`
}

type tryJSON struct {
	Worktree worktreeJSON `json:"worktree"`
	Session  *sessionJSON `json:"session,omitempty"`
	Files    []fileJSON   `json:"files,omitempty"`
}

type fileJSON struct {
	Path       string `json:"path"`
	Insertions int    `json:"insertions"`
	Deletions  int    `json:"deletions"`
	Binary     bool   `json:"binary,omitempty"`
}

func (c *command) compare(group, dir string, asJSON bool) error {
	repo, err := c.openRepo(dir)
	if err != nil {
		return err
	}
	cmp, err := repo.Compare(c.ctx, group)
	if err != nil {
		return err
	}
	if len(cmp.Tries) == 0 {
		return fmt.Errorf("no worktree of group %q in %s", group, repo.Main)
	}
	core, err := c.core(app.All, true)
	if err != nil {
		return err
	}
	snap := core.Refresh(c.ctx)
	if err := c.ctx.Err(); err != nil {
		return err
	}
	_ = c.failures(snap, false)
	sessions := make([]*app.Session, len(cmp.Tries))
	for i := range cmp.Tries {
		sessions[i] = sessionIn(snap, &cmp.Tries[i])
	}
	if asJSON {
		return c.printJSON(comparisonAsJSON(&cmp, sessions))
	}
	return c.printComparison(&cmp, sessions)
}

// sessionIn is the session that works, or last worked, in a worktree.
func sessionIn(snap *app.Snapshot, e *worktree.Entry) *app.Session {
	for i := range snap.Sessions { // live ones first, the newest first
		s := &snap.Sessions[i]
		if s.Parent == "" && s.Remote == "" && s.CWD != "" && lock.Within(e.Path, s.CWD) {
			return s
		}
	}
	return nil
}

func comparisonAsJSON(cmp *worktree.Comparison, sessions []*app.Session) compareJSON {
	d := compareJSON{Schema: schema, Group: cmp.Group, Base: cmp.Base.Name, Tries: []tryJSON{}}
	for i := range cmp.Tries {
		t := tryJSON{Worktree: worktreeAsJSON(&cmp.Tries[i])}
		if sessions[i] != nil {
			s := sessionAsJSON(sessions[i])
			t.Session = &s
		}
		for _, f := range cmp.Tries[i].Files {
			t.Files = append(t.Files, fileJSON{f.Path, f.Insertions, f.Deletions, f.Binary})
		}
		d.Tries = append(d.Tries, t)
	}
	return d
}

// printComparison prints a column per try.
func (c *command) printComparison(cmp *worktree.Comparison, sessions []*app.Session) error {
	w := tabwriter.NewWriter(&c.out, 0, 0, 3, ' ', 0)
	line := func(name string, value func(i int) string) {
		fmt.Fprint(w, name)
		for i := range cmp.Tries {
			fmt.Fprint(w, "\t"+present.Cut(present.Line(value(i)), 40))
		}
		fmt.Fprintln(w)
	}
	of := func(f func(*app.Session) string) func(int) string {
		return func(i int) string {
			if sessions[i] == nil {
				return "–"
			}
			return f(sessions[i])
		}
	}
	line("", func(i int) string { return cmp.Tries[i].Suffix })
	line("status", of(func(s *app.Session) string { return present.Status(s.Session) }))
	line("model", of(func(s *app.Session) string { return s.Model }))
	line("tokens", of(func(s *app.Session) string {
		if s.Tokens == nil {
			return "–"
		}
		return fmt.Sprintf("%d in, %d out", s.Tokens.Input+s.Tokens.CacheRead+s.Tokens.CacheWrite, s.Tokens.Output)
	}))
	line("commits", func(i int) string { return fmt.Sprint(cmp.Tries[i].Commits) })
	line("changed", func(i int) string {
		e := &cmp.Tries[i]
		if e.Err != nil {
			return e.Err.Error()
		}
		return fmt.Sprintf("%s, +%d −%d", plural(e.Stat.Files, "file"), e.Stat.Insertions, e.Stat.Deletions)
	})
	line("untracked", func(i int) string { return fmt.Sprint(cmp.Tries[i].Untracked) })
	for _, r := range cmp.Rows {
		line(present.Cut(present.Line(filepath.ToSlash(r.Path)), 40), func(i int) string { return change(r.Stats[i]) })
	}
	return w.Flush()
}

// change is what a try did to one file.
func change(f *worktree.FileStat) string {
	switch {
	case f == nil:
		return "·"
	case f.Binary:
		return "binary"
	}
	return fmt.Sprintf("+%d −%d", f.Insertions, f.Deletions)
}
