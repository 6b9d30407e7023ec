package present

import "rollcall/textmatch"

// Match returns a line with a match as safe text of at most width cells, without cutting the match more than needed; 0:
// as wide as it is. A match with line breaks becomes one line.
func Match(p textmatch.Part, width int) textmatch.Part {
	p = textmatch.Part{Before: piece(p.Before), Match: piece(p.Match), After: piece(p.After)}
	if width <= 0 || Width(p.Before)+Width(p.Match)+Width(p.After) <= width {
		return p
	}
	p.Match = Cut(p.Match, width)
	room := width - Width(p.Match)
	before := min(Width(p.Before), max(room/3, room-Width(p.After)))
	p.Before = cutStart(p.Before, before)
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

// cutStart shortens clean text at its beginning to at most width cells.
func cutStart(text string, width int) string {
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
