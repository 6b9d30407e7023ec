package pane

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"rollcall/internal/must"
)

// TestShownExactly: the screens of Claude Code 2.1.329 and 2.1.100, 100 columns wide, show the command that they were asked for and none that differs in a
// blank, a tab or a line break.
func TestShownExactly(t *testing.T) {
	commands := map[string]string{
		"words": "touch " + strings.Repeat("abcdefgh ijk ", 16) + "x", "one-word": "touch " + strings.Repeat("abcdefghij", 20), "wide": "touch '漢字漢字 " + strings.Repeat("漢字", 60) + "'",
		"leading": "touch lead", "exact": "touch " + strings.Repeat("a", 84) + " b" + strings.Repeat("c", 30), "trailing": "touch trail\n b",
	}
	for _, version := range []string{"2.1.329", "2.1.100"} {
		for name, command := range commands {
			d := dialogIn(t, version, name)
			if !d.ShowsExactly(command, "Run a command") {
				t.Errorf("%s %s: not shown:\n%s", version, name, strings.Join(d.rows, "\n"))
			}
			others := 0
			for i := 1; i < len(command); i++ {
				for _, other := range []string{command[:i] + " " + command[i:], command[:i] + "\t" + command[i:], command[:i] + "\n" + command[i:], command[:i] + command[i+1:]} {
					if other != command && d.ShowsExactly(other, "Run a command") {
						others++
					}
				}
			}
			// A screen can't show what is between two rows if the first of them is full.
			if breaks := strings.Count(strings.Join(d.rows, "\n"), "\n"); others > 4*breaks {
				t.Errorf("%s %s: %d others are shown as well in %d breaks", version, name, others, breaks)
			}
		}
		// Tabs, and blanks that end a line, are never shown exactly, and so is a break in front of many blanks.
		for name, command := range map[string]string{"lines-and-tabs": "touch a\\ \n  b\n\n\n    c\td\te", "trailing": "touch trail   \n b", "many-blanks": "touch " + strings.Repeat("a", 80) + strings.Repeat(" ", 15) + "b" + strings.Repeat("c", 120)} {
			if d := dialogIn(t, version, name); d.ShowsExactly(command, "Run a command") {
				t.Errorf("%s %s: shown exactly", version, name)
			}
		}
	}
}

func dialogIn(t *testing.T, version, name string) *Dialog {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("testdata", "claude-"+version+"-"+name+".txt"))
	must.Do(t, err)
	d, ok := FindDialog(strings.Split(string(data), "\n"))
	if !ok {
		t.Fatalf("%s %s: no dialog", version, name)
	}
	return d
}

// drawn returns the rows that a command takes in the dialog of a terminal as Claude Code 2.1.332 draws them: broken at blanks, and in words that are wider than
// a row.
func drawn(command, indent string, room int) (rows []string) {
	for line := range strings.SplitSeq(command, "\n") {
		row := ""
		for i, word := range strings.Split(line, " ") {
			switch {
			case i == 0:
				row = word
			case len(row)+1+len(word) <= room:
				row += " " + word
			default:
				rows, row = append(rows, indent+row), word
			}
			for len(row) > room {
				rows, row = append(rows, indent+row[:room]), row[room:]
			}
		}
		rows = append(rows, indent+row)
	}
	return rows
}

// TestShownInEveryWidth: a command is recognised in every width of the terminal, in one row and in many, with and without the bar, and no other one is.
func TestShownInEveryWidth(t *testing.T) {
	for name, c := range map[string]struct {
		command string
		bar     bool
	}{
		"short": {"touch lead", false}, "79 cells": {"touch " + strings.Repeat("a", 73), false}, "words of 76 cells": {"touch abc " + strings.Repeat("de ", 22), false},
		"80 cells with a bar": {"touch " + strings.Repeat("a", 74), true}, "85 cells": {"touch " + strings.Repeat("abcdefgh ijk ", 6) + "x", true},
		"240 cells": {"touch " + strings.Repeat("abcdefgh ijk ", 18) + "x", true}, "lines": {"cat <<E\na b c\nE", true}, "a bar of its own": {"│ a", false},
	} {
		command := strings.TrimSpace(c.command)
		for width := 40; width <= 250; width++ {
			indent := " "
			if c.bar {
				indent = " │ "
			}
			screen := []string{strings.Repeat("─", width), " Bash command", strings.Repeat("╌", width)}
			screen = append(screen, drawn(command, indent, width-1-len([]rune(indent)))...)
			screen = append(screen, strings.Repeat("╌", width), " Do you want to proceed?", " ❯ 1. Yes", "   2. No")
			d, ok := FindDialog(screen)
			if !ok {
				t.Fatalf("%s, %d columns: no dialog", name, width)
			}
			if !d.ShowsExactly(command, "") {
				t.Fatalf("%s, %d columns: not shown:\n%s", name, width, strings.Join(d.rows, "\n"))
			}
			others := []string{"│ " + command, command + " x", command[1:], strings.TrimPrefix(command, "│ ")}
			if len(d.rows) == 1 { // a screen can't show the blanks at the end of a full row
				others = append(others, strings.Replace(command, " ", "  ", 1))
			}
			for _, other := range others {
				if other != command && d.ShowsExactly(other, "") {
					t.Fatalf("%s, %d columns: %q is shown as well", name, width, other)
				}
			}
		}
	}
}

// TestShownNotAllowed: a prompt for another command is not taken for one that differs from it in blanks.
func TestShownNotAllowed(t *testing.T) {
	rule, dots := strings.Repeat("─", 100), strings.Repeat("╌", 100)
	for name, c := range map[string]struct {
		rows    []string
		command string
		want    bool
	}{
		"the same":               {[]string{" rm -rf ./build/srv/data"}, "rm -rf ./build/srv/data", true},
		"a blank more":           {[]string{" rm -rf ./build /srv/data"}, "rm -rf ./build/srv/data", false},
		"a blank less":           {[]string{" rm -rf ./build/srv/data"}, "rm -rf ./build /srv/data", false},
		"blanks in quotes":       {[]string{" grep 'a  b' x"}, "grep 'a b' x", false},
		"a break for a blank":    {[]string{" │ rm -rf ./build", " │ /srv/data"}, "rm -rf ./build /srv/data", false},
		"a blank for a break":    {[]string{" rm -rf ./build /srv/data"}, "rm -rf ./build\n/srv/data", false},
		"a heredoc":              {[]string{" │ cat <<E", " │ a", " │ E", " │ ls"}, "cat <<E\na\nE\nls", true},
		"a heredoc goes on":      {[]string{" │ cat <<E", " │ a", " │  E", " │ ls"}, "cat <<E\na\nE\nls", false},
		"an empty row":           {[]string{" │ a", " │", " │ b"}, "a\n\nb", true},
		"an empty row less":      {[]string{" │ a", " │ b"}, "a\n\nb", false},
		"an empty row more":      {[]string{" │ a", " │", " │ b"}, "a\nb", false},
		"a tab":                  {[]string{" a       b"}, "a\tb", false},
		"a bar of its own":       {[]string{" │ a"}, "a", false},
		"blanks at the end":      {[]string{" a"}, "a ", false},
		"another row":            {[]string{" │ a", " │ b"}, "a", false},
		"a row that is not full": {[]string{" │ " + strings.Repeat("a", 80), " │ bb"}, strings.Repeat("a", 80) + " bb", false},
		"a row that is full":     {[]string{" │ " + strings.Repeat("a", 94), " │ bb"}, strings.Repeat("a", 94) + " bb", true},
		"wide in a full row":     {[]string{" │ " + strings.Repeat("漢", 48), " │ 漢"}, strings.Repeat("漢", 49), true},
		"wide in a short row":    {[]string{" │ " + strings.Repeat("漢", 47), " │ 漢"}, strings.Repeat("漢", 48), false},
	} {
		screen := append(append([]string{rule, " Bash command", dots}, c.rows...), dots, " Do you want to proceed?", " ❯ 1. Yes", "   2. No")
		d, ok := FindDialog(screen)
		if !ok {
			t.Fatal(name)
		}
		if got := d.ShowsExactly(c.command, ""); got != c.want {
			t.Errorf("%s: %v", name, got)
		}
	}
}
