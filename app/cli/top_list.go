package cli

import (
	"cmp"
	"slices"
	"strings"

	"github.com/gdamore/tcell/v3"

	"rollcall/app"
	"rollcall/app/present"
)

// topChoice is what of the live sessions the list of top shows, and in which order.
type topChoice struct {
	filter string // words that a row must have; empty: all rows are shown
	typing bool   // keys change the filter
	order  int    // an index of topOrders
	hidden bool   // sessions that the user put away are shown too
	away   int    // how many are not shown because the user put them away
	live   int    // how many sessions are live
}

// topOrders are the orders of the list: what the summary calls them, and how they compare. The first one is that of all lists. Pinned sessions always come first.
var topOrders = []struct {
	name    string
	compare func(a, b *app.Session) int
}{
	{"status", nil},
	{"activity", func(a, b *app.Session) int { return b.LastActivityAt.Compare(a.LastActivityAt) }},
	{"project", func(a, b *app.Session) int { return strings.Compare(present.Project(a.CWD), present.Project(b.CWD)) }},
	{"agent", func(a, b *app.Session) int {
		return strings.Compare(present.AgentName(a.Agent), present.AgentName(b.Agent))
	}},
	{"processor", func(a, b *app.Session) int { return cmp.Compare(loadOf(b).Share, loadOf(a).Share) }},
	{"memory", func(a, b *app.Session) int { return cmp.Compare(loadOf(b).Memory, loadOf(a).Memory) }},
}

func loadOf(s *app.Session) app.Load {
	if s.Load == nil {
		return app.Load{}
	}
	return *s.Load
}

// arrange takes away what the user put away, and sorts the sessions.
func (c *topChoice) arrange(sessions []app.Session) []app.Session {
	c.live = len(sessions)
	if !c.hidden {
		folded := app.PutAway(sessions)
		kept := sessions[:0]
		for i := range sessions {
			if !folded[i] {
				kept = append(kept, sessions[i])
			}
		}
		sessions = kept
	}
	c.away = c.live - len(sessions)
	if compare := topOrders[c.order].compare; compare != nil {
		slices.SortStableFunc(sessions, func(a, b app.Session) int {
			if a.Pinned != b.Pinned {
				return map[bool]int{true: -1, false: 1}[a.Pinned]
			}
			return compare(&a, &b)
		})
	}
	return sessions
}

// fits reports whether a row has each word of the filter in one of its cells.
func (c *topChoice) fits(r *row) bool {
	cells := r.cells
	cells[colAge], cells[colUses] = present.Line(r.session.ID), present.Topic(r.session.Topic) // in place of numbers that change
	text := strings.ToLower(strings.Join(cells[:], "\x00"))
	for word := range strings.FieldsSeq(strings.ToLower(c.filter)) {
		if !strings.Contains(text, word) {
			return false
		}
	}
	return true
}

// words says in the summary what the list shows; empty: everything, in the usual order.
func (c *topChoice) words(shown int) (text string) {
	if c.filter != "" {
		text += "; " + present.Count(int64(shown)) + " with “" + present.Line(c.filter) + "”"
	}
	if c.away > 0 {
		text += "; " + present.Count(int64(c.away)) + " hidden"
	}
	if c.order > 0 {
		text += "; by " + topOrders[c.order].name
	}
	return text
}

// typed handles a key while the filter is typed.
func (t *topScreen) typed(ev *tcell.EventKey) {
	c := &t.choice
	switch ev.Key() {
	case tcell.KeyEnter:
		c.typing = false
	case tcell.KeyEsc:
		c.typing, c.filter = false, ""
	case tcell.KeyBackspace, tcell.KeyBackspace2:
		runes := []rune(c.filter)
		c.filter = string(runes[:max(0, len(runes)-1)])
	case tcell.KeyRune:
		c.filter += ev.Str()
	}
	t.refresh()
}

// prompt returns what is shown while the filter is typed.
func (c *topChoice) prompt() string { return "/" + present.Visible(c.filter) + "▏" }

// reorder shows the sessions in the next order.
func (t *topScreen) reorder() {
	t.choice.order = (t.choice.order + 1) % len(topOrders)
	t.message = "sorted by " + topOrders[t.choice.order].name
	t.refresh()
}

// showHidden shows the sessions that the user put away, or no longer.
func (t *topScreen) showHidden() {
	t.choice.hidden = !t.choice.hidden
	t.message = ifelse(t.choice.hidden, "hidden and snoozed sessions are shown", "hidden and snoozed sessions are not shown")
	t.refresh()
}

// topHelp lists the keys, in lines that fit a narrow terminal.
const topHelp = `↑ ↓, K J        choose a session
PgUp PgDn       a page; Home, End
Enter           what it asks, or all
                about it
A, then Y       allow the request once
D               deny it
1-9             choose an option
F               show its terminal
S, then Y       stop it
/               list rows with these
                words; Esc: all rows
O               another order: status,
                activity, project, agent,
                processor, memory
H               show the hidden ones
Ctrl-Z          suspend; fg comes back
?               this help
Q, Esc          back, or quit
Ctrl-C          quit

! needs you  > works  - is idle
x failed     ? not known
Pinned sessions come first. What a key
answers must be on the screen, whole.`

// showHelp shows the keys.
func (t *topScreen) showHelp() {
	t.message = ""
	t.view = topView{open: true, help: true, text: topHelp}
}

// suspend gives the terminal back and stops the program, as Ctrl-Z does with others; once it goes on, it takes the terminal again.
func (t *topScreen) suspend() {
	if err := t.screen.Suspend(); err != nil {
		t.message = err.Error()
		return
	}
	stopped := stopSelf()
	if err := t.screen.Resume(); err != nil { // the terminal is gone
		t.lost = true
		return
	}
	t.screen.EnablePaste()
	t.screen.Sync()
	if !stopped {
		t.message = "it cannot be suspended here: no shell could continue it"
	}
	t.refresh()
}
