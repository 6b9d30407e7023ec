package cli

import (
	"errors"
	"strings"
	"time"

	"rollcall/adapters"
	"rollcall/app"
	"rollcall/app/present"
)

// limitsJSON is the JSON document of usage --limits.
type limitsJSON struct {
	Schema    int             `json:"schema"`
	At        string          `json:"at"`
	Limits    []limitJSON     `json:"limits"`
	NotStored []adapters.Name `json:"not_stored,omitempty"` // agents
	NotAsked  []string        `json:"not_asked,omitempty"`  // machines
	Errors    []string        `json:"errors,omitempty"`
}

type limitJSON struct {
	Agent         adapters.Name `json:"agent"`
	Home          string        `json:"home"`
	Account       string        `json:"account"`
	Name          string        `json:"name,omitempty"`
	WindowSeconds int64         `json:"window_seconds,omitempty"`
	UsedPercent   *float64      `json:"used_percent,omitempty"`
	Balance       string        `json:"balance,omitempty"`
	ResetsAt      string        `json:"resets_at,omitempty"`
	RecordedAt    string        `json:"recorded_at"`
}

// runLimits prints the limits of accounts.
func (c *usageCommand) runLimits() error {
	cfg, err := c.config(0, false, agentNamed(c.agent))
	if err != nil {
		return err
	}
	answers := app.LimitsOf(c.ctx, cfg.Adapters, cfg.Limit)
	if err := c.ctx.Err(); err != nil {
		return err
	}
	now, set := time.Now(), c.settings()
	doc := limitsJSON{Schema: schema, At: timestamp(now), Limits: []limitJSON{}, NotAsked: c.notAsked("usage", c.asJSON)}
	lines := [][]string{{"AGENT", "ACCOUNT", "WINDOW", "USED", "RESETS", "RECORDED"}}
	for _, a := range answers {
		if !a.Stored {
			doc.NotStored = append(doc.NotStored, a.Agent)
		}
		if a.Err != nil && !errors.Is(a.Err, adapters.ErrAbsent) {
			doc.Errors = append(doc.Errors, present.AgentName(a.Agent)+": "+present.Line(a.Err.Error()))
		}
		for i := range a.Limits {
			l := &a.Limits[i]
			account := set.Account(a.Agent, l.Home)
			doc.Limits = append(doc.Limits, limitAsJSON(a.Agent, account, l, now))
			_, reset, _ := strings.Cut(present.LimitReset(l, now), " ")
			lines = append(lines, []string{present.AgentName(a.Agent), present.Line(account), present.LimitWindow(l), present.LimitUse(l, now), reset, age(l.At, now)})
		}
	}
	if c.asJSON {
		err = c.json(doc)
	} else {
		c.printLimits(lines, doc.NotStored)
	}
	for _, text := range doc.Errors {
		c.warn(text)
	}
	if err == nil && len(doc.Errors) > 0 && c.strict {
		return c.incomplete(nil)
	}
	return err
}

func limitAsJSON(agent adapters.Name, account string, l *adapters.Limit, now time.Time) limitJSON {
	j := limitJSON{Agent: agent, Home: l.Home, Account: account, Name: l.Name, WindowSeconds: int64(l.Window / time.Second), Balance: l.Balance,
		ResetsAt: timestamp(l.ResetsAt), RecordedAt: timestamp(l.At)}
	if l.Balance == "" && l.Holds(now) {
		j.UsedPercent = &l.Used
	}
	return j
}

// age returns how old a record is.
func age(at, now time.Time) string {
	if text := present.Since(at, now); text != "now" && text != "" {
		return text + " ago"
	}
	return "now"
}

func (c *usageCommand) printLimits(lines [][]string, notStored []adapters.Name) {
	if len(lines) > 1 {
		for n, text := range align(lines, 0, false) {
			c.printf("%s\n", ifelse(n == 0, c.colored(text, "1"), text))
		}
	} else {
		c.warn("no agent has recorded a limit in the last 31 days")
	}
	var names []string
	for _, name := range notStored {
		names = append(names, present.AgentName(name))
	}
	if len(names) > 0 {
		c.warn(strings.Join(names, ", ") + ": limits are not stored by these agents")
	}
}
