package present

import (
	"strings"

	"github.com/rivo/uniseg"

	"rollcall/adapters"
	"rollcall/textmatch"
)

// Speaker returns the author of a message: "You" or the agent's name. It is empty for tool calls and notes.
func Speaker(m adapters.Message, agent adapters.Name) string {
	switch m.Role {
	case adapters.FromUser:
		return "You"
	case adapters.FromAgent:
		return AgentName(agent)
	}
	return ""
}

// Tool returns the name of a call's tool as one clean line.
func Tool(m adapters.Message) string {
	if name := Line(m.Tool); name != "" {
		return Cut(name, 60)
	}
	return "tool"
}

// tab is the width of a tab in cells.
const tab = 4

// Wrap breaks clean text (see Text) into lines of at most width cells, at spaces where possible. The first part of a line
// keeps its indentation. With a width of 0 or less Wrap splits only at line breaks.
func Wrap(text string, width int) []string {
	var out []string
	for line := range strings.SplitSeq(text, "\n") {
		line = strings.TrimRight(strings.ReplaceAll(line, "\t", strings.Repeat(" ", tab)), " ")
		if width <= 0 || Width(line) <= width {
			out = append(out, line)
			continue
		}
		out = wrapLine(out, line, width)
	}
	return out
}

// wrapLine appends the parts of a line that is too long to out.
func wrapLine(out []string, line string, width int) []string {
	rest := strings.TrimLeft(line, " ")
	part := line[:min(len(line)-len(rest), width/2)] // the indentation
	used, words := len(part), 0
	for rest != "" {
		word := rest
		if i := strings.IndexByte(rest, ' '); i > 0 {
			word = rest[:i]
		}
		rest = rest[len(word):]
		gap := rest[:len(rest)-len(strings.TrimLeft(rest, " "))]
		rest = rest[len(gap):]
		w := Width(word)
		if words > 0 && used+w > width {
			out = append(out, strings.TrimRight(part, " "))
			part, used = "", 0
		}
		if used+w > width {
			pieces := breakWord(word, width-used, width)
			for _, piece := range pieces[:len(pieces)-1] {
				out = append(out, part+piece)
				part = ""
			}
			word = pieces[len(pieces)-1]
			used, w = len(part), Width(word)
		}
		part = part + word + gap
		used = used + w + len(gap)
		words++
	}
	part = strings.TrimRight(part, " ")
	if part != "" {
		out = append(out, part)
	}
	return out
}

// breakWord splits a word into pieces of at most width cells. The first has at most room cells. Each piece has at least
// one character.
func breakWord(word string, room, width int) []string {
	var pieces []string
	start, used := 0, 0
	g := uniseg.NewGraphemes(word)
	for g.Next() {
		at, _ := g.Positions()
		if used+g.Width() > room && at > start {
			pieces = append(pieces, word[start:at])
			start = at
			used = 0
			room = width
		}
		used += g.Width()
	}
	return append(pieces, word[start:])
}

// Match returns a line with a match as safe text of at most width cells, and cuts the match only if it is wider than
// that; 0: no limit. A match with line breaks becomes one line.
func Match(p textmatch.Part, width int) textmatch.Part {
	p = textmatch.Part{Before: piece(p.Before), Match: piece(p.Match), After: piece(p.After)}
	if width <= 0 || Width(p.Before)+Width(p.Match)+Width(p.After) <= width {
		return p
	}
	p.Match = Cut(p.Match, width)
	room := width - Width(p.Match)
	before := min(Width(p.Before), max(room/3, room-Width(p.After)))
	p.Before = CutStart(p.Before, before)
	p.After = Cut(p.After, room-Width(p.Before))
	return p
}

// piece cleans a part of a line, and keeps the blanks at its ends.
func piece(text string) string {
	clean := Line(text)
	if clean == "" {
		if text != "" && Line("x"+text+"x") != "xx" {
			return " "
		}
		return ""
	}
	if isBlank(text[0]) {
		clean = " " + clean
	}
	if isBlank(text[len(text)-1]) {
		clean += " "
	}
	return clean
}

func isBlank(c byte) bool { return c == ' ' || c == '\t' || c == '\n' || c == '\r' }

// CutStart shortens clean text at its beginning to at most width cells.
func CutStart(text string, width int) string {
	if Width(text) <= width {
		return text
	}
	if width < 1 {
		return ""
	}
	for i := range text {
		if Width(text[i:]) <= width-1 {
			return "…" + text[i:]
		}
	}
	return "…"
}
