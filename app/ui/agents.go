package ui

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/canvas"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/layout"
	"fyne.io/fyne/v2/theme"
	"fyne.io/fyne/v2/widget"
	"github.com/dustin/go-humanize"

	"rollcall/app"
	"rollcall/app/present"
)

// agentsPage shows how each agent answered. It belongs to the UI goroutine.
type agentsPage struct {
	ui      *UI
	content *fyne.Container
	cards   []*agentCard
	exists  map[string]bool // which of the places are there, as far as looked
	looked  []string
}

func newAgentsPage(u *UI) *agentsPage {
	p := &agentsPage{ui: u, exists: make(map[string]bool)}
	p.content = container.NewStack(newMessage(nil, "Calling the roll…", "No agent has answered yet."))
	return p
}

func (p *agentsPage) apply(s *app.Snapshot) {
	if p.ui.page != pageAgents || len(s.Adapters) == 0 {
		return
	}
	if len(p.cards) != len(s.Adapters) {
		p.build(len(s.Adapters))
	}
	for i, h := range s.Adapters {
		p.cards[i].show(p.words(h, p.ui.now()))
	}
	p.look(s)
}

func (p *agentsPage) build(n int) {
	list := container.New(layout.NewCustomPaddedVBoxLayout(10))
	p.cards = nil
	for range n {
		c := newAgentCard()
		p.cards = append(p.cards, c)
		list.Add(c.content)
	}
	p.content.Objects = []fyne.CanvasObject{container.NewVScroll(
		container.New(layout.NewCustomPaddedLayout(12, 16, 12, 12), container.New(&column{width: 860}, list)))}
	p.content.Refresh()
}

// look finds out which places exist. A place may lie on a drive that hangs, so
// the UI goroutine does not wait for the answer.
func (p *agentsPage) look(s *app.Snapshot) {
	var places []string
	for _, h := range s.Adapters {
		places = append(places, h.LookedIn...)
	}
	if slices.Equal(places, p.looked) {
		return
	}
	p.looked = places
	go func() {
		found := make(map[string]bool, len(places))
		for _, place := range places {
			found[place] = p.ui.system.exists(place)
		}
		p.ui.post(func() {
			p.exists = found
			p.apply(p.ui.sessions.view.snapshot)
		})
	}()
}

// agentWords is one agent's health in words.
type agentWords struct {
	icon     *icon
	name     string
	state    string
	color    fyne.ThemeColorName
	problems string
	facts    string // one fact a line: "name\tvalue"
}

func (p *agentsPage) words(h app.Health, now time.Time) agentWords {
	w := agentWords{name: present.AgentName(h.Name)}
	switch h.State {
	case app.OK:
		w.icon, w.state, w.color = newIcon("done", colorGood), "answers", colorGood
	case app.Absent:
		w.icon, w.state, w.color = newIcon("absent", colorMuted), "not installed", colorMuted
	case app.Failed:
		w.icon, w.state, w.color = newIcon("failed", colorBad), "failed", colorBad
	default:
		w.icon, w.state, w.color = newIcon("stale", colorMuted), "not asked yet", colorMuted
		if h.Asking {
			w.state = "asking…"
		}
	}
	w.problems = problemLines(h.Problems)
	w.facts = strings.Join(p.facts(h, now), "\n")
	return w
}

// maxProblems is how many problems of one agent are spelled out.
const maxProblems = 20

func problemLines(problems []string) string {
	var lines []string
	for i, t := range problems {
		if i == maxProblems {
			lines = append(lines, fmt.Sprintf("and %d more", len(problems)-maxProblems))
			break
		}
		lines = append(lines, short(t))
	}
	return strings.Join(lines, "\n")
}

func (p *agentsPage) facts(h app.Health, now time.Time) []string {
	var facts []string
	add := func(name, value string) {
		if value != "" {
			facts = append(facts, name+"\t"+value)
		}
	}
	if h.State != app.Absent && h.State != app.Pending {
		add("Sessions", humanize.Comma(int64(h.Sessions)))
		add("Versions", counted(h.Versions, true))
	}
	add("Format", h.Format.String())
	add("Answered", answered(h, now))
	if h.State == app.Failed && h.Elapsed > 0 {
		add("Last try", "took "+elapsed(h.Elapsed))
	}
	add("Passed over", counted(h.Skipped, false))
	for i, place := range h.LookedIn {
		name := ""
		if i == 0 {
			name = "Looked in"
		}
		value := short(place)
		if there, known := p.exists[place]; known && !there {
			value += "  (doesn't exist)"
		}
		facts = append(facts, name+"\t"+value)
	}
	return facts
}

// answered says when an agent last answered and how long that took. The time of
// a failed try says nothing about an earlier answer.
func answered(h app.Health, now time.Time) string {
	if h.Answered.IsZero() {
		if h.State == app.Failed {
			return "not once yet"
		}
		return ""
	}
	age := present.Since(h.Answered, now)
	if age != "now" {
		age += " ago"
	}
	if h.State == app.Failed {
		return age
	}
	return age + ", within " + elapsed(h.Elapsed)
}

func elapsed(d time.Duration) string {
	switch {
	case d < time.Millisecond:
		return "less than 1 ms"
	case d < time.Second:
		return fmt.Sprintf("%d ms", d.Milliseconds())
	}
	return fmt.Sprintf("%.1f s", d.Seconds())
}

// counted lists what was counted, the most frequent first: "2.1.329 (3)", or
// with the count in front for things that read as a sentence.
func counted(counts map[string]int, behind bool) string {
	names := make([]string, 0, len(counts))
	for n := range counts {
		names = append(names, n)
	}
	slices.SortFunc(names, func(a, b string) int {
		if c := counts[b] - counts[a]; c != 0 {
			return c
		}
		return strings.Compare(b, a)
	})
	rest := 0
	if len(names) > maxCounted {
		rest, names = len(names)-maxCounted, names[:maxCounted]
	}
	for i, n := range names {
		width := 100
		if behind {
			width = 24 // versions
		}
		text := present.Cut(short(n), width)
		if text == "" {
			text = "unknown"
		}
		if behind {
			names[i] = fmt.Sprintf("%s (%s)", text, humanize.Comma(int64(counts[n])))
		} else {
			names[i] = fmt.Sprintf("%s × %s", humanize.Comma(int64(counts[n])), text)
		}
	}
	if rest > 0 {
		names = append(names, fmt.Sprintf("and %d more", rest))
	}
	return strings.Join(names, ", ")
}

const maxCounted = 12

// agentCard shows one agent's health.
type agentCard struct {
	content  fyne.CanvasObject
	icon     *canvas.Image
	name     *widget.Label
	state    *line
	problems *selectText
	facts    *fyne.Container
	words    agentWords
}

func newAgentCard() *agentCard {
	c := &agentCard{icon: canvas.NewImageFromResource(nil), name: widget.NewLabel(""), problems: newSelectText("")}
	c.icon.FillMode = canvas.ImageFillContain
	c.icon.SetMinSize(fyne.NewSquareSize(16))
	c.name.TextStyle.Bold = true
	c.problems.Importance = widget.DangerImportance
	c.state = newLine("", colorMuted, theme.SizeNameText, fyne.TextStyle{})
	c.facts = container.New(layout.NewCustomPaddedVBoxLayout(0))
	head := border(nil,
		container.New(layout.NewCustomPaddedHBoxLayout(2), container.NewCenter(c.icon), c.name), nil,
		container.New(layout.NewCustomPaddedLayout(0, 0, 2, 0), c.state))
	c.content = newPanel(container.New(layout.NewCustomPaddedLayout(6, 8, 12, 10),
		container.New(layout.NewCustomPaddedVBoxLayout(0), head,
			container.New(layout.NewCustomPaddedLayout(0, 0, 18, 0), c.problems),
			container.New(layout.NewCustomPaddedLayout(0, 0, 14, 0), c.facts))))
	return c
}

func (c *agentCard) show(w agentWords) {
	if c.words == w {
		return
	}
	refill := c.words.facts != w.facts
	c.words = w
	c.icon.Resource = w.icon
	c.icon.Refresh()
	setLabel(c.name, w.name)
	c.state.set(w.state, w.color)
	if c.problems.Text != w.problems {
		c.problems.SetText(w.problems)
	}
	c.problems.Hidden = w.problems == ""
	if refill {
		c.facts.RemoveAll()
		for _, fact := range strings.Split(w.facts, "\n") {
			if name, value, ok := strings.Cut(fact, "\t"); ok {
				f := field{name: name, value: value, mono: name == "Looked in" || name == ""}
				c.facts.Add(newFieldView(f, nil).content)
			}
		}
	}
	c.content.Refresh()
}
