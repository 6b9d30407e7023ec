package ui

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"fyne.io/fyne/v2"
	"github.com/dustin/go-humanize"
	"github.com/dustin/go-humanize/english"

	"rollcall/adapters"
	"rollcall/app"
	"rollcall/app/present"
	"rollcall/app/ui/widgets"
)

// field is a fact of a session, in words.
type field struct {
	name, value string
	mono        bool    // ids and paths
	bar         float64 // if hasBar is set: the filled share of the bar, 0 to 1
	hasBar      bool
	rest        string // the rest of a long value, shown on demand
	link        *key   // the session that the value names
}

// section is a group of fields under a heading.
type section struct {
	title  string
	fields []field
}

// How much of a long text the window shows at first and at most, in bytes. The number of further characters is shown.
const (
	firstShown = 700
	maxShown   = 6000
)

// sections returns all known facts of a session.
func sections(s *app.Session, k key, v *view, now time.Time) []section {
	return slices.DeleteFunc([]section{
		{"Status", statusFields(s, now)},
		{"Prompts", withValue(
			long("First prompt", s.FirstPrompt),
			long("Last prompt", when(s.LastPrompt != s.FirstPrompt, s.LastPrompt)),
		)},
		{"Where", withValue(
			field{name: "Folder", value: short(s.CWD), mono: true},
			field{name: "Branch", value: short(s.Branch), mono: true},
			field{name: "Machine", value: short(machineOf(s))},
			field{name: "Container", value: short(s.Container)},
			field{name: "Account", value: short(s.Account)},
			field{name: "Home", value: when(s.Account != "", short(s.Home)), mono: true},
			field{name: "Runs in", value: short(s.Host)},
			field{name: "Archived", value: when(s.Archived, "yes")}, field{name: "Your name for it", value: s.Name},
			field{name: "Process", value: when(!s.Process.IsZero(), fmt.Sprintf("pid %d", s.Process.PID)+when(s.Shared, ", shared with other sessions"))},
		)},
		{"Uses", withValue(field{name: "Processes", value: s.Load.Text()})},
		{"Launch", launchFields(s, now)},
		{"Model and cost", usageFields(s)},
		{"Times", withValue(
			field{name: "Started", value: moment(s.StartedAt, now)},
			field{name: "Last activity", value: moment(s.LastActivityAt, now)},
		)},
		{"Identity", identityFields(s, k, v)},
	}, func(sec section) bool { return len(sec.fields) == 0 })
}

// machineOf returns the machine or gateway that runs a session, or both if it is a gateway of another machine; empty: this machine.
func machineOf(s *app.Session) string {
	if s.Machine != "" && s.Remote != s.Machine {
		return s.Machine + ", " + s.Remote
	}
	return s.Remote
}

// when returns a text if a condition holds, or else an empty text.
func when(holds bool, text string) string {
	if holds {
		return text
	}
	return ""
}

// withValue returns the fields that have a value.
func withValue(fields ...field) []field {
	return slices.DeleteFunc(fields, func(f field) bool { return f.value == "" })
}

func statusFields(s *app.Session, now time.Time) []field {
	fields := withValue(
		field{name: "Status", value: statusLine(s)},
		field{name: "Last turn", value: present.Outcome(&s.Session)},
		field{name: "Evidence", value: short(s.Evidence)},
	)
	if s.Stale != nil {
		fields = append(fields, field{name: "Last seen", value: moment(s.Stale.Since, now)})
	}
	return withValue(fields...)
}

// statusLine returns the status in full words.
func statusLine(s *app.Session) string {
	line := short(string(s.Status))
	switch {
	case s.Status == adapters.Waiting:
		whom := map[adapters.WaitingFor]string{adapters.ForPermission: "your permission", adapters.ForQuestion: "your answer"}[s.WaitingFor]
		line = "waiting for " + cmp.Or(whom, "you")
	case s.Status == adapters.Idle && s.IsProcess():
		line = "idle: open, no session yet"
	case s.Status == adapters.Idle && !s.Suspended: // the turn of a suspended session may not be over
		line = "idle: running, its turn is over"
	case s.Status == adapters.Stopped:
		line = "stopped: no process"
	}
	return line + when(s.Suspended && s.Live(), "; suspended: its process is paused until it is continued")
}

// launchFields returns what Rollcall knows of a session that it launched.
func launchFields(s *app.Session, now time.Time) []field {
	if s.Launch == nil {
		return nil
	}
	prompt := s.Launch.Prompt
	if strings.HasPrefix(s.FirstPrompt, prompt) || strings.HasPrefix(s.LastPrompt, prompt) {
		prompt = ""
	}
	return append(withValue(
		field{name: "Launched", value: moment(s.Launch.LaunchedAt, now)},
		field{name: "Group", value: short(s.Launch.Group)},
		long("Prompt", prompt),
		field{name: "Specification", value: short(s.Launch.Spec), mono: true},
		field{name: "Launch", value: short(s.Launch.ID), mono: true},
		field{name: "Log", value: short(s.Launch.Log), mono: true},
	), hookFields(s.Launch.Hooks)...)
}

// hookFields returns the hooks of a launch, with their results.
func hookFields(hooks []app.Hook) []field {
	var fields []field
	for _, h := range hooks {
		text := h.Command + "\nnot run yet"
		switch {
		case h.Result != "":
			text = strings.TrimSpace(h.Command + "\n" + h.Result + "\n" + h.Output)
		case h.Lost:
			text = h.Command + "\nstarted " + dayTime(h.RanAt) + ", result unknown: Rollcall ended before the result was stored"
		case !h.RanAt.IsZero():
			text = h.Command + "\nrunning"
		}
		f := long("On "+h.When, text)
		f.mono = true
		fields = append(fields, f)
	}
	return fields
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
		fields = append(fields, field{name: "Cost", value: fmt.Sprintf("US$ %.2f, as reported by the agent", s.CostUSD)})
	}
	return withValue(fields...)
}

func tokens(n int64) string {
	return humanize.Comma(n) + english.PluralWord(int(n), " token", " tokens")
}

func contextField(c adapters.Context) field {
	f := field{name: "Context", value: tokens(c.Used) + " (the size of the context window is unknown)"}
	if c.Window > 0 {
		f.hasBar, f.bar = true, float64(c.Used)/float64(c.Window)
		f.value = fmt.Sprintf("%s of %s (%.0f %%)", humanize.Comma(c.Used), tokens(c.Window), 100*f.bar)
	}
	return f
}

func identityFields(s *app.Session, k key, v *view) []field {
	fields := []field{
		{name: "Agent", value: strings.TrimSpace(present.AgentName(s.Agent) + " " + short(s.Version))},
		{name: "Session id", value: short(s.ID), mono: true},
	}
	if s.Parent != "" {
		f := field{name: "Spawned by", value: short(s.Parent), mono: true}
		if p, ok := v.parent[k]; ok {
			f.link = &p
			f.value = sessionName(v.byKey[p])
			f.mono = false
		}
		fields = append(fields, f)
	}
	var agents, files []field
	for _, c := range v.children[k][:min(len(v.children[k]), maxLinks)] {
		agents = append(agents, field{value: sessionName(v.byKey[c]), link: &c})
	}
	for _, path := range s.Files[:min(len(s.Files), maxLinks)] {
		files = append(files, field{value: short(path), mono: true})
	}
	fields = append(fields, list("Sub-agents", agents, len(v.children[k]))...)
	return withValue(append(fields, list(english.PluralWord(len(s.Files), "File", "Files"), files, len(s.Files))...)...)
}

// list returns the first fields, at most maxLinks of them. The first one gets the name. If total is larger, a last field has the number of those left out.
func list(name string, fields []field, total int) []field {
	if total == 0 {
		return nil
	}
	fields[0].name = name
	if more := total - maxLinks; more > 0 {
		fields = append(fields[:maxLinks], field{value: fmt.Sprintf("and %d more", more)})
	}
	return fields
}

// maxLinks is the largest number of sub-agents, and of files, that are listed.
const maxLinks = 20

// sessionName returns a session's topic, or its id if it has none, with its status.
func sessionName(s *app.Session) string {
	t := present.Brief(s.Session)
	if topic := present.Topic(t); topic != "" {
		return present.Cut(topic, 60) + " (" + present.Status(t) + ")"
	}
	return short(s.ID) + " (" + present.Status(t) + ")"
}

// short returns a text as one line that is safe to show, at most maxShown bytes of it.
func short(s string) string {
	if len(s) > maxShown {
		return present.Line(head(s, maxShown)) + "…"
	}
	return present.Line(s)
}

// long returns a field for a text of several lines.
func long(name, s string) field {
	cut := head(s, maxShown)
	text := present.Text(cut)
	if beyond := len(s) - len(cut); beyond > 0 {
		n := utf8.RuneCountInString(s[len(cut):])
		text += fmt.Sprintf("…\n(%s more characters)", humanize.Comma(int64(n)))
	}
	f := field{name: name}
	f.value, f.rest = fold(text)
	return f
}

// errorText returns the text of an error, safe to show and not too long; empty: there is none.
func errorText(err error) string {
	if err == nil {
		return ""
	}
	return present.Cut(short(err.Error()), 1000)
}

// moment returns a time with its age: "21 Nov 2026, 14:02:11 (5 m ago)".
func moment(t, now time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.Local().Format("2 Jan 2006, 15:04:05") + " (" + present.Ago(t, now) + ")"
}

// fieldView shows one field: its name, its value, and a bar below the value where the field has one.
type fieldView struct {
	field   field
	content fyne.CanvasObject
	value   *widgets.LongText // nil: the value is a link
	bar     *widgets.Bar      // nil: none
	link    *widgets.Link     // nil: the value is a text
	target  key
}

func newFieldView(f field, u *UI) *fieldView {
	v := &fieldView{field: f}
	var right fyne.CanvasObject
	if f.link != nil {
		v.link = u.host.NewLink(f.value, func() { u.sessions.reveal(v.target) })
		v.link.Wrapping = fyne.TextWrapWord
		v.target = *f.link
		right = v.link
	} else {
		text := widgets.NewSelectText("")
		if f.mono {
			text = widgets.NewCode("")
		}
		v.value = u.host.NewLongText(text, f.value, f.rest, nil)
		right = v.value.Content
	}
	if f.hasBar {
		v.bar = widgets.NewBar(f.bar)
		right = widgets.Rows(-2, right, widgets.Pad(0, 5, 6, 12, v.bar))
	}
	v.content = widgets.Fact(f.name, right)
	return v
}

// set shows the field as it is now. The field must have the same shape as the field that was shown before: see sameShape.
func (v *fieldView) set(f field) {
	v.field = f
	if v.link != nil {
		v.target = *f.link
		v.link.SetText(f.value)
	} else {
		v.value.Set(f.value, f.rest)
	}
	if v.bar != nil {
		v.bar.Set(f.bar)
	}
}

// fieldList shows the fields of sections. It keeps the views of fields that do not change, so that a selection in them stays.
type fieldList struct {
	ui      *UI
	content *fyne.Container
	shown   []section
	views   []*fieldView
}

func newFieldList(u *UI) *fieldList { return &fieldList{ui: u, content: widgets.Rows(0)} }

// show shows sections. It makes new views if fresh is set or the fields differ, and reports whether it did.
func (l *fieldList) show(secs []section, fresh bool) bool {
	was := l.shown
	l.shown = secs
	if !fresh && slices.EqualFunc(secs, was, sameShape) {
		i := 0
		for _, sec := range secs {
			for _, f := range sec.fields {
				l.views[i].set(f)
				i++
			}
		}
		return false
	}
	l.views = l.views[:0]
	l.content.RemoveAll()
	for _, sec := range secs {
		if sec.title != "" {
			l.content.Add(widgets.NewHeading(sec.title))
		}
		for _, f := range sec.fields {
			v := newFieldView(f, l.ui)
			l.views = append(l.views, v)
			l.content.Add(v.content)
		}
	}
	l.content.Refresh()
	return true
}

// sameShape reports whether the views of a can show b.
func sameShape(a, b section) bool {
	return a.title == b.title && slices.EqualFunc(a.fields, b.fields, func(f, g field) bool {
		return f.name == g.name && f.mono == g.mono && f.hasBar == g.hasBar && (f.link == nil) == (g.link == nil) && (f.rest == "") == (g.rest == "")
	})
}
