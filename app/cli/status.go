package cli

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/dustin/go-humanize"
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

// fact is a name and a value that is known of something.
type fact struct{ name, value string }

// printSession prints a session for people: a name and a value per line, without those that are empty.
func printSession(o *output, s *app.Session, now time.Time) {
	for _, f := range slices.Concat(sessionStatus(o, s), sessionProcesses(s), sessionFacts(o, s, now), sessionLaunch(o, s.Launch)) {
		if f.value != "" {
			o.printf("%-14s %s\n", f.name, f.value)
		}
	}
}

// sessionStatus returns what a session is and what it does now.
func sessionStatus(o *output, s *app.Session) []fact {
	facts := []fact{
		{"session", present.Line(s.ID)},
		{"agent", strings.TrimSpace(present.AgentName(s.Agent) + " " + present.Line(s.Version))},
		{"status", paint(o, s, sign(s)+" "+present.Status(s.Session))},
		{"last turn", ifelse(s.Status == adapters.Idle, present.Outcome(&s.State), "")}, // the status of a stopped session says it already
		{"evidence", present.Evidence(&s.State)},
	}
	if s.Stale != nil {
		facts = append(facts, fact{"stale since", s.Stale.Since.Local().Format(time.TimeOnly) + ", " + present.Line(s.Stale.Reason)})
	}
	return facts
}

// sessionProcesses returns what is known of the processes of a session.
func sessionProcesses(s *app.Session) []fact {
	process := strings.TrimSuffix(fmt.Sprint(s.Process.PID)+ifelse(s.Shared, " (shared with other sessions)", "")+", "+s.Load.Text(), ", ")
	return []fact{
		{"process", ifelse(s.Process.IsZero(), "", process)},
		{"left behind", ifelse(s.LeftBehind > 0, plural(s.LeftBehind, "process")+" (rollcall orphans)", "")},
	}
}

// sessionFacts returns where a session is, what was said in it and what it used.
func sessionFacts(o *output, s *app.Session, now time.Time) []fact {
	facts := []fact{
		{"remote", present.Line(s.Remote)},
		{"container", present.Line(s.Container)},
		{"runs in", present.Line(s.Host)},
		{"archived", ifelse(s.Archived, "yes", "")},
		{"parent", present.Line(s.Parent)},
		{"account", ifelse(s.Account == "", "", present.Line(s.Account)+", "+o.path(s.Home))},
		{"folder", o.path(s.CWD)},
		{"branch", present.Line(s.Branch)},
		{"model", present.Line(s.Model)},
		{"name", present.Line(s.Name)},
		{"title", present.Line(s.Title)},
		{"marks", strings.Join(markWords(s), ", ")},
		{"first prompt", shortLine(s.FirstPrompt)},
		{"last prompt", ifelse(s.LastPrompt == s.FirstPrompt, "", shortLine(s.LastPrompt))},
		{"doing", shortLine(s.Doing)},
		{"tokens", tokens(s.Tokens)},
		{"context", contextUse(s.Context)},
		{"cost", ifelse(s.CostUSD > 0, fmt.Sprintf("$%.2f", s.CostUSD), "")},
		{"started", withAge(s.StartedAt, now)},
		{"last activity", withAge(s.LastActivityAt, now)},
	}
	for i, f := range s.Files {
		facts = append(facts, fact{ifelse(i == 0, "files", ""), o.path(f)})
	}
	return facts
}

// sessionLaunch returns what Rollcall recorded of the launch of a session, which may be nil.
func sessionLaunch(o *output, l *app.Launch) []fact {
	if l == nil {
		return nil
	}
	facts := []fact{
		{"launch", l.ID + ", " + clock(l.LaunchedAt)},
		{"group", present.Line(l.Group)},
		{"spec", o.path(l.Spec)},
		{"log", o.path(l.Log)},
		{"exit code", exitText(l.ExitCode, l.Signal, l.CodeUnknown)},
	}
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
		facts = append(facts, fact{"on " + h.When, shortLine(h.Command) + ": " + state})
		for text := range strings.SplitSeq(strings.TrimSpace(h.Output), "\n") {
			facts = append(facts, fact{"", present.Line(text)})
		}
	}
	return facts
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
