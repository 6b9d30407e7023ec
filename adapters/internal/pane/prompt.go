package pane

import (
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/rivo/uniseg"
)

// Style is how an agent draws a request for a permission. Each option has a number, whose key decides at once, without Enter, whichever option is selected.
type Style struct {
	Edge   *regexp.Regexp // a line of the width of the terminal's contents
	Margin int            // the cells by which the rows of a request are shorter
	Inside *regexp.Regexp // every row between the line above the request and its first option
	Blank  string         // a row without text
	Mark   *regexp.Regexp // a row that the agent may add to the text; one at most
	Option *regexp.Regexp // an option: its number and its label
	Typing *regexp.Regexp // a selected option that takes keys as text
	Below  *regexp.Regexp // the line below the options
	// Allow and Deny are the whole labels of the options that allow once and that deny, and nothing more.
	Allow, Deny string
}

// Part is a text that a request shows: what the agent draws before its first row, before each further line, and before the rest of a line that was broken.
type Part struct{ First, Next, Rest, Text string }

// Prompt is a request for a permission at the end of a screen.
type Prompt struct {
	Rows    []int    // of the screen: all that have text
	Options []string // by number - 1

	style *Style
	body  []string // the rows above the options
	width int      // of the longest row that can be drawn, in cells
}

// Find returns the prompt at the end of a screen.
func (s *Style) Find(screen []string) (*Prompt, bool) {
	below := lastOf(screen, s.Below)
	if below < 0 || textAfter(screen[below+1:]) > maxBelow {
		return nil, false
	}
	p := &Prompt{style: s}
	row := s.skipBlank(screen, below-1)
	last := row
	for row >= 0 && s.Option.MatchString(screen[row]) && !s.Typing.MatchString(screen[row]) && (last == row || p.Options[0] == "") {
		m := s.Option.FindStringSubmatch(screen[row])
		number, _ := strconv.Atoi(m[1])
		if last == row {
			p.Options = make([]string, number)
		}
		if number != len(p.Options)-(last-row) {
			return nil, false
		}
		p.Options[number-1] = m[2]
		row--
	}
	if len(p.Options) < 2 || p.Options[0] == "" {
		return nil, false
	}
	top := row
	for top >= 0 && (screen[top] == s.Blank || s.Inside.MatchString(screen[top])) {
		top--
	}
	edge := lastOf(screen[:top+1], s.Edge)
	if edge < 0 {
		return nil, false
	}
	p.width = uniseg.StringWidth(screen[edge]) - s.Margin
	p.body = s.trimmed(screen[top+1 : row+1])
	for i := top + 1; i <= below; i++ {
		if screen[i] != s.Blank && screen[i] != "" {
			p.Rows = append(p.Rows, i)
		}
	}
	return p, true
}

// lastOf returns the last line that matches; -1: none does.
func lastOf(lines []string, pattern *regexp.Regexp) int {
	for i := len(lines) - 1; i >= 0; i-- {
		if pattern.MatchString(lines[i]) {
			return i
		}
	}
	return -1
}

// skipBlank returns the nearest row at or above one that has text.
func (s *Style) skipBlank(screen []string, row int) int {
	for row >= 0 && (screen[row] == s.Blank || screen[row] == "") {
		row--
	}
	return row
}

// trimmed returns rows without those at both ends that have no text.
func (s *Style) trimmed(rows []string) []string {
	rows = rows[:s.skipBlank(rows, len(rows)-1)+1]
	for len(rows) > 0 && (rows[0] == s.Blank || rows[0] == "") {
		rows = rows[1:]
	}
	return rows
}

// Shows reports whether a prompt shows these parts, each exactly as Dialog.ShowsExactly describes, and nothing else.
func (p *Prompt) Shows(parts ...Part) bool {
	rows, marked := p.body, false
	pass := func() {
		if !marked && len(rows) > 0 && p.style.Mark.MatchString(rows[0]) {
			marked = true
			rows = rows[1:]
		}
	}
	for _, part := range parts {
		pass()
		lines := strings.Split(part.Text, "\n")
		if slices.ContainsFunc(lines, endsBlank) {
			return false
		}
		var ok bool
		rows, ok = shows(rows, part, lines, p.width-uniseg.StringWidth(part.First))
		if !ok {
			return false
		}
	}
	pass()
	return len(rows) == 0
}

// key returns the key of the only option with a label; empty: there is none.
func (p *Prompt) key(label string) string {
	i := slices.Index(p.Options, label)
	if i < 0 || slices.Contains(p.Options[i+1:], label) {
		return ""
	}
	return strconv.Itoa(i + 1)
}
