// Package codetext divides code into pieces of one kind, for their colours, and into the rows of a fixed-width font.
package codetext

import (
	"strings"
	"unicode"
)

// Kind is what a piece of code is.
type Kind int

// The kinds of pieces.
const (
	Plain Kind = iota
	Keyword
	Quoted
	Number
	Comment
	Added // a line of a diff, as those below
	Removed
	Place
	Head
)

// Piece is a part of a line of code.
type Piece struct {
	Text string
	Kind Kind
}

// syntax is what the colours of a language depend on.
type syntax struct {
	comment string // begins a comment that ends with the line
	quotes  string // the characters that begin and end a text
	words   string // the keywords, with a space around each
}

const (
	cWords   = " break case catch class const continue default do else enum export extends final finally for foreach from function if implements import in instanceof interface let namespace new null of package private protected public return static struct switch this throw throws true false try type typedef typeof undefined using var void while async await yield "
	goWords  = " break case chan const continue default defer else fallthrough for func go goto if import interface map package range return select struct switch type var nil true false "
	pyWords  = " and as assert async await break class continue def del elif else except False finally for from global if import in is lambda None nonlocal not or pass raise return True try while with yield "
	shWords  = " if then else elif fi for in do done while until case esac function return export local set unset cd exit "
	rsWords  = " as async await break const continue crate else enum extern false fn for if impl in let loop match mod move mut pub ref return self Self static struct super trait true type unsafe use where while "
	sqlWords = " SELECT FROM WHERE AND OR NOT INSERT INTO VALUES UPDATE SET DELETE CREATE TABLE INDEX ON JOIN LEFT INNER ORDER BY GROUP LIMIT AS NULL DROP ALTER ADD PRIMARY KEY UNIQUE BEGIN COMMIT "
)

// syntaxes are the languages that are coloured, by what is behind the fence. A few rules are enough for a block of a reply; chroma's 270 languages are set up when
// the program starts, also for each command that shows no window.
var syntaxes = map[string]syntax{}

func init() {
	for names, s := range map[string]syntax{
		"go golang": {"//", "\"'`", goWords}, "python py": {"#", "\"'", pyWords}, "sh bash shell zsh console": {"#", "\"'", shWords}, "rust rs": {"//", "\"", rsWords},
		"js javascript ts typescript tsx jsx java c cpp c++ cs csharp kotlin swift php dart scala": {"//", "\"'`", cWords},
		"sql": {"--", "'", sqlWords + strings.ToLower(sqlWords)}, "json jsonc json5": {"//", "\"", " true false null "}, "yaml yml toml": {"#", "\"'", " true false null "}, "ruby rb": {"#", "\"'", pyWords + "end do unless module require "},
	} {
		for name := range strings.FieldsSeq(names) {
			syntaxes[name] = s
		}
	}
}

// mostColored is the size in bytes up to which a block is coloured.
const mostColored = 16 << 10

// Lines returns the lines of a block of code as they are shown.
func Lines(source string) []string {
	return strings.Split(strings.ReplaceAll(source, "\t", "    "), "\n")
}

// Colored returns the lines of a block of code in pieces; nil: its language is not known, or it is long.
func Colored(language, source string) (lines [][]Piece) {
	language, _, _ = strings.Cut(strings.ToLower(strings.TrimSpace(language)), " ")
	s, known := syntaxes[language]
	isDiff := language == "diff" || language == "patch"
	if !known && !isDiff || len(source) > mostColored {
		return nil
	}
	for _, line := range Lines(source) {
		if isDiff {
			lines = append(lines, []Piece{{line, diffKind(line)}})
		} else {
			lines = append(lines, s.pieces(line))
		}
	}
	return lines
}

// diffKind returns the kind of a line of a diff.
func diffKind(line string) Kind {
	switch {
	case strings.HasPrefix(line, "+++"), strings.HasPrefix(line, "---"), strings.HasPrefix(line, "diff "), strings.HasPrefix(line, "index "):
		return Head
	case strings.HasPrefix(line, "@@"):
		return Place
	case strings.HasPrefix(line, "+"):
		return Added
	case strings.HasPrefix(line, "-"):
		return Removed
	}
	return Plain
}

// pieces divides a line into pieces of one kind.
func (s syntax) pieces(line string) (out []Piece) {
	add := func(text string, kind Kind) {
		if last := len(out) - 1; last >= 0 && out[last].Kind == kind {
			out[last].Text += text
		} else {
			out = append(out, Piece{text, kind})
		}
	}
	whole := line
	for line != "" {
		n, kind := 0, Plain
		before := whole[:len(whole)-len(line)]
		switch first := rune(line[0]); {
		case strings.HasPrefix(line, s.comment) && (before == "" || strings.ContainsAny(before[len(before)-1:], " (){}[];,")):
			n, kind = len(line), Comment
		case strings.ContainsRune(s.quotes, first):
			n, kind = quoted(line), Quoted
		case first < 0x80 && (unicode.IsLetter(first) || first == '_'):
			n = run(line, func(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) || r == '_' })
			if strings.Contains(s.words, " "+line[:n]+" ") {
				kind = Keyword
			}
		case unicode.IsDigit(first):
			n, kind = run(line, func(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) || r == '.' || r == '_' }), Number
		default:
			n = cluster(line)
		}
		add(line[:n], kind)
		line = line[n:]
	}
	return out
}

// run returns the size in bytes of the beginning of text whose characters are in a set.
func run(text string, isIn func(rune) bool) int {
	if n := strings.IndexFunc(text, func(r rune) bool { return !isIn(r) }); n > 0 {
		return n
	}
	return len(text)
}

// quoted returns the size in bytes of the quoted text at the beginning of line.
func quoted(line string) int {
	for i := 1; i < len(line); i++ {
		switch line[i] {
		case '\\':
			i++
		case line[0]:
			return i + 1
		}
	}
	return len(line)
}
