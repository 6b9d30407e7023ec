package ui

import (
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/dustin/go-humanize"

	"rollcall/adapters"
	"rollcall/app"
	"rollcall/app/present"
)

// field is one known fact of a session, in words.
type field struct {
	name, value string
	mono        bool    // ids and paths
	bar         float64 // with ratio: how full, 0 to 1
	ratio       bool
	rest        string // what follows value, shown on demand
	link        *key   // another session that the value names
}

// section is a group of fields under a heading.
type section struct {
	title  string
	fields []field
}

// How much of a long text the window shows at first and at most, in bytes. What
// is beyond is counted, and stays in the agent's own file.
const (
	firstShown = 700
	maxShown   = 6000
)

// sections are all known facts of a session; unknown ones are left out.
func sections(s *app.Session, k key, v *view, now time.Time) []section {
	all := []section{
		{"Status", statusFields(s, now)},
		{"Prompts", keep(
			long("First prompt", s.FirstPrompt),
			long("Last prompt", lastPrompt(s)),
		)},
		{"Where", keep(
			field{name: "Folder", value: short(s.CWD), mono: true},
			field{name: "Branch", value: short(s.Branch), mono: true},
			field{name: "Machine", value: short(s.Remote)},
			field{name: "Process", value: process(s)},
		)},
		{"Launch", launchFields(s, now)},
		{"Model and cost", usageFields(s)},
		{"Times", keep(
			field{name: "Started", value: moment(s.StartedAt, now)},
			field{name: "Last activity", value: moment(s.LastActivityAt, now)},
		)},
		{"Identity", identityFields(s, k, v)},
	}
	out := all[:0]
	for _, sec := range all {
		if len(sec.fields) > 0 {
			out = append(out, sec)
		}
	}
	return out
}

// keep drops the fields without a value.
func keep(fields ...field) []field {
	out := fields[:0]
	for _, f := range fields {
		if f.value != "" {
			out = append(out, f)
		}
	}
	return out
}

func statusFields(s *app.Session, now time.Time) []field {
	outcome := ""
	if s.Outcome != "" {
		outcome = present.Outcome(s.Outcome)
	}
	fields := keep(
		field{name: "Status", value: statusLine(s)},
		field{name: "Last turn", value: outcome},
		field{name: "Evidence", value: short(s.Evidence)},
	)
	if s.Stale != nil {
		fields = append(fields, field{name: "Last seen", value: moment(s.Stale.Since, now)})
	}
	return keep(fields...)
}

// statusLine is the status in full words.
func statusLine(s *app.Session) string {
	switch s.Status {
	case adapters.Waiting:
		switch s.WaitingFor {
		case adapters.ForPermission:
			return "waiting for your permission"
		case adapters.ForQuestion:
			return "waiting for your answer"
		}
		return "waiting for you"
	case adapters.Working:
		return "working"
	case adapters.Idle:
		return "idle: alive, its turn is over"
	case adapters.Stopped:
		return "stopped: it has no process"
	case adapters.Unknown:
		return "unknown"
	}
	return short(string(s.Status))
}

// launchFields are what Rollcall knows of a session because it launched it.
func launchFields(s *app.Session, now time.Time) []field {
	if s.Launch == nil {
		return nil
	}
	prompt := s.Launch.Prompt
	if prompt == s.FirstPrompt || prompt == s.LastPrompt {
		prompt = ""
	}
	return append(keep(
		field{name: "Launched", value: moment(s.Launch.LaunchedAt, now)},
		field{name: "Group", value: short(s.Launch.Group)},
		long("Prompt", prompt),
		field{name: "Specification", value: short(s.Launch.Spec), mono: true},
		field{name: "Launch", value: short(s.Launch.ID), mono: true},
		field{name: "Log", value: short(s.Launch.Log), mono: true},
	), hookFields(s.Launch.Hooks)...)
}

// hookFields are the hooks of a launch, with what came of them.
func hookFields(hooks []app.Hook) []field {
	var fields []field
	for _, h := range hooks {
		text := h.Command + "\nhas not run yet"
		switch {
		case h.Result != "":
			text = strings.TrimSpace(h.Command + "\n" + h.Result + "\n" + h.Output)
		case !h.RanAt.IsZero():
			text = h.Command + "\nruns"
		}
		f := long("On "+h.When, text)
		f.mono = true
		fields = append(fields, f)
	}
	return fields
}

func lastPrompt(s *app.Session) string {
	if s.LastPrompt == s.FirstPrompt {
		return ""
	}
	return s.LastPrompt
}

func process(s *app.Session) string {
	if s.Process.IsZero() {
		return ""
	}
	p := fmt.Sprintf("pid %d", s.Process.PID)
	if s.Shared {
		p += ", shared with other sessions"
	}
	return p
}

func usageFields(s *app.Session) []field {
	fields := []field{{name: "Model", value: short(s.Model)}}
	if s.Context.Used > 0 || s.Context.Window > 0 {
		fields = append(fields, contextField(s.Context))
	}
	if t := s.Tokens; t != nil {
		fields = append(fields,
			field{name: "Input", value: tokens(t.Input)},
			field{name: "Output", value: tokens(t.Output)},
			field{name: "Cache read", value: tokens(t.CacheRead)},
			field{name: "Cache write", value: tokens(t.CacheWrite)},
			field{name: "Reasoning", value: tokens(t.Reasoning)},
		)
	}
	if s.CostUSD > 0 {
		fields = append(fields, field{name: "Cost", value: fmt.Sprintf("US$ %.2f, as the agent states it", s.CostUSD)})
	}
	return keep(fields...)
}

func tokens(n int64) string {
	return humanize.Comma(n) + plural(int(n), " token", " tokens")
}

func contextField(c adapters.Context) field {
	f := field{name: "Context", value: tokens(c.Used) + " (the agent doesn't state its window)"}
	if c.Window > 0 {
		f.ratio, f.bar = true, float64(c.Used)/float64(c.Window)
		f.value = fmt.Sprintf("%s of %s (%.0f %%)", humanize.Comma(c.Used), tokens(c.Window), 100*f.bar)
	}
	return f
}

func identityFields(s *app.Session, k key, v *view) []field {
	agent := present.AgentName(s.Agent)
	if s.Version != "" {
		agent += " " + short(s.Version)
	}
	fields := []field{
		{name: "Agent", value: agent},
		{name: "Session id", value: short(s.ID), mono: true},
	}
	if s.Parent != "" {
		f := field{name: "Spawned by", value: short(s.Parent), mono: true}
		if p, ok := v.parent[k]; ok {
			f.link, f.value, f.mono = &p, sessionName(v.byKey[p]), false
		}
		fields = append(fields, f)
	}
	for i, c := range v.children[k] {
		f := field{value: sessionName(v.byKey[c]), link: &c}
		if i == 0 {
			f.name = "Sub-agents"
		}
		if i == maxLinks {
			f.link, f.value = nil, fmt.Sprintf("and %d more", len(v.children[k])-maxLinks)
		}
		fields = append(fields, f)
		if i == maxLinks {
			break
		}
	}
	for i, path := range s.Files {
		name := ""
		if i == 0 {
			name = plural(len(s.Files), "File", "Files")
		}
		if i == maxLinks {
			fields = append(fields, field{value: fmt.Sprintf("and %d more", len(s.Files)-maxLinks)})
			break
		}
		fields = append(fields, field{name: name, value: short(path), mono: true})
	}
	return keep(fields...)
}

// maxLinks is how many sub-agents or files the detail pane names.
const maxLinks = 20

// sessionName names a session in a line of text: what it is about, else its id.
func sessionName(s *app.Session) string {
	t := s.Session
	t.Title, t.LastPrompt, t.FirstPrompt = head(t.Title, 200), head(t.LastPrompt, 200), head(t.FirstPrompt, 200)
	if topic := present.Topic(t); topic != "" {
		return present.Cut(topic, 60) + " (" + present.Status(t) + ")"
	}
	return short(s.ID) + " (" + present.Status(t) + ")"
}

// short cleans a text that is meant to be one line.
func short(s string) string {
	if len(s) > maxShown {
		return present.Line(head(s, maxShown)) + "…"
	}
	return present.Line(s)
}

// long makes a field of a text of several lines.
func long(name, s string) field {
	cut := head(s, maxShown)
	text := present.Text(cut)
	if beyond := len(s) - len(cut); beyond > 0 {
		n := utf8.RuneCountInString(s[len(cut):])
		text += fmt.Sprintf("…\n(%s more characters)", humanize.Comma(int64(n)))
	}
	f := field{name: name, value: head(text, firstShown)}
	// A link that shows three more words would be silly.
	if f.rest = text[len(f.value):]; len(f.rest) < firstShown/4 {
		f.value, f.rest = text, ""
	}
	return f
}

// moment is a time with its age: "21 Nov 2026, 14:02:11 (5 m ago)".
func moment(t, now time.Time) string {
	if t.IsZero() {
		return ""
	}
	age := present.Since(t, now)
	if age != "now" {
		age += " ago"
	}
	return t.Local().Format("2 Jan 2006, 15:04:05") + " (" + age + ")"
}
