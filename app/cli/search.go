package cli

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"rollcall/adapters"
	"rollcall/app"
	"rollcall/app/owned/launch"
	"rollcall/app/present"
	"rollcall/app/store/lock"
	"rollcall/textmatch"
)

type searchCommand struct {
	*env
	since, agent, dir            string
	regex, tools, asJSON, strict bool
	limit                        int
	last                         string // the session of the hit printed last
	began                        time.Time
	progress                     progress
}

func newSearch(e *env) *cobra.Command {
	c := &searchCommand{env: e, began: time.Now(), since: "all"}
	return command(&cobra.Command{
		Use:        "search TEXT",
		SuggestFor: []string{"grep", "find", "rg"},
		Short:      "Search what was said in the sessions of all agents",
		Long: `Search the conversations of all agents, of live and of stopped sessions, for a
text, regardless of case. Hits are printed as they are found, those of the
newest session first, one for each message: the session, the time, who said it,
and the line with the first match.

The search covers what you and the agent said; with --tools also the input and the
output of tool calls. There is no index and no copy: the agents' own files
are read each time.

The exit code is 0 when something was found, 5 when all was searched and nothing
was found, and 3 when nothing was found and not everything could be searched.`,
		Example: `  rollcall search "retry the upload"
  rollcall search flaky --agent codex --since 30d
  rollcall search --regex 'time(out|r)' --cwd . --tools
  rollcall search TODO --limit 20 --json`,
		Args: exactlyOne("a text to search for"),
		RunE: withArg(c.run),
	},
		withFlag(&c.regex, "regex,e", "TEXT is a regular expression (RE2 syntax)"),
		withFlag(&c.tools, "tools", "also search the calls of tools and their output"),
		agentFlag(&c.agent),
		withFlag(&c.since, "since", "only sessions that were active since: 12h, 7d, 4w, all"),
		withFlag(&c.dir, "cwd", "only sessions in this `folder` or below it"),
		withFlag(&c.limit, "limit,n", "stop after so many `hits`; 0: never"),
		withFlag(&c.asJSON, "json", "print one JSON document per line, schema 1"),
		strictFlag(&c.strict),
	)
}

// searchQuery returns the query for text and the flags.
func (c *searchCommand) searchQuery(text string) (q app.SearchQuery, err error) {
	compile := textmatch.Text
	if c.regex {
		compile = textmatch.Regexp
	}
	q.Pattern, err = compile(text)
	if err != nil {
		return q, usageError("%w", err)
	}
	since, err := parseSince(c.since)
	if err != nil {
		return q, err
	}
	if since != app.All {
		q.Since = time.Now().Add(-since)
	}
	if c.limit < 0 {
		return q, usageError("--limit must be 0 or more, not %d", c.limit)
	}
	if c.dir != "" {
		q.Within = lock.Below(launch.Path(c.dir))
	}
	q.Tools, q.Limit = c.tools, c.limit
	return q, nil
}

func (c *searchCommand) run(text string) error {
	c.progress.streams = c.streams
	q, err := c.searchQuery(text)
	if err != nil {
		return err
	}
	cfg, err := c.config(0, false, agentNamed(c.agent))
	if err != nil {
		return err
	}
	core := app.New(cfg)
	var failed error
	report, err := core.Search(c.ctx, q, func(h app.SearchHit) bool {
		c.progress.hide()
		failed = c.print(&h)
		if failed == nil {
			failed = c.write()
		}
		return failed == nil
	}, c.showProgress)
	c.progress.hide()
	switch {
	case err != nil:
		return err
	case failed == errReaderGone: //nolint:errorlint // write returns it as it is
		return nil
	case failed != nil:
		return failed
	}
	return c.end(&report)
}

// end prints what was not searched and, without a hit, that nothing was found. Its error has the exit code of the search.
func (c *searchCommand) end(r *app.SearchReport) error {
	others := c.notAsked("search", c.asJSON)
	if c.asJSON {
		j := searchEndAsJSON(r)
		j.NotAsked = others
		if err := cmp.Or(c.encode(j, false), c.flush()); err != nil {
			return err
		}
	}
	for _, line := range r.Missing(func(n adapters.Name) string { return string(n) }) {
		c.warn(line)
	}
	switch {
	case r.Failed() && (r.Hits == 0 || c.strict):
		return &exitError{code: Incomplete}
	case r.Hits == 0:
		if !c.asJSON {
			c.warn("nothing was found in " + plural(r.Searched, "conversation"))
		}
		return &exitError{code: NotFound}
	}
	return nil
}

// hitJSON is the JSON document of a hit.
type hitJSON struct {
	Schema  int           `json:"schema"`
	Session string        `json:"session"`
	Agent   adapters.Name `json:"agent"`
	CWD     string        `json:"cwd,omitempty"`
	Key     string        `json:"key"`
	Role    adapters.Role `json:"role"`
	Tool    string        `json:"tool,omitempty"`
	At      string        `json:"at,omitempty"`
	Before  string        `json:"before"`
	Match   string        `json:"match"`
	After   string        `json:"after"`
}

// searchEndJSON is the JSON document after the last hit.
type searchEndJSON struct {
	Schema   int                 `json:"schema"`
	Hits     int                 `json:"hits"`
	Searched int                 `json:"searched"`
	Limited  bool                `json:"limited,omitempty"`
	Adapters []searchedAgentJSON `json:"adapters"`
	NotAsked []string            `json:"not_asked,omitempty"` // machines
}

type searchedAgentJSON struct {
	Name    adapters.Name    `json:"name"`
	State   app.AdapterState `json:"state"`
	Error   string           `json:"error,omitempty"`
	Skipped map[string]int   `json:"skipped,omitempty"`
}

func searchEndAsJSON(r *app.SearchReport) searchEndJSON {
	return searchEndJSON{Schema: schema, Hits: r.Hits, Searched: r.Searched, Limited: r.Limited, Adapters: each(r.Agents, func(a *app.SearchedAgent) searchedAgentJSON {
		return searchedAgentJSON{Name: a.Name, State: a.State, Error: strings.Join(a.Problems, "; "), Skipped: a.Skipped}
	})}
}

// print prints a hit. On a terminal, and for a reader, each session has its own line above its
// hits.
func (c *searchCommand) print(h *app.SearchHit) error {
	if c.asJSON {
		return c.encode(hitJSON{Schema: schema, Session: h.Session, Agent: h.Agent, CWD: h.CWD, Key: h.Key, Role: h.Role, Tool: h.Tool,
			At: timestamp(h.At), Before: h.Before, Match: h.Match, After: h.After}, false)
	}
	if id := string(h.Agent) + " " + h.Session; id != c.last {
		if c.last != "" {
			c.printf("\n")
		}
		c.last = id
		c.printf("%s  %s  %s\n", c.colored(present.Line(h.Session), "1"), present.AgentName(h.Agent), c.colored(c.path(h.CWD), "2"))
	}
	who := present.Speaker(adapters.Message{Role: h.Role}, h.Agent)
	if h.Role == adapters.FromTool {
		who = present.Tool(adapters.Message{Tool: h.Tool})
	}
	at := "                "
	if !h.At.IsZero() {
		at = h.At.Local().Format("2006-01-02 15:04")
	}
	head := at + "  " + pad(who, longestAgent()) + "  "
	width := 0
	if c.streams.Width > 0 {
		width = max(c.streams.Width-present.Width(head)-len(textIndent)-markWidth, 20)
	}
	p := present.Match(h.Part, width)
	c.printf("%s%s%s%s%s\n", textIndent, c.colored(head, "2"), p.Before, c.mark(p.Match), p.After)
	return nil
}

// markWidth is the width of the marks around a match without colours.
const markWidth = 2

// mark highlights a match: by its colour or, on a terminal without colours, by marks around it.
// Elsewhere it returns text as it is.
func (c *searchCommand) mark(text string) string {
	if !c.streams.Color && c.streams.Width > 0 {
		return "»" + text + "«"
	}
	return c.colored(text, "1;31")
}

// showProgress shows on a terminal how far the search is.
func (c *searchCommand) showProgress(r app.SearchReport) {
	if !c.asJSON && time.Since(c.began) >= present.ReadingAfter {
		c.progress.show(fmt.Sprintf("searching… %d of %d conversations, %s", r.Searched, r.Found, plural(r.Hits, "hit")))
	}
}
