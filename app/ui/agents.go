package ui

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/theme"
	"fyne.io/fyne/v2/widget"
	"github.com/dustin/go-humanize"
	"github.com/dustin/go-humanize/english"

	"rollcall/adapters"
	"rollcall/app"
	"rollcall/app/present"
	"rollcall/app/ui/widgets"
)

// agentsPage shows whether each agent could be read. It is used on Fyne's goroutine only.
type agentsPage struct {
	ui      *UI
	content *fyne.Container
	stage   *widgets.Stage
	cards   []*agentCard
	notes   map[string]string // notes by place; a place that was not checked has none: see placeNote
	looked  []string
}

func newAgentsPage(u *UI) *agentsPage {
	p := &agentsPage{ui: u, notes: make(map[string]string)}
	p.stage = widgets.NewStage()
	p.stage.Say(widgets.Message{Title: "Looking for agents…", Text: "Rollcall reads the files and processes of each agent."})
	p.content = p.stage.Content
	return p
}

func (p *agentsPage) apply(s *app.Snapshot) {
	all := answerers(s)
	if p.ui.page != pageAgents || len(all) == 0 {
		return
	}
	if !slices.EqualFunc(p.cards, all, func(c *agentCard, h app.Health) bool { return c.name == h.Name }) {
		p.build(all)
	}
	for i, h := range all {
		facts := p.facts(h, p.ui.now())
		if slices.Contains(s.LeftOut.Agents, h.Name) {
			facts = append([]field{{name: "Shown", value: "no: left out by the settings"}}, facts...)
		}
		p.cards[i].show(h, facts)
	}
	p.look(all)
}

// answerers returns the health of each agent, also of those that the settings leave out, and of each other machine.
func answerers(s *app.Snapshot) []app.Health {
	all := slices.Concat(s.Adapters, s.LeftOut.Adapters)
	rows := map[string]int{}
	if len(s.Machines) > 0 {
		for x := range s.All() {
			rows[x.Machine]++
		}
	}
	for _, m := range s.Machines {
		h := machineHealth(m)
		h.Name, h.Sessions = "Machine "+h.Name, rows[m.Name]
		all = append(all, h)
	}
	return all
}

// machineHealth returns the health of a machine in the form of an agent's.
func machineHealth(m app.MachineHealth) app.Health {
	return app.Health{Name: adapters.Name(m.Name), State: m.State, Problems: m.Problems, Answered: m.Answered, Elapsed: m.Elapsed, Asking: m.State == app.Pending}
}

// failures returns the agents and the machines that could not be read completely.
func failures(s *app.Snapshot) []app.Health {
	all := slices.Clone(s.Adapters)
	for _, m := range s.Machines {
		all = append(all, machineHealth(m))
	}
	return slices.DeleteFunc(all, func(h app.Health) bool { return h.State != app.Failed })
}

func (p *agentsPage) build(all []app.Health) {
	list := widgets.Rows(10, widgets.Headline("Agents"))
	p.cards = nil
	for _, h := range all {
		c := newAgentCard(p.ui, h.Name)
		p.cards = append(p.cards, c)
		list.Add(c.Content)
	}
	p.stage.Show(widgets.Page(list))
}

// look finds the places that are missing or do not respond. It does so on another goroutine, because a place can be on
// a file system that does not respond.
func (p *agentsPage) look(all []app.Health) {
	var places []string
	for _, h := range all {
		places = append(places, h.LookedIn...)
	}
	if slices.Equal(places, p.looked) {
		return
	}
	p.looked = places
	widgets.InBackground(p.ui.ctx, p.ui.host, func(context.Context) (map[string]string, error) {
		notes := make(map[string]string, len(places))
		for _, place := range places {
			notes[place] = p.ui.placeNote(place)
		}
		return notes, nil
	}, func(notes map[string]string, _ error) {
		p.notes = notes
		p.apply(p.ui.sessions.view.snapshot)
	})
}

// stateText returns an agent's state in words, with its icon and colour.
func stateText(h app.Health) (icon, text string, color fyne.ThemeColorName) {
	switch {
	case h.State == app.OK:
		return "done", "OK", widgets.ColorGood
	case h.State == app.Absent:
		return "absent", "not installed", widgets.ColorMuted
	case h.State == app.Failed:
		return "failed", "failed", widgets.ColorBad
	case h.Asking:
		return "stale", "reading…", widgets.ColorMuted
	}
	return "stale", "not read yet", widgets.ColorMuted
}

// maxProblems is the largest number of problems that are listed.
const maxProblems = 20

// linesOf returns the first lines, at most most of them, each cleaned and cut to width cells. It adds the number of lines that were left out.
func linesOf(lines []string, most, width int) string {
	var out []string
	for _, l := range lines[:min(len(lines), most)] {
		out = append(out, present.Cut(short(l), width))
	}
	if more := len(lines) - most; more > 0 {
		out = append(out, fmt.Sprintf("and %d more", more))
	}
	return strings.Join(out, "\n")
}

func (p *agentsPage) facts(h app.Health, now time.Time) []field {
	isRead := h.State != app.Absent && h.State != app.Pending
	facts := withValue(
		field{name: "Sessions", value: when(isRead, humanize.Comma(int64(h.Sessions)))},
		field{name: "Versions", value: when(isRead, present.Counted(h.Versions, "%s (%s)", 24))},
		field{name: "Format", value: h.Format.String()},
		field{name: "Last read", value: answered(h, now)},
		field{name: "Last attempt", value: when(h.State == app.Failed && h.Elapsed > 0, "took "+elapsed(h.Elapsed))},
		field{name: "Skipped", value: present.Counted(h.Skipped, "%[2]s × %[1]s", 100)})
	var places []field
	for _, place := range h.LookedIn {
		f := field{value: short(place), mono: true}
		if note := p.notes[place]; note != "" {
			f.value += "  (" + note + ")"
		}
		places = append(places, f)
	}
	return append(facts, list("Looked in", places, len(places))...)
}

// answered returns when an agent was last read and, unless a later attempt failed, how long that took.
func answered(h app.Health, now time.Time) string {
	switch age := present.Ago(h.Answered, now); {
	case age != "" && h.State != app.Failed:
		return age + ", took " + elapsed(h.Elapsed)
	case age == "" && h.State == app.Failed:
		return "never"
	default:
		return age
	}
}

// elapsed returns a duration as people write it: "3 ms", "1.2 s".
func elapsed(d time.Duration) string { return humanize.SIWithDigits(d.Seconds(), 1, "s") }

// agentCard shows one agent's health. The text of the card is why the agent could not be read.
type agentCard struct {
	*widgets.Card
	name  adapters.Name
	state *widgets.Line
	facts *fieldList
}

func newAgentCard(u *UI, name adapters.Name) *agentCard {
	c := &agentCard{name: name, facts: newFieldList(u), state: widgets.NewLine("", widgets.ColorMuted, theme.SizeNameText, fyne.TextStyle{}).Whole()}
	c.Card = widgets.NewCard(widgets.NewIcon("stale", widgets.ColorMuted), present.AgentName(name), "")
	c.Body.Objects[0] = widgets.Border(nil, nil, widgets.Pad(2, 0, 0, 6, c.state), c.Body.Objects[0]) // beside the title, so that what is below has the whole width
	c.Text.Importance = widget.DangerImportance
	c.Body.Add(widgets.Pad(3, 0, -4, 0, c.facts.content))
	return c
}

func (c *agentCard) show(h app.Health, facts []field) {
	icon, text, color := stateText(h)
	problems := linesOf(h.Problems, maxProblems, maxShown)
	changed := c.Text.Text != problems || c.Text.Visible() && problems == ""
	c.Set(widgets.NewIcon(icon, color), problems)
	c.state.Set(text, color)
	c.Text.Hidden = problems == ""
	if c.facts.show([]section{{fields: facts}}, false) || changed {
		c.Content.Refresh()
	}
}

// namesOf returns the names of agents and machines.
func namesOf(list []app.Health) (names []string) {
	for _, h := range list {
		names = append(names, present.AgentName(h.Name))
	}
	return names
}

// installed returns the names of the installed agents.
func installed(s *app.Snapshot) []string {
	return namesOf(slices.DeleteFunc(slices.Clone(s.Adapters), func(h app.Health) bool { return h.State == app.Absent }))
}

// join returns names as people list them: "a, b and c".
func join(names []string) string { return english.WordSeries(names, "and") }

// maxFailures is the largest number of agents and machines whose problem is shown.
const maxFailures = 6

// problemText returns why agents and machines could not be read; empty: all could.
func problemText(s *app.Snapshot) string {
	var lines []string
	for _, h := range failures(s) {
		why := "could not be read completely"
		if len(h.Problems) > 0 {
			why = present.Cut(short(h.Problems[0]), 180)
		}
		if more := len(h.Problems) - 1; more > 0 {
			why += fmt.Sprintf(" (and %d more)", more)
		}
		lines = append(lines, present.AgentName(h.Name)+": "+why)
	}
	return withTroubles(linesOf(lines, maxFailures, 300), s)
}

// problemSummary returns a sentence with what could not be read, for a banner whose button shows why; empty: all could.
func problemSummary(s *app.Snapshot) string {
	names := join(namesOf(failures(s)))
	return withTroubles(when(names != "", present.Cut(names, 100)+" could not be read completely."), s)
}

// withTroubles adds the problems of Rollcall's own files to a text.
func withTroubles(text string, s *app.Snapshot) string {
	for _, t := range s.Troubles {
		text += "\nRollcall: " + present.Cut(short(t), 180)
	}
	return strings.TrimSpace(text)
}
