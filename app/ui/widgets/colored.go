package widgets

import (
	"strings"
	"unicode"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/canvas"
	"fyne.io/fyne/v2/theme"
	"fyne.io/fyne/v2/widget"
)

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

// code returns the lines of a block of code in colours; nil: it has no hit, and its language is not known or it is long.
func (h *hits) code(language, source string) (lines [][]span) {
	lines = colored(language, source)
	if h.find == nil {
		return lines
	}
	isColored, before := lines != nil, len(h.places)
	if !isColored {
		for _, line := range codeLines(source) {
			lines = append(lines, []span{{text: line, color: theme.ColorNameForeground}})
		}
	}
	for i, line := range lines {
		first := len(h.places)
		lines[i] = h.cut(line)
		for at := range h.places[first:] {
			h.places[first+at].share = float32(i) / float32(len(lines))
		}
	}
	if !isColored && (len(h.places) == before || len(source) > mostMarked) {
		return nil
	}
	return lines
}

// mostMarked is the size in bytes up to which a block of code whose language is not known shows its hits. In a longer one they are counted.
const mostMarked = 64 << 10

// codeLines returns the lines of a block of code as they are shown.
func codeLines(source string) []string {
	return strings.Split(strings.ReplaceAll(source, "\t", "    "), "\n")
}

// colored returns the lines of a block of code in colours; nil: its language is not known, or it is long.
func colored(language, source string) (lines [][]span) {
	language, _, _ = strings.Cut(strings.ToLower(strings.TrimSpace(language)), " ")
	s, known := syntaxes[language]
	isDiff := language == "diff" || language == "patch"
	if !known && !isDiff || len(source) > mostColored {
		return nil
	}
	for _, line := range codeLines(source) {
		if isDiff {
			lines = append(lines, []span{{text: line, color: diffColor(line)}})
		} else {
			lines = append(lines, s.pieces(line))
		}
	}
	return lines
}

// diffColor returns the colour of a line of a diff.
func diffColor(line string) fyne.ThemeColorName {
	switch {
	case strings.HasPrefix(line, "+++"), strings.HasPrefix(line, "---"), strings.HasPrefix(line, "diff "), strings.HasPrefix(line, "index "):
		return ColorMuted
	case strings.HasPrefix(line, "@@"):
		return ColorWorking
	case strings.HasPrefix(line, "+"):
		return ColorGood
	case strings.HasPrefix(line, "-"):
		return ColorBad
	}
	return theme.ColorNameForeground
}

// pieces divides a line into pieces of one colour.
func (s syntax) pieces(line string) (out []span) {
	add := func(text string, color fyne.ThemeColorName) {
		if last := len(out) - 1; last >= 0 && out[last].color == color {
			out[last].text += text
		} else {
			out = append(out, span{text: text, color: color})
		}
	}
	whole := line
	for line != "" {
		n, color := 0, theme.ColorNameForeground
		before := whole[:len(whole)-len(line)]
		switch first := rune(line[0]); {
		case strings.HasPrefix(line, s.comment) && (before == "" || strings.ContainsAny(before[len(before)-1:], " (){}[];,")):
			n, color = len(line), ColorMuted
		case strings.ContainsRune(s.quotes, first):
			n, color = quoted(line), ColorGood
		case first < 0x80 && (unicode.IsLetter(first) || first == '_'):
			n = run(line, func(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) || r == '_' })
			if strings.Contains(s.words, " "+line[:n]+" ") {
				color = ColorWorking
			}
		case unicode.IsDigit(first):
			n, color = run(line, func(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) || r == '.' || r == '_' }), ColorWaiting
		default:
			n = cluster(line)
		}
		add(line[:n], color)
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

// coloredCode shows lines of code in colours. It creates the objects of its lines when it is drawn first: a conversation has many blocks that are never looked at.
type coloredCode struct {
	widget.BaseWidget
	host   *Host
	source string
	lines  [][]span
}

func (h *Host) newColoredCode(source string, lines [][]span) *coloredCode {
	c := &coloredCode{host: h, source: source, lines: lines}
	c.ExtendBaseWidget(c)
	return c
}

// TappedSecondary offers to copy the code: what is drawn in colours can't be selected.
func (c *coloredCode) TappedSecondary(ev *fyne.PointEvent) {
	menu := fyne.NewMenu("", fyne.NewMenuItem("Copy this block", func() { fyne.CurrentApp().Clipboard().SetContent(c.source) }))
	widget.ShowPopUpMenuAtPosition(menu, c.host.Window.Canvas(), ev.AbsolutePosition)
}

// coloredRenderer creates its parts when Fyne first asks for them.
type coloredRenderer struct {
	Renderer
	code *coloredCode
}

// CreateRenderer implements fyne.Widget.
func (c *coloredCode) CreateRenderer() fyne.WidgetRenderer {
	r := &coloredRenderer{code: c}
	mono, size := fyne.TextStyle{Monospace: true}, TextSize(theme.SizeNameText)
	width := float32(0)
	for _, line := range c.lines {
		width = max(width, fyne.MeasureText(textOf(line), size, mono).Width)
	}
	r.Widget = c
	r.Min = func() fyne.Size { return fyne.NewSize(width, float32(len(c.lines))*codeRowHeight) }
	r.Arrange = func(fyne.Size) {}
	r.Update = func() { r.Parts = nil }
	return r
}

// Objects returns the texts.
func (r *coloredRenderer) Objects() []fyne.CanvasObject {
	if r.Parts != nil {
		return r.Parts
	}
	for i, line := range r.code.lines {
		x := float32(0)
		for _, p := range line {
			t := canvas.NewText(p.text, ThemeColor(p.color))
			t.TextStyle = fyne.TextStyle{Monospace: true, Underline: p.style.Underline}
			t.TextSize = TextSize(theme.SizeNameText)
			width := t.MinSize().Width
			if p.isHit {
				mark := canvas.NewRectangle(ThemeColor(ColorHit))
				Place(mark, x, float32(i)*codeRowHeight, width, codeRowHeight)
				r.Parts = append(r.Parts, mark)
			}
			Place(t, x, float32(i)*codeRowHeight, width, codeRowHeight)
			x += width
			r.Parts = append(r.Parts, t)
		}
	}
	return r.Parts
}
