package cli

import (
	"fmt"
	"strings"

	"github.com/dustin/go-humanize"
	"github.com/spf13/cobra"

	"rollcall/adapters"
	"rollcall/app"
	"rollcall/app/present"
)

func (c *command) statusCommand() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "status ID",
		Short: "Tell everything about one session",
		Long: `Tell everything about the session with this id, or with the only id that begins
so. An id that fits several sessions is wrong usage (exit code 2) and lists them.`,
		Args: oneID,
		RunE: func(_ *cobra.Command, args []string) error { return c.status(args[0], asJSON) },
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON, schema 1, with one session")
	return cmd
}

func (c *command) status(id string, asJSON bool) error {
	s, snap, _, err := c.find(id, true)
	if err != nil {
		return err
	}
	if asJSON {
		return c.printJSON(newDocument(snap.At, []app.Session{s}, snap.Adapters))
	}
	c.describe(&s, snap)
	return nil
}

// describe prints a session for people: a name and a value per line.
func (c *command) describe(s *app.Session, snap *app.Snapshot) {
	line := func(name, value string) {
		if value != "" {
			fmt.Fprintf(&c.out, "%-14s %s\n", name, value)
		}
	}
	line("session", present.Line(s.ID))
	line("agent", strings.TrimSpace(present.AgentName(s.Agent)+" "+present.Line(s.Version)))
	line("status", c.paint(s, sign(s)+" "+present.Status(s.Session)))
	if s.Status == adapters.Idle { // of a stopped one it is the status
		line("last turn", present.Outcome(s.Outcome))
	}
	line("evidence", present.Evidence(s.Session))
	if s.Stale != nil {
		line("stale since", s.Stale.Since.Local().Format("15:04:05")+", "+present.Line(s.Stale.Reason))
	}
	if !s.Process.IsZero() {
		line("process", fmt.Sprint(s.Process.PID)+ifelse(s.Shared, " (shared with other sessions)", ""))
	}
	line("remote", present.Line(s.Remote))
	line("parent", present.Line(s.Parent))
	line("folder", c.home(present.Line(s.CWD)))
	line("branch", present.Line(s.Branch))
	line("model", present.Line(s.Model))
	line("title", present.Line(s.Title))
	line("first prompt", c.prompt(s.FirstPrompt))
	if s.LastPrompt != s.FirstPrompt {
		line("last prompt", c.prompt(s.LastPrompt))
	}
	line("tokens", tokens(s.Tokens))
	line("context", fill(s.Context))
	if s.CostUSD > 0 {
		line("cost", fmt.Sprintf("$%.2f", s.CostUSD))
	}
	for _, t := range []struct {
		name string
		at   string
		ago  string
	}{
		{"started", present.Line(local(s, true)), present.Since(s.StartedAt, snap.At)},
		{"last activity", present.Line(local(s, false)), present.Since(s.LastActivityAt, snap.At)},
	} {
		line(t.name, strings.TrimSpace(t.at+ifelse(t.ago == "", "", "  ("+ago(t.ago)+")")))
	}
	for i, f := range s.Files {
		line(ifelse(i == 0, "files", ""), c.home(present.Line(f)))
	}
	if s.Launch != nil {
		c.describeLaunch(s.Launch, line)
	}
}

// describeLaunch prints what Rollcall itself knows of a session.
func (c *command) describeLaunch(l *app.Launch, line func(name, value string)) {
	line("launch", l.ID+", "+l.LaunchedAt.Local().Format("2006-01-02 15:04:05"))
	line("group", present.Line(l.Group))
	line("spec", c.home(present.Line(l.Spec)))
	line("log", c.home(present.Line(l.Log)))
	for _, h := range l.Hooks {
		state := "has not run"
		switch {
		case h.Result != "":
			state = present.Line(h.Result)
		case !h.RanAt.IsZero():
			state = "runs"
		}
		line("on "+h.When, c.prompt(h.Command)+": "+state)
		for _, said := range strings.Split(strings.TrimSpace(h.Output), "\n") {
			line("", present.Line(said))
		}
	}
}

func local(s *app.Session, started bool) string {
	t := s.LastActivityAt
	if started {
		t = s.StartedAt
	}
	if t.IsZero() {
		return ""
	}
	return t.Local().Format("2006-01-02 15:04:05")
}

func ago(age string) string {
	if age == "now" {
		return age
	}
	return age + " ago"
}

func ifelse(b bool, yes, no string) string {
	if b {
		return yes
	}
	return no
}

// prompt is a prompt in one line, not longer than people read.
func (c *command) prompt(text string) string { return present.Cut(present.Line(text), 500) }

func tokens(t *adapters.Tokens) string {
	if t == nil {
		return ""
	}
	return fmt.Sprintf("input %s, output %s, cache read %s, cache write %s, reasoning %s",
		humanize.Comma(t.Input), humanize.Comma(t.Output), humanize.Comma(t.CacheRead),
		humanize.Comma(t.CacheWrite), humanize.Comma(t.Reasoning))
}

func fill(x adapters.Context) string {
	switch {
	case x.Used == 0 && x.Window == 0:
		return ""
	case x.Window == 0:
		return humanize.Comma(x.Used) + " tokens"
	}
	return fmt.Sprintf("%s of %s tokens (%d %%)", humanize.Comma(x.Used), humanize.Comma(x.Window), x.Used*100/x.Window)
}
