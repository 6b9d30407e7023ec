package present

import (
	"fmt"
	"regexp"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/dustin/go-humanize"
	"github.com/dustin/go-humanize/english"

	"rollcall/textmatch"
)

// FirstLines returns the first lines, at most most of them, each cleaned and cut to width cells. It adds the number of lines that were left out.
func FirstLines(lines []string, most, width int) string {
	var out []string
	for _, l := range lines[:min(len(lines), most)] {
		out = append(out, Cut(Short(l), width))
	}
	if more := len(lines) - most; more > 0 {
		out = append(out, fmt.Sprintf("and %d more", more))
	}
	return strings.Join(out, "\n")
}

// Elapsed returns a duration as people write it: "3 ms", "1.2 s".
func Elapsed(d time.Duration) string { return humanize.SIWithDigits(d.Seconds(), 1, "s") }

// Join returns names as people list them: "a, b and c".
func Join(names []string) string { return english.WordSeries(names, "and") }

// Sentence returns a text that begins with a capital letter.
func Sentence(text string) string {
	if _, size := utf8.DecodeRuneInString(text); size > 0 {
		return strings.ToUpper(text[:size]) + text[size:]
	}
	return ""
}

// Size returns a number of bytes as people write it: "1.4 MiB".
func Size(bytes int64) string { return humanize.IBytes(uint64(max(bytes, 0))) }

// IsUnbroken reports whether a text has a word of more than 500 bytes. Fyne lays such a word out in a time that grows with the square of its
// length.
func IsUnbroken(text string) bool {
	for word := range strings.FieldsSeq(text) {
		if len(word) > 500 {
			return true
		}
	}
	return false
}

// maxLines is the number of lines of a message that are shown at first.
const maxLines = 14

// Fold splits a long text into what is shown at first and the rest.
func Fold(text string) (first, rest string) {
	end := len(Begin(text, FirstShown))
	if end < len(text) {
		if space := strings.LastIndexAny(text[:end], " \n"); space > end/2 {
			end = space
		}
	}
	for i, lines := 0, 0; i < end; i++ {
		if text[i] == '\n' {
			if lines++; lines == maxLines {
				end = i
			}
		}
	}
	if len(text)-end < 80 && strings.Count(text[end:], "\n") < 3 { // so short a rest is shown at once
		return text, ""
	}
	return text[:end], text[end:]
}

// TimeOfDay returns the time of a message in words.
func TimeOfDay(at, now time.Time) (text string) {
	switch at = at.In(now.Location()); {
	case at.IsZero():
	case at.YearDay() == now.YearDay() && at.Year() == now.Year():
		text = at.Format("15:04")
	case at.Year() == now.Year():
		text = at.Format("2 Jan 15:04")
	default:
		text = at.Format("2 Jan 2006 15:04")
	}
	return text
}

// Tail returns the end of s, at most n bytes, cut between characters.
func Tail(s string, n int) string {
	if len(s) <= n {
		return s
	}
	return strings.ToValidUTF8(s[len(s)-n:], "")
}

// The marks of Markdown that a line has most often: those of emphasis and code, and of emphasis by one asterisk, and those at the beginning of a line.
var (
	strongMarks = strings.NewReplacer("**", "", "`", "")
	weakMark    = regexp.MustCompile(`(^|[^\w*])\*([^\s*]|[^\s*][^*]*[^\s*])\*($|[^\w*])`)
	lineMark    = regexp.MustCompile(`^\s*(#{1,6}|[*+>-]|\d+\.) +`)
)

// Unmarked returns a line without the marks of Markdown, unless the match has some.
func Unmarked(line textmatch.Part) textmatch.Part {
	const edge = "\x00" // at both ends of the match
	text := edge + line.Match + edge
	if strongMarks.Replace(text) != text || strings.Contains(line.Before+line.Match+line.After, edge) {
		return line
	}
	text = lineMark.ReplaceAllString(strongMarks.Replace(line.Before+text+line.After), "")
	parts := strings.Split(weakMark.ReplaceAllString(text, "$1$2$3"), edge)
	if len(parts) != 3 {
		return line
	}
	return textmatch.Part{Before: parts[0], Match: parts[1], After: parts[2]}
}

// NonEmptyLines returns the lines of a text without leading and trailing white space. It leaves out empty ones.
func NonEmptyLines(text string) (lines []string) {
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		if line != "" {
			lines = append(lines, line)
		}
	}
	return lines
}

// ShortCount returns a number of tokens with three digits at most: "7.74 M", "250 M".
func ShortCount(n float64) string {
	value, unit := humanize.ComputeSI(n)
	digits := 2
	for least := 10.0; value >= least && digits > 0; least *= 10 {
		digits--
	}
	return strings.TrimSpace(humanize.FtoaWithDigits(value, digits) + " " + unit)
}

// How much of a long text the window shows at first and at most, in bytes. The number of further characters is shown.
const (
	FirstShown = 700
	MaxShown   = 6000
)

// When returns a text if a condition holds, or else an empty text.
func When(holds bool, text string) string {
	if holds {
		return text
	}
	return ""
}

// Tokens returns a number of tokens with the word.
func Tokens(n int64) string {
	return humanize.Comma(n) + english.PluralWord(int(n), " token", " tokens")
}

// Short returns a text as one line that is safe to show, at most MaxShown bytes of it.
func Short(s string) string {
	if len(s) > MaxShown {
		return Line(Begin(s, MaxShown)) + "…"
	}
	return Line(s)
}

// Error returns the text of an error, safe to show and not too long; empty: there is none.
func Error(err error) string {
	if err == nil {
		return ""
	}
	return Cut(Short(err.Error()), 1000)
}

// Moment returns a time with its age: "21 Nov 2026, 14:02:11 (5 m ago)".
func Moment(t, now time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.Local().Format("2 Jan 2006, 15:04:05") + " (" + Ago(t, now) + ")"
}

// DayTime returns a time without its year: "21 Nov, 14:02:11".
func DayTime(t time.Time) string { return t.Local().Format("2 Jan, 15:04:05") }
