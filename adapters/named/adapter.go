package named

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"time"

	"rollcall/adapters"
	"rollcall/adapters/internal/agentproc"
	"rollcall/adapters/internal/kit"
	"rollcall/adapters/internal/pane"
	"rollcall/proc"
)

// Adapter shows the processes of one agent.
type Adapter struct {
	name     adapters.Name
	table    proc.Lister
	claims   *claims
	programs adapters.Programs // nil: no program is run
	answers  answered
}

var _ interface {
	adapters.Adapter
	adapters.Describer
	adapters.ProcessOwner
	adapters.Answerer
} = (*Adapter)(nil)

// New returns an adapter for each agent of the settings, and for each that is built in. users returns the agents of the settings as they were last read; the
// adapters follow its changes, and one whose agent is gone shows nothing. others are the adapters that read their agents.
//
// programs runs the programs of an agent's entry; nil: none is run.
func New(cfg adapters.Config, users func() []adapters.Unread, programs adapters.Programs, others []adapters.Adapter) []adapters.Adapter {
	cfg = cfg.WithDefaults()
	c := &claims{table: agentproc.Table(cfg.Table, cfg.Home), now: cfg.Now, users: users}
	for _, a := range others {
		if o, ok := a.(adapters.ProcessOwner); ok {
			c.others = append(c.others, o)
		}
	}
	var out []adapters.Adapter
	for _, u := range c.list() {
		a := &Adapter{name: u.Name, table: c.table, claims: c, programs: programs}
		if u.CanLaunch() {
			out = append(out, &launchable{a})
		} else {
			out = append(out, a)
		}
	}
	return out
}

// Name implements adapters.Adapter.
func (a *Adapter) Name() adapters.Name { return a.name }

// Describe implements adapters.Describer.
func (a *Adapter) Describe() adapters.Description {
	d, _ := adapters.Describe(a.name)
	return d
}

// OwnsProcess implements adapters.ProcessOwner.
func (a *Adapter) OwnsProcess(p proc.Process) bool {
	return a.claims.agentOf(a.claims.list(), p) == a.name
}

// Discover implements adapters.Adapter.
func (a *Adapter) Discover(ctx context.Context, q adapters.Query) (adapters.Roll, error) {
	return agentproc.Ask(ctx, a.table, func() (adapters.Roll, error) { return a.look(ctx, q) })
}

func (a *Adapter) look(ctx context.Context, q adapters.Query) (adapters.Roll, error) {
	answer := kit.NewAnswer()
	u := a.claims.find(a.name)
	if u == nil {
		return answer.Absent()
	}
	table, err := a.table.List(ctx)
	if err != nil {
		answer.Problem(&adapters.Problem{Kind: adapters.ErrUnreadable, Path: "process table", Err: err,
			Fix: "without it, running agents can't be recognised"})
	}
	agents := a.claims.list()
	mine := slices.DeleteFunc(slices.Clone(table), func(p proc.Process) bool { return a.claims.agentOf(agents, p) != a.name })
	if len(mine) == 0 && err == nil && !u.Configured {
		return answer.Absent()
	}
	mine = a.claims.rows(mine, table)
	titles := a.titles(ctx, u, mine)
	for _, p := range mine {
		s, ok := a.session(u, p, table)
		if !ok || q.IDs != nil && !slices.Contains(q.IDs, s.ID) {
			continue
		}
		if t, has := titles[p.Identity]; has {
			judge(u, &s, t.Text)
			s.AskAgain = a.claims.now().Add(titlePause) // a title changes without an event
		}
		answer.Add(s)
	}
	if len(u.Rows) > 0 && a.programs != nil {
		a.addRows(ctx, answer, u, q, table)
	}
	return answer.Result(ctx, u.Title)
}

// titlePause is how long a title that was read counts.
const titlePause = 5 * time.Second

// titles returns the titles of the terminals of processes, if one can say something.
func (a *Adapter) titles(ctx context.Context, u *adapters.Unread, list []proc.Process) map[proc.Identity]pane.Title {
	if len(list) == 0 || u.Working == nil && u.Waiting == nil {
		return nil
	}
	ids := make([]proc.Identity, len(list))
	for i, p := range list {
		ids[i] = p.Identity
	}
	return pane.Titles(ctx, a.table, "", ids)
}

// session returns the row of a process. ok is false if the process has ended, or belongs to another user.
func (a *Adapter) session(u *adapters.Unread, p proc.Process, table []proc.Process) (s adapters.Session, ok bool) {
	cwd, err := a.table.CWD(p.Identity)
	if errors.Is(err, proc.ErrGone) || errors.Is(err, fs.ErrPermission) {
		return s, false
	}
	s = adapters.ProcessSession(a.name, p, cwd)
	s.Status = adapters.Unknown
	if settles := p.Started.Add(settled); u.Configured && a.claims.now().After(settles) {
		s.Unstored = true // its end is told: a shorter run was no work, such as one that prints its version
	} else if u.Configured {
		s.AskAgain = settles
	}
	facts := fmt.Sprintf("process %d: open since %s", p.PID, p.Started.Format("15:04:05, Jan 2"))
	if terminal, err := a.table.Terminal(p.Identity); err == nil && terminal != "" {
		facts += " in " + strings.TrimPrefix(terminal, "/dev/")
	}
	if used, err := proc.Open().Load(p.Identity); err == nil {
		facts += "; it has used " + seconds(used.Processor) + " of processor time"
	}
	if names := children(p, table); len(names) > 0 {
		facts += "; it runs " + strings.Join(names, ", ")
	}
	s.Evidence = facts + "; Rollcall does not read " + u.Title + "'s files"
	return s, true
}

// seconds returns a processor time in words: whole seconds, and beyond a minute whole minutes, so that a row does not change all the time.
func seconds(d time.Duration) string {
	switch {
	case d < time.Second:
		return "less than 1 s"
	case d < time.Minute:
		return fmt.Sprintf("%d s", d/time.Second)
	case d < time.Hour:
		return fmt.Sprintf("%d min", d/time.Minute)
	}
	return fmt.Sprintf("%d h %d min", d/time.Hour, d%time.Hour/time.Minute)
}

// maxChildren is the number of children that a row names.
const maxChildren = 3

// children returns the names of the programs that a process has started and that still run.
func children(p proc.Process, table []proc.Process) (names []string) {
	for _, child := range table {
		if child.PPID == p.PID && child.PID != p.PID {
			names = append(names, fmt.Sprintf("%s (%d)", child.Comm, child.PID))
		}
	}
	slices.Sort(names)
	if more := len(names) - maxChildren; more > 0 {
		names = append(names[:maxChildren], fmt.Sprintf("%d more", more))
	}
	return names
}

// judge sets the status that the title of the terminal says. A title that matches none of the user's patterns says nothing.
func judge(u *adapters.Unread, s *adapters.Session, title string) {
	shown := adapters.CutTo(title, 100)
	switch {
	case u.Waiting != nil && u.Waiting.MatchString(title):
		s.Status, s.WaitingFor = adapters.Waiting, adapters.ForQuestion
		s.Evidence = fmt.Sprintf("the title of its terminal is %q, which title_waiting matches; %s", shown, s.Evidence)
	case u.Working != nil && u.Working.MatchString(title):
		s.Status = adapters.Working
		s.Evidence = fmt.Sprintf("the title of its terminal is %q, which title_working matches; %s", shown, s.Evidence)
	default:
		s.Evidence += fmt.Sprintf("; the title of its terminal, %q, matches no pattern", shown)
	}
}
