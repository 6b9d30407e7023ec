package pane

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/rivo/uniseg"
)

// Dialog is a question with numbered options at the end of a screen.
type Dialog struct {
	Rows    []int // of the screen, from the line above its title to its last line
	Title   string
	Text    string   // the lines between the title and the options, as they are shown
	Body    string   // the part of Text between its first and last dotted rule; empty: it has none
	Options []string // by number - 1, as far as they are shown

	rows  []string // of Body, or without one of the text between the title and the options, with their indentation
	width int      // of the terminal, in cells
}

var (
	optionLine = regexp.MustCompile(`^[\s│]*(?:[❯›>▶]\s*)?([1-9])[.)]\s+(\S.*?)[\s│]*$`)
	ruleLine   = regexp.MustCompile(`^[\s╭╮├┤┌┐]*[─━═▔╌]{8,}[\s╭╮├┤┌┐]*$`)
)

// maxBelow is the largest number of lines below the options: hints about keys.
const maxBelow = 4

// FindDialog returns the dialog at the end of a screen. Its whole beginning must be on the
// screen: the rule that Claude Code draws above it.
func FindDialog(screen []string) (*Dialog, bool) {
	end := len(screen)
	for end > 0 && screen[end-1] == "" {
		end--
	}
	last, first := -1, -1
	var options []string
	for row := end - 1; row >= 0 && first < 0; row-- {
		m := optionLine.FindStringSubmatch(screen[row])
		switch {
		case m != nil:
			number, _ := strconv.Atoi(m[1])
			if last < 0 {
				last, options = row, make([]string, number)
			}
			if number > len(options) || options[number-1] != "" {
				return nil, false
			}
			options[number-1] = m[2]
			if number == 1 {
				first = row
			}
		case last < 0 && textAfter(screen[row:end]) > maxBelow, ruleLine.MatchString(screen[row]) && last >= 0:
			return nil, false
		}
	}
	if first < 0 || len(options) < 2 || slices.Contains(options, "") {
		return nil, false
	}
	return dialogAt(screen, first, end, options)
}

// textAfter returns how many lines have text.
func textAfter(lines []string) (n int) {
	for _, line := range lines {
		if strings.TrimSpace(line) != "" {
			n++
		}
	}
	return n
}

// dialogAt returns the dialog whose first option is in a row: it begins below the nearest rule
// above.
func dialogAt(screen []string, first, end int, options []string) (*Dialog, bool) {
	top := first - 1
	for top >= 0 && !isTop(screen[top]) {
		top--
	}
	if top < 0 {
		return nil, false
	}
	d := &Dialog{Options: options, width: uniseg.StringWidth(screen[top])}
	for row := top + 1; row < end; row++ {
		if screen[row] != "" && !ruleLine.MatchString(screen[row]) {
			d.Rows = append(d.Rows, row)
		}
	}
	var text []string
	var rules, dotted []int
	titled := top + 1
	for i, line := range screen[top+1 : first] {
		line = strings.TrimSpace(strings.Trim(strings.TrimSpace(line), "│"))
		switch {
		case d.Title == "":
			d.Title, titled = line, top+2+i
		case isDotted(line):
			rules, dotted = append(rules, len(text)), append(dotted, top+1+i)
		case line != "":
			text = append(text, line)
		}
	}
	d.Text, d.rows = strings.Join(text, "\n"), screen[titled:first]
	if n := len(rules); n > 1 {
		d.rows = screen[dotted[0]+1 : dotted[n-1]]
		d.Body = strings.Join(text[rules[0]:rules[n-1]], "\n")
	}
	return d, d.Title != ""
}

// isTop reports whether a line is the upper edge of a dialog. The dotted rules around a change
// of files are inside a dialog.
func isTop(line string) bool { return isDrawn(line) && ruleLine.MatchString(line) && !isDotted(line) }

// isDotted reports whether a line is a rule around the body of a dialog.
func isDotted(line string) bool {
	return isDrawn(line) && strings.Contains(line, "╌╌╌╌") && strings.Trim(line, "╌ ") == ""
}

// isDrawn reports whether a line can be one that Claude Code draws: such lines begin in the
// first column. The contents of a call are indented, so that no command can draw the edge of a
// dialog.
func isDrawn(line string) bool { return !strings.HasPrefix(line, " ") }

// Choice returns the number of the only option that fits.
func (d *Dialog) Choice(fits func(option string) bool) (number int, ok bool) {
	for i, o := range d.Options {
		if fits(o) {
			if ok {
				return 0, false
			}
			number, ok = i+1, true
		}
	}
	return number, ok
}

// barFrom is the width in cells from which Claude Code draws a bar beside a command of one line, however many rows it takes: one of 79 has none in any width of
// the terminal, one of 82 has it in all (2.1.332). A command of two cells more that begins with such a bar itself has two, so that the bar of one row is not the
// command's own.
const barFrom = 80

// ShowsExactly reports whether the dialog shows a command and nothing else: between its dotted rules (Claude Code 2.1.329), or followed by
// a note and the question (2.1.100). Only at the end of a full row may the terminal have broken a line, and only there may blanks of the command be
// missing. A command with blanks at the end of a line is never shown exactly, because a screen does not show them.
func (d *Dialog) ShowsExactly(command, note string) bool {
	lines := strings.Split(command, "\n")
	if strings.TrimSpace(command) == "" || slices.ContainsFunc(lines, endsBlank) {
		return false
	}
	all := func(rows []string, indent string, room int) bool {
		rest, ok := shows(rows, Part{First: indent, Next: indent, Rest: indent}, lines, room)
		return ok && len(rest) == 0
	}
	if d.Body != "" {
		bar, mayHaveBar := " │", len(d.rows) > 1 || uniseg.StringWidth(command) >= barFrom
		if mayHaveBar && !slices.ContainsFunc(d.rows, func(r string) bool { return !strings.HasPrefix(r, bar) }) {
			return all(d.rows, bar+" ", d.width-4)
		}
		return all(d.rows, " ", d.width-2)
	}
	rows := trimmed(d.rows)
	if len(rows) < 2 {
		return false
	}
	rows = trimmed(rows[:len(rows)-1]) // without the question
	const indent = "   "
	if note != "" {
		if len(rows) < 2 || rows[len(rows)-1] != indent+note {
			return false
		}
		rows = rows[:len(rows)-1]
	}
	return all(rows, indent, d.width-6)
}

// trimmed returns rows without the empty ones at both ends.
func trimmed(rows []string) []string {
	for len(rows) > 0 && rows[0] == "" {
		rows = rows[1:]
	}
	for len(rows) > 0 && rows[len(rows)-1] == "" {
		rows = rows[:len(rows)-1]
	}
	return rows
}

// endsBlank reports whether a line ends in blanks, which a screen does not show.
func endsBlank(line string) bool { return strings.TrimRight(line, " \t\r") != line }

// shows reports whether rows begin with lines, drawn as a part says, and returns the rows after them. room is the number of cells after the indent in which
// the agent breaks lines.
func shows(rows []string, in Part, lines []string, room int) (rest []string, ok bool) {
	indent := in.First
	for _, line := range lines {
		for begun := false; line != "" || !begun; begun = true {
			if begun {
				indent = in.Rest
			}
			if len(rows) == 0 {
				return nil, false
			}
			left, ok := afterRow(rows[0], indent, line, begun)
			if !ok || left != "" && !isFull(strings.TrimPrefix(rows[0], indent), left, rows[1:], in.Rest, room) {
				return nil, false
			}
			line = left
			rows = rows[1:]
		}
		indent = in.Next
	}
	return rows, true
}

// afterRow returns what follows a row in a line. ok is false if the row does not show the beginning of the line; after a break (begun) blanks of the line
// may be missing.
func afterRow(shown, indent, line string, begun bool) (rest string, ok bool) {
	row, ok := strings.CutPrefix(shown, indent)
	if !ok {
		row = ""
	}
	if !ok && shown != strings.TrimRight(indent, " ") || row != strings.TrimRight(row, " ") || row == "" && line != "" {
		return "", false
	}
	if begun {
		blanks, left := len(line)-len(strings.TrimLeft(line, " ")), len(row)-len(strings.TrimLeft(row, " "))
		if left > blanks {
			return "", false
		}
		line = line[blanks-left:]
	}
	return strings.CutPrefix(line, row)
}

// isFull reports whether a row is followed by a break that Claude Code made: nothing more fits into it.
func isFull(row, rest string, after []string, indent string, room int) bool {
	if len(after) == 0 {
		return false
	}
	width := uniseg.StringWidth(row)
	word := strings.TrimLeft(rest, " ")
	next := strings.TrimPrefix(after[0], indent)
	switch {
	case width > room:
		return false
	case word == rest: // within a word
		first, _, _, _ := uniseg.FirstGraphemeClusterInString(rest, -1)
		return width+uniseg.StringWidth(first) > room
	case strings.HasPrefix(next, " "):
		return width == room
	}
	word, _, _ = strings.Cut(word, " ")
	return width+1+uniseg.StringWidth(word) > room
}

// Squeezed returns a text without white space. Calls whose texts differ only in white space may look the same on a screen.
func Squeezed(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsSpace(r) {
			return -1
		}
		return r
	}, s)
}
