package pane

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"
)

// Dialog is a question with numbered options at the end of a screen.
type Dialog struct {
	Rows    []int // of the screen, from the line above its title to its last line
	Title   string
	Text    string   // the lines between the title and the options, as they are shown
	Body    string   // the part of Text between its first and last dotted rule; empty: it has none
	Options []string // by number - 1, as far as they are shown
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
	d := &Dialog{Options: options}
	for row := top + 1; row < end; row++ {
		if screen[row] != "" && !ruleLine.MatchString(screen[row]) {
			d.Rows = append(d.Rows, row)
		}
	}
	var text []string
	var rules []int
	for _, line := range screen[top+1 : first] {
		line = strings.TrimSpace(strings.Trim(strings.TrimSpace(line), "│"))
		switch {
		case d.Title == "":
			d.Title = line
		case isDotted(line):
			rules = append(rules, len(text))
		case line != "":
			text = append(text, line)
		}
	}
	d.Text = strings.Join(text, "\n")
	if n := len(rules); n > 1 {
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

// ShowsExactly reports whether the dialog shows a command and nothing else: between its dotted
// rules (Claude Code 2.1.329), or followed by a note and the question (2.1.100). Lines may be
// broken anywhere.
func (d *Dialog) ShowsExactly(command, note string) bool {
	if squeeze(command) == "" {
		return false
	}
	if d.Body != "" {
		return squeeze(d.Body) == squeeze(command)
	}
	text := d.Text
	if i := strings.LastIndexByte(text, '\n'); i >= 0 {
		text = text[:i]
	}
	return squeeze(text) == squeeze(command+note)
}

// squeeze returns a text without white space.
func squeeze(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsSpace(r) {
			return -1
		}
		return r
	}, s)
}
