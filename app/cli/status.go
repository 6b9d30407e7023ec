package cli

import (
	"fmt"
	"strings"
	"time"

	"github.com/dustin/go-humanize"
	"github.com/dustin/go-humanize/english"
	"github.com/spf13/cobra"

	"rollcall/adapters"
	"rollcall/app"
	"rollcall/app/present"
)

func newStatus(e *env) *cobra.Command {
	var asJSON bool
	return command(&cobra.Command{
		Use:        "status SESSION",
		SuggestFor: []string{"show", "info"},
		Short:      "Show everything about one session",
		Long: `Show everything about the session with this id, or with the only id that begins
so; or about the only session of a project with this name, or with this text in its
title. A text that fits several sessions is wrong usage (exit code 2) and lists them.`,
		Args: oneName,
		RunE: func(_ *cobra.Command, args []string) error {
			s, snap, core, err := e.findNamed(args[0], true)
			if err != nil {
				return err
			}
			one := []app.Session{s}
			e.countLeftBehind(core, one)
			s = one[0]
			if asJSON {
				return e.json(newDocument(snap.At, one, snap.Adapters))
			}
			printSession(e.output, &s, snap.At)
			return nil
		},
	},
		jsonFlag(&asJSON),
	)
}

// printSession prints a session for people: a name and a value per line.
func printSession(o *output, s *app.Session, now time.Time) {
	line := func(name, value string) {
		if value != "" {
			o.printf("%-14s %s\n", name, value)
		}
	}
	line("session", present.Line(s.ID))
	line("agent", strings.TrimSpace(present.AgentName(s.Agent)+" "+present.Line(s.Version)))
	line("status", paint(o, s, sign(s)+" "+present.Status(s.Session)))
	if s.Status == adapters.Idle { // the status of a stopped session already says how its last turn ended
		line("last turn", present.Outcome(&s.Session))
	}
	line("evidence", present.Evidence(s.Session))
	if s.Stale != nil {
		line("stale since", s.Stale.Since.Local().Format(time.TimeOnly)+", "+present.Line(s.Stale.Reason))
	}
	printSessionProcesses(s, line)
	line("remote", present.Line(s.Remote))
	line("container", present.Line(s.Container))
	line("runs in", present.Line(s.Host))
	line("archived", ifelse(s.Archived, "yes", ""))
	line("parent", present.Line(s.Parent))
	if s.Account != "" {
		line("account", present.Line(s.Account)+", "+o.path(s.Home))
	}
	line("folder", o.path(s.CWD))
	line("branch", present.Line(s.Branch))
	line("model", present.Line(s.Model))
	line("name", present.Line(s.Name))
	line("title", present.Line(s.Title))
	line("marks", strings.Join(markWords(s), ", "))
	line("first prompt", shortLine(s.FirstPrompt))
	if s.LastPrompt != s.FirstPrompt {
		line("last prompt", shortLine(s.LastPrompt))
	}
	line("doing", shortLine(s.Doing))
	line("tokens", tokens(s.Tokens))
	line("context", contextUse(s.Context))
	if s.CostUSD > 0 {
		line("cost", fmt.Sprintf("$%.2f", s.CostUSD))
	}
	line("started", withAge(s.StartedAt, now))
	line("last activity", withAge(s.LastActivityAt, now))
	for i, f := range s.Files {
		line(ifelse(i == 0, "files", ""), o.path(f))
	}
	if s.Launch != nil {
		printSessionLaunch(o, s.Launch, line)
	}
}

// printSessionProcesses prints what is known of the processes of a session.
func printSessionProcesses(s *app.Session, line func(name, value string)) {
	if !s.Process.IsZero() {
		line("process", strings.TrimSuffix(fmt.Sprint(s.Process.PID)+ifelse(s.Shared, " (shared with other sessions)", "")+", "+s.Load.Text(), ", "))
	}
	line("left behind", ifelse(s.LeftBehind > 0, english.Plural(s.LeftBehind, "process", "")+" (rollcall orphans)", ""))
}

// printSessionLaunch prints what Rollcall recorded of the launch of a session.
func printSessionLaunch(o *output, l *app.Launch, line func(name, value string)) {
	line("launch", l.ID+", "+clock(l.LaunchedAt))
	line("group", present.Line(l.Group))
	line("spec", o.path(l.Spec))
	line("log", o.path(l.Log))
	line("exit code", exitText(l.ExitCode, l.Signal, l.CodeUnknown))
	for _, h := range l.Hooks {
		state := "has not run"
		switch {
		case h.Result != "":
			state = present.Line(h.Result)
		case h.Lost:
			state = "started " + h.RanAt.Local().Format(time.TimeOnly) + ", result unknown: Rollcall ended meanwhile (rollcall hook retry " + l.ID + " runs it again)"
		case !h.RanAt.IsZero():
			state = "runs"
		}
		line("on "+h.When, shortLine(h.Command)+": "+state)
		for text := range strings.SplitSeq(strings.TrimSpace(h.Output), "\n") {
			line("", present.Line(text))
		}
	}
}

// exitText returns how a launched process ended; empty while it runs.
func exitText(code *int, signal string, unknown bool) string {
	switch {
	case signal != "" && code != nil:
		return fmt.Sprintf("%d (%s)", *code, present.Line(signal))
	case code != nil:
		return fmt.Sprint(*code)
	case unknown:
		return "not known: Rollcall was not its parent process when it ended"
	}
	return ""
}

// clock returns a time as people read it; empty for a zero t.
func clock(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.Local().Format(time.DateTime)
}

// withAge returns a time and how long ago it was.
func withAge(t, now time.Time) string {
	if age := present.Ago(t, now); age != "" {
		return strings.TrimSpace(clock(t) + "  (" + age + ")")
	}
	return clock(t)
}

func ifelse(b bool, yes, no string) string {
	if b {
		return yes
	}
	return no
}

// shortLine returns a prompt or command in one line of at most 500 cells.
func shortLine(text string) string { return present.Cut(present.Line(text), 500) }

func tokens(t *adapters.Tokens) string {
	if t == nil {
		return ""
	}
	return fmt.Sprintf("input %s, output %s, cache read %s, cache write %s, reasoning %s",
		humanize.Comma(t.Input), humanize.Comma(t.Output), humanize.Comma(t.CacheRead),
		humanize.Comma(t.CacheWrite), humanize.Comma(t.Reasoning))
}

// contextUse returns how much of the context window is used.
func contextUse(x adapters.Context) string {
	switch {
	case x.Used == 0 && x.Window == 0:
		return ""
	case x.Window == 0:
		return humanize.Comma(x.Used) + " tokens"
	}
	return fmt.Sprintf("%s of %s tokens (%d %%)", humanize.Comma(x.Used), humanize.Comma(x.Window), x.Used*100/x.Window)
}
