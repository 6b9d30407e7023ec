package cli

import (
	"cmp"
	"fmt"
	"math"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/dustin/go-humanize/english"
	"github.com/spf13/cobra"

	"rollcall/adapters"
	"rollcall/app"
	"rollcall/app/owned/launch"
	"rollcall/app/present"
	"rollcall/app/store/lock"
	"rollcall/app/usage"
)

const week = 7 * 24 * time.Hour

type listCommand struct {
	*env
	all, here, hidden, loads    bool
	since, agent, status, group string
	by                          string
	dir, machine                string
	asJSON, strict              bool
}

func newList(e *env) *cobra.Command {
	c := &listCommand{env: e, by: "status"}
	return command(&cobra.Command{
		Use:        "list",
		SuggestFor: []string{"ls", "ps", "sessions"},
		Short:      "List the sessions of all agents",
		Long: `List the live sessions of all agents: those that need you first, then working
and idle ones, the newest activity first. With --all the stopped ones of the last
7 days follow. Sessions of agents that the setting leave_out_agents names are left
out, unless Rollcall launched them; --agent shows those of one agent even so.
The table leaves out what you have hidden or snoozed (rollcall mark), but not what
needs you; --json has it, with the key hidden or snoozed.

The exit code is 3 if a machine does not answer, and if nothing is listed and not
everything could be read; with --strict whenever something could not be read.

On a terminal the table is as wide as the terminal at most. Elsewhere it has every
column, and nothing is cut.`,
		Example: `  rollcall list
  rollcall list --cwd .
  rollcall list --all --since 30d --agent codex
  rollcall list --by project
  rollcall list --status waiting --json`,
		Args: oneOf("here", "machine"),
		RunE: withoutArgs(c.run),
	},
		withFlag(&c.all, "all,a", "list stopped sessions too"),
		withFlag(&c.hidden, "hidden", "only sessions that you have hidden or snoozed"),
		withFlag(&c.since, "since", "how far back stopped sessions go: 12h, 7d, 4w, all; implies --all (default 7d)"),
		agentFlag(&c.agent),
		withFlag(&c.status, "status", "only sessions with this `status`: working, waiting (or “needs you”), idle, stopped (implies --all), unknown"),
		withFlag(&c.group, "group", "only sessions launched in this `group`"),
		withFlag(&c.by, "by", "how the table is grouped: status, or project with the worktrees of a repository together"),
		withFlag(&c.dir, "cwd", "only sessions in this `folder` of this machine or below it"),
		withFlag(&c.machine, "machine,H", "only sessions of this other `machine`"),
		withFlag(&c.here, "here", "only sessions of this machine; no other machine is asked"),
		withFlag(&c.loads, "resources", "with --json: the memory and processor time that the sessions' processes use"),
		jsonFlag(&c.asJSON),
		strictFlag(&c.strict),
	)
}

// wholeLimit is the time that an agent may take to list the sessions of all time: for some
// agents all files must be read.
const wholeLimit = time.Minute

// listMemory is the memory limit in bytes above which the garbage collector runs more often. A list
// of very many sessions needs less memory than that.
const listMemory = 180 << 20

// liveGrowth is by how many percent the heap grows before the garbage collector runs in a list of live sessions, whose heap is small: at the default a fifth of
// the processor time was the collector's.
const liveGrowth = 400

// setCollector sets when the garbage collector runs in a list of the sessions since a time; 0: of the live ones.
func setCollector(since time.Duration) {
	debug.SetMemoryLimit(listMemory)
	if since == 0 {
		debug.SetGCPercent(liveGrowth)
	}
}

func (c *listCommand) run() error {
	since, err := c.window()
	if err != nil {
		return err
	}
	cfg, err := c.config(since, c.asJSON, agentNamed(c.agent))
	if err != nil {
		return err
	}
	if cfg.Limit == 0 && since == app.All {
		cfg.Limit = wholeLimit
	}
	others, err := c.asked()
	if err != nil {
		return err
	}
	if c.machine != "" {
		cfg.Adapters = nil
	}
	setCollector(since)
	rolls := make(chan []app.MachineRoll, 1)
	go func() { rolls <- others.Ask(c.ctx, since, cmp.Or(cfg.Limit, machineLimit)) }()
	terminal := c.streams
	if c.asJSON {
		terminal.Width = 0
	}
	snap := askWithProgress(c.ctx, cfg, c.leftOut(c.agent), terminal).WithMachines(<-rolls)
	if err := c.ctx.Err(); err != nil {
		return err
	}
	all := snap.Sessions()
	if c.loads && cfg.Table != nil {
		(&app.LoadMeter{Table: cfg.Table}).SetLoads(c.ctx, all) // of all, since what runs below another session is not counted
	}
	shown := c.filter(all, since)
	shown, away := c.divide(shown)
	c.countLeftBehind(app.New(cfg), shown)
	if err := c.printSnapshot(snap, shown); err != nil {
		return err
	}
	c.warnNotShown(snap, away)
	missing := slices.ContainsFunc(snap.Machines, func(m app.MachineHealth) bool { return m.State == app.Failed })
	if c.warnFailed(snap) && (c.strict || missing || len(shown)+away == 0) {
		return c.incomplete(nil)
	}
	return nil
}

// warnNotShown says which sessions are not shown, and which homes of the settings can't be.
func (c *listCommand) warnNotShown(snap *app.Snapshot, away int) {
	if left := present.LeftOut(snap.LeftOut.Agents); left != "" && c.streams.Width > 0 && !c.asJSON {
		c.warn(left + " (rollcall list --agent NAME shows them)")
	}
	if away > 0 {
		c.warn(fmt.Sprintf("%d hidden or snoozed (rollcall list --hidden shows %s)", away, ifelse(away == 1, "it", "them")))
	}
	set := c.settings()
	for _, line := range set.HomeProblems() {
		c.warn(line)
	}
}

// printSnapshot prints the sessions of a snapshot that are shown.
func (c *listCommand) printSnapshot(snap *app.Snapshot, shown []app.Session) error {
	if c.asJSON {
		d := newDocument(snap.At, nil, snap.Adapters)
		d.Machines = each(snap.Machines, machineAsJSON)
		d.Locks = lockList(c.env)
		d.LeftOut = snap.LeftOut.Agents
		return c.printSessions(d, shown)
	}
	c.printGrouped(shown, snap.At)
	if len(shown) == 0 {
		c.warnNone(snap)
	}
	return nil
}

// printGrouped prints the table, or one table for each project, in the order of their most urgent sessions.
func (c *listCommand) printGrouped(shown []app.Session, now time.Time) {
	if c.by != "project" {
		printTable(c.output, shown, now)
		return
	}
	var names []string
	of := map[string][]app.Session{}
	projects := usage.ProjectsOf(shown)
	for _, s := range shown {
		root := s.CWD
		if s.HasLocalFolder() {
			root = projects[root]
		}
		if of[root] == nil {
			names = append(names, root)
		}
		of[root] = append(of[root], s)
	}
	for i, name := range names {
		c.printf("%s%s\n", ifelse(i > 0, "\n", ""), c.colored(ifelse(name == "", "(no folder)", c.path(name)), "1"))
		printTable(c.output, of[name], now)
	}
}

// window returns how far back stopped sessions are listed; 0: not at all.
func (c *listCommand) window() (time.Duration, error) {
	if c.loads && !c.asJSON {
		return 0, usageError("--resources needs --json; rollcall top shows what sessions use")
	}
	if c.by != "status" && c.by != "project" {
		return 0, usageError("--by must be status or project, not %q", c.by)
	}
	if c.agent != "" {
		c.agent = string(agentNamed(c.agent))
	}
	switch asked := c.status; adapters.Status(statusNamed(asked)) {
	case "", adapters.Working, adapters.Waiting, adapters.Idle, adapters.Unknown:
	case adapters.Stopped:
		c.all = true
	default:
		return 0, usageError("--status must be working, waiting (or “needs you”), idle, stopped or unknown, not %q", asked)
	}
	c.status = statusNamed(c.status)
	if c.since != "" {
		return parseSince(c.since)
	}
	if c.all {
		return week, nil
	}
	return 0, nil
}

// parseSince reads "90m", "12h", "7d", "4w" or "all".
func parseSince(s string) (time.Duration, error) {
	if s == "all" {
		return app.All, nil
	}
	units := map[string]time.Duration{"m": time.Minute, "h": time.Hour, "d": 24 * time.Hour, "w": week}
	for unit, d := range units {
		number, ok := strings.CutSuffix(s, unit)
		if !ok {
			continue
		}
		n, err := strconv.ParseFloat(number, 64)
		if err == nil && n > 0 && n*float64(d) < math.MaxInt64 {
			return time.Duration(n * float64(d)), nil
		}
	}
	return 0, usageError("--since must be a time such as 12h, 7d or 4w, or all; not %q", s)
}

// filter returns the sessions that the flags ask for. It overwrites all.
func (c *listCommand) filter(all []app.Session, since time.Duration) []app.Session {
	var isBelow func(folder string) bool
	if c.dir != "" {
		isBelow = lock.Below(launch.Path(c.dir))
	}
	out := all[:0] // only this command has the list, which may be long
	for i := range all {
		s := &all[i]
		if since == 0 && !s.Live() || c.status != "" && string(s.Status) != c.status ||
			c.agent != "" && string(s.Agent) != c.agent ||
			c.group != "" && (s.Launch == nil || s.Launch.Group != c.group) || isBelow != nil && (!s.HasLocalFolder() || !isBelow(s.CWD)) {
			continue
		}
		out = append(out, *s)
	}
	return out
}

// divide returns the sessions that are printed, and the number of those that the table leaves out because the user put them away. It overwrites shown.
func (c *listCommand) divide(shown []app.Session) (printed []app.Session, away int) {
	if c.asJSON && !c.hidden {
		return shown, 0
	}
	folded := app.PutAway(shown)
	printed = shown[:0]
	for i := range shown {
		switch {
		case folded[i] == c.hidden:
			printed = append(printed, shown[i])
		case folded[i]:
			away++
		}
	}
	return printed, away
}

// warnNone reports in one line that no session is listed, which agents and machines answered, and which failed.
func (c *listCommand) warnNone(snap *app.Snapshot) {
	var asked, failed []string
	for _, h := range snap.Adapters {
		switch h.State {
		case app.OK:
			asked = append(asked, string(h.Name))
		case app.Absent:
		default:
			failed = append(failed, string(h.Name))
		}
	}
	for _, m := range snap.Machines {
		if m.State == app.OK {
			asked = append(asked, "machine "+m.Name)
		} else {
			failed = append(failed, "machine "+m.Name)
		}
	}
	what, where := c.nothing()
	text := what + " of " + strings.Join(asked, ", ") + where
	absent := len(snap.Adapters) + len(snap.Machines) - len(asked) - len(failed)
	switch {
	case asked == nil && failed == nil && c.agent != "":
		text = c.agent + " is not installed"
	case asked == nil && failed == nil:
		text = "no agent is installed"
	case asked == nil:
		text = "not known whether there are sessions: not everything of " + strings.Join(failed, ", ") + " could be read"
	case failed != nil:
		text += "; not everything of " + strings.Join(failed, ", ") + " could be read"
	case absent > 0:
		text += fmt.Sprintf("; %s not installed", plural(absent, "agent"))
	}
	if asked == nil && failed == nil && len(snap.LeftOut.Agents) > 0 {
		text = "no sessions are shown: " + present.LeftOut(snap.LeftOut.Agents)
	}
	if asked != nil && !c.all && c.since == "" && c.status == "" {
		text += "; stopped ones: rollcall list -a"
	}
	c.warn(text)
}

// nothing describes, for a message, the sessions that the flags ask for and that were not found, and the place where they were searched.
func (c *listCommand) nothing() (what, where string) {
	what = "no live sessions"
	if c.all || c.since != "" {
		what = "no sessions"
	}
	if c.status != "" {
		what = "no " + c.status + " sessions"
	}
	if c.hidden {
		what += " that you have hidden or snoozed"
	}
	if c.group != "" {
		where += " in group " + present.Line(c.group)
	}
	if c.dir != "" {
		where += " in " + c.path(launch.Path(c.dir))
	}
	if since := cmp.Or(c.since, "7 days"); since != "all" && (c.all || c.since != "") {
		where += " in the last " + since
	}
	return what, where
}

func plural(n int, what string) string { return english.Plural(n, what, "") }
