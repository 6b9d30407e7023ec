package describe

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/dustin/go-humanize"
	"github.com/dustin/go-humanize/english"

	"rollcall/adapters"
	"rollcall/app"
	"rollcall/app/listing"
	"rollcall/app/present"
)

// Field is a fact of a session, in words.
type Field struct {
	Name, Value string
	Mono        bool    // ids and paths
	Bar         float64 // if hasBar is set: the filled share of the bar, 0 to 1
	HasBar      bool
	Rest        string       // the rest of a long value, shown on demand
	Link        *listing.Key // the session that the value names
}

// Section is a group of fields under a heading.
type Section struct {
	Title  string
	Fields []Field
}

// Facts returns all known facts of a session.
func Facts(s *app.Session, k listing.Key, v *listing.View, now time.Time) []Section {
	return slices.DeleteFunc([]Section{
		{"Status", statusFields(s, now)},
		{"Prompts", WithValue(
			Long("First prompt", s.FirstPrompt),
			Long("Last prompt", present.When(s.LastPrompt != s.FirstPrompt, s.LastPrompt)),
		)},
		{"Where", WithValue(
			Field{Name: "Folder", Value: present.Short(s.CWD), Mono: true},
			Field{Name: "Branch", Value: present.Short(s.Branch), Mono: true},
			Field{Name: "Machine", Value: present.Short(Machine(s))},
			Field{Name: "Container", Value: present.Short(s.Container)},
			Field{Name: "Account", Value: present.Short(s.Account)},
			Field{Name: "Home", Value: present.When(s.Account != "", present.Short(s.Home)), Mono: true},
			Field{Name: "Runs in", Value: present.Short(s.Host)},
			Field{Name: "Archived", Value: present.When(s.Archived, "yes")}, Field{Name: "Your name for it", Value: s.Name},
			Field{Name: "Process", Value: present.When(!s.Process.IsZero(), fmt.Sprintf("pid %d", s.Process.PID)+present.When(s.Shared, ", shared with other sessions"))},
		)},
		{"Uses", WithValue(Field{Name: "Processes", Value: s.Load.Text()})},
		{"Launch", launchFields(s, now)},
		{"Model and cost", usageFields(s)},
		{"Times", WithValue(
			Field{Name: "Started", Value: present.Moment(s.StartedAt, now)},
			Field{Name: "Last activity", Value: present.Moment(s.LastActivityAt, now)},
		)},
		{"Identity", identityFields(s, k, v)},
	}, func(sec Section) bool { return len(sec.Fields) == 0 })
}

// WithValue returns the fields that have a value.
func WithValue(fields ...Field) []Field {
	return slices.DeleteFunc(fields, func(f Field) bool { return f.Value == "" })
}

func statusFields(s *app.Session, now time.Time) []Field {
	fields := WithValue(
		Field{Name: "Status", Value: statusLine(s)},
		Field{Name: "Last turn", Value: present.Outcome(&s.State)},
		Field{Name: "Why it failed", Value: present.FailedWhy(&s.State)},
		Field{Name: "Left behind", Value: present.When(s.LeftBehind > 0, english.Plural(s.LeftBehind, "process", "processes"))},
		Field{Name: "Evidence", Value: present.Short(s.Evidence)},
	)
	if s.Stale != nil {
		fields = append(fields, Field{Name: "Last seen", Value: present.Moment(s.Stale.Since, now)})
	}
	return WithValue(fields...)
}

// statusLine returns the status in full words.
func statusLine(s *app.Session) string {
	line := present.Short(string(s.Status))
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
	return line + present.When(s.Suspended && s.Live(), "; suspended: its process is paused until it is continued")
}

// launchFields returns what Rollcall knows of a session that it launched.
func launchFields(s *app.Session, now time.Time) []Field {
	if s.Launch == nil {
		return nil
	}
	prompt := s.Launch.Prompt
	if strings.HasPrefix(s.FirstPrompt, prompt) || strings.HasPrefix(s.LastPrompt, prompt) {
		prompt = ""
	}
	return append(WithValue(
		Field{Name: "Launched", Value: present.Moment(s.Launch.LaunchedAt, now)},
		Field{Name: "Group", Value: present.Short(s.Launch.Group)},
		Long("Prompt", prompt),
		Field{Name: "Specification", Value: present.Short(s.Launch.Spec), Mono: true},
		Field{Name: "Launch", Value: present.Short(s.Launch.ID), Mono: true},
		Field{Name: "Log", Value: present.Short(s.Launch.Log), Mono: true},
	), HookFields(s.Launch.Hooks)...)
}

// HookFields returns the hooks of a launch, with their results.
func HookFields(hooks []app.Hook) []Field {
	var fields []Field
	for _, h := range hooks {
		text := h.Command + "\nnot run yet"
		switch {
		case h.Result != "":
			text = strings.TrimSpace(h.Command + "\n" + h.Result + "\n" + h.Output)
		case h.Lost:
			text = h.Command + "\nstarted " + present.DayTime(h.RanAt) + ", result unknown: Rollcall ended before the result was stored"
		case !h.RanAt.IsZero():
			text = h.Command + "\nrunning"
		}
		f := Long("On "+h.When, text)
		f.Mono = true
		fields = append(fields, f)
	}
	return fields
}

func usageFields(s *app.Session) []Field {
	fields := []Field{{Name: "Model", Value: present.Short(s.Model)}}
	if s.Context.Used > 0 || s.Context.Window > 0 {
		fields = append(fields, contextField(s.Context))
	}
	if t := s.Tokens; t != nil {
		fields = append(fields,
			Field{Name: "Input", Value: present.Tokens(t.Input)},
			Field{Name: "Output", Value: present.Tokens(t.Output)},
			Field{Name: "Cache read", Value: present.Tokens(t.CacheRead)},
			Field{Name: "Cache write", Value: present.Tokens(t.CacheWrite)},
			Field{Name: "Reasoning", Value: present.Tokens(t.Reasoning)},
		)
	}
	if s.CostUSD > 0 {
		fields = append(fields, Field{Name: "Cost", Value: fmt.Sprintf("US$ %.2f, as reported by the agent", s.CostUSD)})
	}
	return WithValue(fields...)
}

func contextField(c adapters.Context) Field {
	f := Field{Name: "Context", Value: present.Tokens(c.Used) + " (the size of the context window is unknown)"}
	if c.Window > 0 {
		f.HasBar, f.Bar = true, float64(c.Used)/float64(c.Window)
		f.Value = fmt.Sprintf("%s of %s (%.0f %%)", humanize.Comma(c.Used), present.Tokens(c.Window), 100*f.Bar)
	}
	return f
}

func identityFields(s *app.Session, k listing.Key, v *listing.View) []Field {
	fields := []Field{
		{Name: "Agent", Value: strings.TrimSpace(present.AgentName(s.Agent) + " " + present.Short(s.Version))},
		{Name: "Session id", Value: present.Short(s.ID), Mono: true},
	}
	if s.Parent != "" {
		f := Field{Name: "Spawned by", Value: present.Short(s.Parent), Mono: true}
		if p, ok := v.Parent[k]; ok {
			f.Link = &p
			f.Value = sessionName(v.ByKey[p])
			f.Mono = false
		}
		fields = append(fields, f)
	}
	var agents, files []Field
	for _, c := range v.Children[k][:min(len(v.Children[k]), maxLinks)] {
		agents = append(agents, Field{Value: sessionName(v.ByKey[c]), Link: &c})
	}
	for _, path := range s.Files[:min(len(s.Files), maxLinks)] {
		files = append(files, Field{Value: present.Short(path), Mono: true})
	}
	fields = append(fields, list("Sub-agents", agents, len(v.Children[k]))...)
	return WithValue(append(fields, list(english.PluralWord(len(s.Files), "File", "Files"), files, len(s.Files))...)...)
}

// list returns the first fields, at most maxLinks of them. The first one gets the name. If total is larger, a last field has the number of those left out.
func list(name string, fields []Field, total int) []Field {
	if total == 0 {
		return nil
	}
	fields[0].Name = name
	if more := total - maxLinks; more > 0 {
		fields = append(fields[:maxLinks], Field{Value: fmt.Sprintf("and %d more", more)})
	}
	return fields
}

// maxLinks is the largest number of sub-agents, and of files, that are listed.
const maxLinks = 20

// sessionName returns a session's topic, or its id if it has none, with its status.
func sessionName(s *app.Session) string {
	t := present.Brief(s.Session)
	if topic := present.Topic(t.Topic); topic != "" {
		return present.Cut(topic, 60) + " (" + present.Status(t) + ")"
	}
	return present.Short(s.ID) + " (" + present.Status(t) + ")"
}

// Long returns a field for a text of several lines.
func Long(name, s string) Field {
	cut := present.Begin(s, present.MaxShown)
	text := present.Text(cut)
	if beyond := len(s) - len(cut); beyond > 0 {
		n := utf8.RuneCountInString(s[len(cut):])
		text += fmt.Sprintf("…\n(%s more characters)", humanize.Comma(int64(n)))
	}
	f := Field{Name: name}
	f.Value, f.Rest = present.Fold(text)
	return f
}
