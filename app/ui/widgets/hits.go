package widgets

import (
	"image/color"
	"slices"
	"strings"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/theme"
	"fyne.io/fyne/v2/widget"
)

// Find returns where a text has what the user searches for, in bytes.
type Find func(text string) (start, end int, ok bool)

// span is a piece of a text in one style.
type span struct {
	text  string
	style fyne.TextStyle
	color fyne.ThemeColorName
	isHit bool // it is marked
}

// hits marks what is found in the blocks of a text. The zero value marks nothing.
type hits struct {
	find   Find
	here   int // the number of the hit that is marked as the present one
	places []place
}

// place is where a hit is: in a block, after a share of its text.
type place struct {
	block fyne.CanvasObject
	share float32
}

// MostHits is the number of hits that are marked in one text.
const MostHits = 500

// cut divides the spans of a block so that each hit is a span. The present hit is also underlined.
func (h *hits) cut(spans []span) (out []span) {
	whole := textOf(spans)
	var found [][2]int
	for end := 0; h.find != nil && len(h.places) < MostHits; {
		from, to, ok := h.find(whole[end:])
		if !ok || to == 0 {
			break
		}
		found = append(found, [2]int{end + from, end + to})
		h.places = append(h.places, place{share: float32(end+from) / float32(len(whole))})
		end += to
	}
	if len(found) == 0 {
		return spans
	}
	first := len(h.places) - len(found)
	at, now := 0, 0
	for _, s := range spans {
		for rest := s.text; rest != ""; rest = rest[len(s.text):] {
			for now < len(found) && at >= found[now][1] {
				now++
			}
			s.text, s.isHit = rest, false
			if now < len(found) {
				s.isHit = at >= found[now][0]
				next := found[now][0]
				if s.isHit {
					next = found[now][1]
				}
				s.text = rest[:min(len(rest), next-at)]
			}
			at += len(s.text)
			piece := s
			if s.isHit {
				piece.color, piece.style.Underline = theme.ColorNameForeground, first+now == h.here
			}
			out = append(out, piece)
		}
	}
	return out
}

// placed records the block that has the hits since the last call.
func (h *hits) placed(block fyne.CanvasObject) {
	for i := len(h.places) - 1; i >= 0 && h.places[i].block == nil; i-- {
		h.places[i].block = block
	}
}

func textOf(spans []span) string {
	var out strings.Builder
	for _, s := range spans {
		out.WriteString(s.text)
	}
	return out.String()
}

// hasHit reports whether a span is marked.
func hasHit(spans []span) bool {
	return slices.ContainsFunc(spans, func(s span) bool { return s.isHit })
}

// paragraph returns a wrapped text: one that can be selected, unless it has several styles.
func (h *hits) paragraph(spans []span) fyne.CanvasObject {
	spans = h.cut(spans)
	if len(spans) == 1 && !spans[0].isHit {
		label := NewSelectText(spans[0].text)
		label.TextStyle = spans[0].style
		return label
	}
	if last := len(spans) - 1; last >= 0 && spans[last].style.Monospace { // Fyne 2.8.1 places the last word lower if its font differs from the first one's
		spans = append(spans, span{text: "\u200a"})
	}
	var segments []widget.RichTextSegment
	for _, s := range spans {
		style := widget.RichTextStyle{}
		if s.isHit {
			style = widget.RichTextStyleCodeInline // the only style that Fyne 2.8.1 gives a background
		}
		style.Inline = true
		style.TextStyle, style.ColorName = s.style, s.color
		segments = append(segments, &widget.TextSegment{Text: s.text, Style: style})
	}
	rich := widget.NewRichText(segments...)
	rich.Wrapping = fyne.TextWrapWord
	if !hasHit(spans) {
		return rich
	}
	marked := container.NewThemeOverride(rich, markTheme{})
	h.placed(marked)
	return marked
}

// markTheme is the application's theme, in which the background of code in a paragraph is that of a hit.
type markTheme struct{ Theme }

// Color returns the colour of the application's theme.
func (markTheme) Color(name fyne.ThemeColorName, _ fyne.ThemeVariant) color.Color {
	if name == theme.ColorNameInputBackground {
		name = ColorHit
	}
	return ThemeColor(name)
}

// Mark marks what find finds, and returns how many places that are; nil marks nothing. A text with hits is shown whole.
func (t *LongText) Mark(find Find) int {
	if find != nil && !mayHave(t.first+t.rest, find) {
		find = nil // the text need not be built again
	}
	t.hits.find, t.hits.here = find, -1
	t.draw()
	return len(t.hits.places)
}

// inWords removes the marks of Markdown that may stand in a word or between two, for mayHave.
var inWords = strings.NewReplacer("*", "", "_", "", "`", "", "~", "", "\\", "", "\n", " ", "\r", "")

// mayHave reports whether find may find something in a text once that is shown as Markdown.
func mayHave(source string, find Find) bool {
	_, _, ok := find(source)
	if !ok && !strings.ContainsAny(source, "&[<") { // what may be shown as another text
		_, _, ok = find(inWords.Replace(source))
		return ok
	}
	return true
}

// MarkHere marks one of the hits as the present one; a negative number marks none so.
func (t *LongText) MarkHere(hit int) {
	t.hits.here = hit
	t.draw()
}

// Hit returns where a hit is: in which block, and how far below its top.
func (t *LongText) Hit(hit int) (block fyne.CanvasObject, below float32) {
	at := t.hits.places[hit]
	return at.block, at.share * at.block.MinSize().Height // its size may be that of before the text was wrapped
}
