package cli

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"rollcall/adapters"
	"rollcall/app"
)

const week = 7 * 24 * time.Hour

// listOptions are the flags of list.
type listOptions struct {
	all    bool
	since  string
	agent  string
	status string
	group  string
	json   bool
	strict bool
}

func (c *command) listCommand() *cobra.Command {
	var o listOptions
	cmd := &cobra.Command{
		Use:   "list",
		Short: "List the sessions of all agents",
		Long: `List the live sessions of all agents: those that need you first, then working
and idle ones, the newest activity first. With --all the stopped ones of the last
7 days follow.`,
		Example: `  rollcall list
  rollcall list --all --since 30d --agent codex
  rollcall list --status waiting --json`,
		Args: noArgs,
		RunE: func(*cobra.Command, []string) error { return c.list(o) },
	}
	f := cmd.Flags()
	f.BoolVar(&o.all, "all", false, "stopped sessions as well")
	f.StringVar(&o.since, "since", "", "how far back stopped sessions go: 12h, 7d, 4w, all; implies --all (default 7d)")
	f.StringVar(&o.agent, "agent", "", "only sessions of this `agent`: claude-code, codex, opencode, openclaw, pi, pi-rust")
	f.StringVar(&o.status, "status", "", "only sessions with this `status`: working, waiting, idle, stopped (implies --all), unknown")
	f.StringVar(&o.group, "group", "", "only sessions launched in this `group`")
	f.BoolVar(&o.json, "json", false, "print JSON, schema 1")
	f.BoolVar(&o.strict, "strict", false, "exit with 3 when some agent could not be asked")
	return cmd
}

// wholeLimit is how long an agent may take for the exact tokens of everything it
// ever did, which takes reading all of it.
const wholeLimit = time.Minute

func (c *command) list(o listOptions) error {
	since, err := o.window()
	if err != nil {
		return err
	}
	cfg, err := c.config(since, o.json, adapters.Name(o.agent))
	if err != nil {
		return err
	}
	if cfg.Limit == 0 && cfg.Totals && since == app.All {
		cfg.Limit = wholeLimit
	}
	snap := app.New(cfg).Refresh(c.ctx)
	if err := c.ctx.Err(); err != nil {
		return err
	}
	shown := o.filter(snap.Sessions, since)
	if o.json {
		d := newDocument(snap.At, shown, snap.Adapters)
		d.Locks = c.lockList()
		err = c.printJSON(d)
	} else {
		c.table(shown, snap.At)
		if len(shown) == 0 {
			c.nothing(o, snap)
		}
	}
	if err != nil {
		return err
	}
	if err := c.failures(snap, o.strict); err != nil {
		return errorsAfter(c.flush(), err)
	}
	return nil
}

// errorsAfter is the error of an earlier step, else of a later one.
func errorsAfter(first, second error) error {
	if first != nil {
		return first
	}
	return second
}

// window is how far back stopped sessions are listed; 0: not at all.
func (o *listOptions) window() (time.Duration, error) {
	switch adapters.Status(o.status) {
	case "", adapters.Working, adapters.Waiting, adapters.Idle, adapters.Unknown:
	case adapters.Stopped:
		o.all = true
	default:
		return 0, wrong("--status is working, waiting, idle, stopped or unknown, not %q", o.status)
	}
	if o.since != "" {
		return parseSince(o.since)
	}
	if o.all {
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
	return 0, wrong("--since is a time such as 12h, 7d or 4w, or all; not %q", s)
}

// filter leaves out what was not asked for.
func (o *listOptions) filter(all []app.Session, since time.Duration) []app.Session {
	out := make([]app.Session, 0, len(all))
	for i := range all {
		s := &all[i]
		if since == 0 && !s.Live() || o.status != "" && string(s.Status) != o.status ||
			o.group != "" && (s.Launch == nil || s.Launch.Group != o.group) {
			continue
		}
		out = append(out, *s)
	}
	return out
}

// nothing says that there is nothing to list, and where it was looked for.
func (c *command) nothing(o listOptions, snap *app.Snapshot) {
	what := "no live sessions"
	if o.all || o.since != "" {
		what = "no sessions in that time"
	}
	if o.status != "" {
		what = "no " + o.status + " sessions"
	}
	var places []string
	for _, h := range snap.Adapters {
		place := string(h.Name)
		if len(h.LookedIn) > 0 {
			place = c.home(h.LookedIn[0]) + more(len(h.LookedIn)-1)
		}
		if h.State == app.Absent {
			place += " (" + string(h.Name) + " is not installed)"
		}
		places = append(places, place)
	}
	text := what
	if len(places) > 0 {
		text += "; looked in " + strings.Join(places, ", ")
	}
	if !o.all && o.since == "" && o.status == "" {
		text += "\n  stopped ones: rollcall list --all"
	}
	c.complain(text)
}

func more(n int) string {
	if n <= 0 {
		return ""
	}
	return fmt.Sprintf(" and %s", plural(n, "more place"))
}

// home writes a path in the user's home folder as people do.
func (c *command) home(path string) string {
	home := c.deps.Getenv("HOME")
	if home == "" || home == "/" {
		return path
	}
	if rest, ok := strings.CutPrefix(path, strings.TrimRight(home, "/")); ok && (rest == "" || rest[0] == '/') {
		return "~" + rest
	}
	return path
}
