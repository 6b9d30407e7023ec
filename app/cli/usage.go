package cli

import (
	"encoding/csv"
	"fmt"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"rollcall/adapters"
	"rollcall/app"
	"rollcall/app/machine"
	"rollcall/app/present"
	"rollcall/app/usage"
)

type usageCommand struct {
	*env
	by, since, agent      string
	asJSON, asCSV, strict bool
	limits                bool
}

func newUsage(e *env) *cobra.Command {
	c := &usageCommand{env: e, by: string(usage.ByDay), since: "30d"}
	return command(&cobra.Command{
		Use:        "usage",
		SuggestFor: []string{"tokens", "cost", "stats"},
		Short:      "Sum up the tokens, turns and cost of sessions",
		Long: `Sum up what sessions used: tokens, turns and cost, by day, project, agent, model,
branch, group of launches, home of an agent (account) or session. The period of --since begins at the start of a day or,
if it is shorter than a day, of a quarter of an hour. Usage counts on the day, in
local time, on which it happened. "rollcall list" shows what the
record of a session holds, copies included. OpenClaw's gateways do not report when a session
used its tokens: such a session counts as a whole, on the day on which it was last
active, and without turns.

Each answer counts once, for the model, folder, branch and session in which it was given,
however often a fork or a continued session copied it; a copy counts only where the
original is gone. What sub-agents used counts for their session.

A turn is a prompt of yours that the agent answered. The cost is the one that the
agents report. For sessions whose agent reports none, it is computed from your prices
([prices."MODEL"] in the settings); without prices it is empty. Not all agents report
reasoning tokens; they are part of the output, but of ` + reasoningApart() + `,
which count it beside that.`,
		Example: `  rollcall usage
  rollcall usage --by model --since 30d
  rollcall usage --by project --since all --csv
  rollcall usage --limits`,
		Args: oneOf("json", "csv"),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if !c.limits {
				return c.run()
			}
			if f := cmd.Flags(); f.Changed("by") || f.Changed("since") || c.asCSV {
				return usageError("--limits cannot be combined with --by, --since or --csv")
			}
			return c.runLimits()
		},
	},
		withFlag(&c.by, "by", "day, project, agent, model, branch, group, home or session"),
		withFlag(&c.since, "since", "what was used since: 12h, 7d, 4w, all"),
		agentFlag(&c.agent),
		withFlag(&c.asCSV, "csv", "print comma-separated values, without the total"),
		withFlag(&c.limits, "limits", "show the usage limits of accounts, as agents recorded them last"),
		jsonFlag(&c.asJSON),
		strictFlag(&c.strict),
	)
}

func (c *usageCommand) run() error {
	by := usage.By(c.by)
	if !slices.Contains(usage.Ways, by) {
		return usageError("--by must be day, project, agent, model, branch, group, home or session, not %q", c.by)
	}
	since, err := parseSince(c.since)
	if err != nil {
		return err
	}
	start := usage.Start(time.Now(), since)
	cfg, err := c.config(usage.Period(time.Now(), start), true, agentNamed(c.agent))
	if err != nil {
		return err
	}
	cfg.Usage = true
	if cfg.Limit == 0 {
		cfg.Limit = wholeLimit
	}
	debug.SetMemoryLimit(listMemory)
	snap := app.Ask(c.ctx, cfg, app.Once{Last: true})
	if err := c.ctx.Err(); err != nil {
		return err
	}
	q := usage.Query{By: by, Prices: c.settings().Prices, Since: start}
	if by == usage.ByProject {
		q.Projects = usage.ProjectsOf(snap.Sessions())
	}
	t := usage.Of(snap.Sessions(), q)
	if err := c.print(&t, snap, start); err != nil {
		return err
	}
	if c.warnFailed(snap) && c.strict {
		return c.incomplete(nil)
	}
	return nil
}

// print prints what was used since start, in the form that the flags ask for.
func (c *usageCommand) print(t *usage.Table, snap *app.Snapshot, start time.Time) error {
	others := c.notAsked("usage", c.asJSON)
	switch {
	case c.asJSON:
		j := usageAsJSON(t, snap, start)
		j.NotAsked = others
		return c.json(j)
	case c.asCSV:
		return c.printCSV(t)
	}
	c.printUsage(t)
	for _, name := range c.unread(snap) {
		c.warn(present.AgentName(name) + " is not read: what it used is not known")
	}
	if lines := present.LeftOutFiles(snap.FilesLeftOut()); len(lines) > 0 {
		c.warn("left out: " + strings.Join(lines, ", "))
	}
	return nil
}

// unread returns those of the agents that were asked for, or have sessions, which are only seen: what they used is not known.
func (c *usageCommand) unread(snap *app.Snapshot) []adapters.Name {
	list := []adapters.Name{adapters.Name(c.agent)}
	if c.agent == "" {
		list = nil
		for _, h := range snap.Adapters {
			if h.Sessions > 0 {
				list = append(list, h.Name)
			}
		}
	}
	return slices.DeleteFunc(list, func(name adapters.Name) bool { return !isUnread(name) })
}

// reasoningApart returns the agents that do not count reasoning as a part of the output.
func reasoningApart() string {
	var titles []string
	for _, d := range adapters.Described() {
		if d.ReasoningApart {
			titles = append(titles, d.Title)
		}
	}
	slices.Sort(titles)
	last := len(titles) - 1
	return strings.Join(titles[:max(last, 0)], ", ") + " and " + strings.Join(titles[max(last, 0):], "")
}

// usageJSON is the JSON document of usage.
type usageJSON struct {
	Schema   int                   `json:"schema"`
	At       string                `json:"at"`
	By       usage.By              `json:"by"`
	Since    string                `json:"since,omitempty"`
	Rows     []usage.Row           `json:"rows"`
	Total    usage.Row             `json:"total"`
	Untimed  int                   `json:"untimed_sessions,omitempty"`
	LeftOut  map[string]int        `json:"left_out,omitempty"` // files, by reason
	Answers  map[string]int        `json:"left_out_answers,omitempty"`
	Adapters []machine.AdapterJSON `json:"adapters"`
	NotAsked []string              `json:"not_asked,omitempty"` // machines
}

func usageAsJSON(t *usage.Table, snap *app.Snapshot, since time.Time) usageJSON {
	files, answers := snap.FilesLeftOut()
	return usageJSON{LeftOut: files, Answers: answers, Schema: schema, At: timestamp(snap.At), By: t.By, Since: timestamp(since), Untimed: t.Untimed, Rows: append([]usage.Row{}, t.Rows...), Total: t.Total,
		Adapters: newDocument(snap.At, nil, snap.Adapters).Adapters}
}

// printCSV prints the rows with a header. A spreadsheet would evaluate a text that begins with =,
// +, - or @ as a formula, so such a key gets an apostrophe in front.
func (c *usageCommand) printCSV(t *usage.Table) error {
	w := csv.NewWriter(&c.out)
	_ = w.Write([]string{string(t.By), "sessions", "turns", "input", "output", "cache_read", "cache_write", "reasoning", "cost_usd"})
	number := func(n int64) string { return strconv.FormatInt(n, 10) }
	for i := range t.Rows {
		r := &t.Rows[i]
		key, cost := present.Line(r.Key), ""
		if key != "" && strings.ContainsRune("=+-@", rune(key[0])) {
			key = "'" + key
		}
		if r.Costed > 0 {
			cost = strconv.FormatFloat(r.CostUSD, 'f', -1, 64)
		}
		_ = w.Write([]string{key, strconv.Itoa(r.Sessions), strconv.Itoa(r.Turns), number(r.Tokens.Input), number(r.Tokens.Output),
			number(r.Tokens.CacheRead), number(r.Tokens.CacheWrite), number(r.Tokens.Reasoning), cost})
	}
	w.Flush()
	if err := w.Error(); err != nil {
		return fmt.Errorf("cannot write CSV: %w", err)
	}
	return nil
}

// printUsage prints a table for people, with the total below.
func (c *usageCommand) printUsage(t *usage.Table) {
	if len(t.Rows) == 0 {
		c.warn("no sessions" + ifelse(c.since == "all", "", " in the last "+c.since))
		return
	}
	lines := [][]string{{strings.ToUpper(string(t.By)), "SESSIONS", "TURNS", "INPUT", "OUTPUT", "CACHE READ", "CACHE WRITE", "REASONING", "COST"}}
	for _, r := range append(slices.Clone(t.Rows), t.Total) {
		lines = append(lines, c.cells(t.By, &r))
	}
	lines[len(lines)-1][0] = "total"
	for n, text := range align(lines, c.streams.Width, true) {
		if n == 0 || n == len(lines)-1 {
			text = c.colored(text, "1")
		}
		c.printf("%s\n", text)
	}
	c.explain(t)
}

func (c *usageCommand) cells(by usage.By, r *usage.Row) []string {
	key := present.UsageKey(string(by), r.Key)
	if (by == usage.ByProject || by == usage.ByHome) && r.Key != "" {
		key = c.path(r.Key)
	}
	return []string{key, strconv.Itoa(r.Sessions), present.Count(int64(r.Turns)), present.Count(r.Tokens.Input), present.Count(r.Tokens.Output),
		present.Count(r.Tokens.CacheRead), present.Count(r.Tokens.CacheWrite), present.Count(r.Tokens.Reasoning),
		present.Cost(r.CostUSD, r.Costed, r.Sessions)}
}

// explain prints what the table leaves out.
func (c *usageCommand) explain(t *usage.Table) {
	if n := t.Total.Unknown; n > 0 {
		c.warn(plural(n, "session") + " without recorded tokens")
	}
	if n := t.Untimed; n > 0 && c.since != "all" {
		c.warn(plural(n, "session") + " counted as a whole: the agent does not say when it used what")
	}
	if t.Total.Costed > 0 && t.Total.Costed < t.Total.Sessions {
		c.warn(fmt.Sprintf("the cost is known for only %d of %s; the agents of the others report none, and the settings have no price for their models", t.Total.Costed, plural(t.Total.Sessions, "session")))
	}
}
