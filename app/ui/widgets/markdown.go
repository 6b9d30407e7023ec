package widgets

import (
	"fmt"
	"strings"
	"unicode"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/theme"
	"fyne.io/fyne/v2/widget"
	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	table "github.com/yuin/goldmark/extension/ast"
	"github.com/yuin/goldmark/text"
)

// parser knows the tables of GitHub. It never reads what a text refers to. Fyne 2.8.1's own reader of Markdown leaves out HTML, reads images, panics at a task in
// bold letters, and what it shows can't be selected.
var parser = goldmark.New(goldmark.WithExtensions(extension.Table, extension.Strikethrough, extension.TaskList)).Parser()

// NewMarkdown shows a cleaned text of an agent, and rest on demand unless it is empty: headings, paragraphs, lists, quotes and the cells of tables wrap, code is in a
// fixed-width font and scrolls sideways. Links are shown with their address and cannot be followed; images are shown as their description. resized is called when
// the height may have changed.
func (h *Host) NewMarkdown(first, rest string, resized func()) *LongText {
	content := Rows(-7)
	return h.newLongText(content, func(source string, found *hits) {
		content.Objects, _ = h.markdown(source, found)
		content.Refresh()
	}, first, rest, resized)
}

// markdown returns the rows that show a text. isWhole reports that they show all letters of it: a Markdown reader leaves out, for example, the targets
// of images and the cells of a table that no column has.
func (h *Host) markdown(source string, found *hits) (rows []fyne.CanvasObject, isWhole bool) {
	b := markdownRows{host: h, source: []byte(source), shown: &strings.Builder{}, hits: found}
	b.blocks(parser.Parse(text.NewReader(b.source)), 0)
	return b.rows, letters(b.shown.String()) == letters(source)
}

// letters returns the letters of a text.
func letters(text string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsLetter(r) {
			return r
		}
		return -1
	}, text)
}

// markdownRows builds the rows of a text.
type markdownRows struct {
	host   *Host
	source []byte
	rows   []fyne.CanvasObject
	shown  *strings.Builder // collects the texts of the rows
	hits   *hits            // marks what the user searches for
}

const (
	listIndent = 18
	// mostNested is the depth up to which lists and quotes are indented.
	mostNested = 6
)

func (b *markdownRows) blocks(parent ast.Node, depth int) {
	number := 0
	if list, ok := parent.(*ast.List); ok {
		number = list.Start
	}
	for n := parent.FirstChild(); n != nil; n = n.NextSibling() {
		switch n := n.(type) {
		case *ast.Heading:
			b.add(depth, b.words(n, fyne.TextStyle{Bold: true}))
		case *ast.Paragraph, *ast.TextBlock:
			b.add(depth, b.words(n, fyne.TextStyle{}))
		case *ast.List:
			b.blocks(n, depth)
		case *ast.ListItem:
			mark := "•"
			if list := n.Parent().(*ast.List); list.IsOrdered() {
				mark = fmt.Sprintf("%d.", number)
				number++
			}
			b.item(mark, n, depth)
		case *ast.Blockquote:
			inner := b.inner(n)
			b.add(depth, quote(inner.rows))
		case *ast.FencedCodeBlock:
			language := ""
			if n.Info != nil {
				language = string(n.Info.Value(b.source))
			}
			b.code(language, string(n.Lines().Value(b.source)), depth)
		case *ast.CodeBlock, *ast.HTMLBlock:
			b.code("", string(n.Lines().Value(b.source)), depth)
		case *ast.ThematicBreak:
			b.add(depth, Pad(9, 9, 6, 6, widget.NewSeparator()))
		case *table.Table:
			b.table(n, depth)
		}
	}
}

// item adds an item of a list: the mark beside its first block.
func (b *markdownRows) item(mark string, item ast.Node, depth int) {
	inner := b.inner(item)
	if len(inner.rows) == 0 {
		return
	}
	sign := fyne.CanvasObject(widget.NewLabel(mark))
	if box := taskOf(item); box != nil {
		icon := theme.CheckButtonIcon()
		if box.IsChecked {
			icon = theme.CheckButtonCheckedIcon()
			b.note("x")
		}
		sign = TopOf(5, 0, 0, 0, NewImage(icon, 16))
	}
	b.add(depth, container.New(beside(0, listIndent+float32(len(mark)-1)*3, 0, 0), sign, Rows(-7, inner.rows...)))
}

// taskOf returns the box at the beginning of an item; nil: it has none.
func taskOf(item ast.Node) *table.TaskCheckBox {
	if first := item.FirstChild(); first != nil {
		box, _ := first.FirstChild().(*table.TaskCheckBox)
		return box
	}
	return nil
}

// inner returns the rows of what is in n.
func (b *markdownRows) inner(n ast.Node) *markdownRows {
	inner := &markdownRows{host: b.host, source: b.source, shown: b.shown, hits: b.hits}
	inner.blocks(n, 0)
	return inner
}

// quote shows rows beside a bar.
func quote(rows []fyne.CanvasObject) fyne.CanvasObject {
	return container.New(Layout{func(o []fyne.CanvasObject, size fyne.Size) {
		Place(o[0], 7, 4, 3, size.Height-8)
		Place(o[1], listIndent-2, 0, size.Width-listIndent+2, size.Height)
	}, func(o []fyne.CanvasObject) fyne.Size { return o[1].MinSize().AddWidthHeight(listIndent, 0) }}, NewBackground(ColorTrack, ""), Rows(-7, rows...))
}

func (b *markdownRows) add(depth int, o fyne.CanvasObject) {
	if depth > 0 {
		o = Pad(0, 0, float32(min(depth, mostNested))*listIndent, 0, o)
	}
	b.rows = append(b.rows, o)
}

// code adds a text in a fixed-width font that scrolls sideways, below the name of its language.
func (b *markdownRows) code(language, source string, depth int) {
	rows := Rows(0)
	if language != "" {
		rows.Add(Pad(0, 2, 2, 2, NewCaption(b.note(language))))
	}
	source = b.note(strings.TrimRight(source, "\n"))
	var block fyne.CanvasObject
	if lines := b.hits.code(language, source); lines != nil {
		block = Pad(6, 6, 6, 6, b.host.newColoredCode(source, lines))
	} else {
		label := NewSelectText(source)
		label.TextStyle.Monospace, label.Wrapping = true, fyne.TextWrapOff
		block = label
	}
	b.hits.placed(block)
	rows.Add(NewPanel(0, 0, 2, 2, b.host.NewSideways(block)))
	b.add(depth, Pad(6, 8, 6, 6, rows))
}

// note returns a text that is shown, and collects it.
func (b *markdownRows) note(text string) string {
	b.shown.WriteString(text)
	return text
}

// table adds a table.
func (b *markdownRows) table(n *table.Table, depth int) {
	var rows [][]fyne.CanvasObject
	for row := n.FirstChild(); row != nil; row = row.NextSibling() {
		_, isHead := row.(*table.TableHeader)
		var cells []fyne.CanvasObject
		for cell := row.FirstChild(); cell != nil; cell = cell.NextSibling() {
			cells = append(cells, b.words(cell, fyne.TextStyle{Bold: isHead}))
		}
		rows = append(rows, cells)
	}
	b.add(depth, Pad(6, 8, 6, 6, NewPanel(0, 0, 2, 2, b.host.NewSideways(newTable(rows)))))
}

// words returns a paragraph.
func (b *markdownRows) words(n ast.Node, style fyne.TextStyle) fyne.CanvasObject {
	spans := b.spans(n, span{style: style, color: theme.ColorNameForeground})
	b.note(textOf(spans))
	return b.hits.paragraph(spans)
}

// text returns a text with the break that ends its line.
func (b *markdownRows) text(n *ast.Text) string {
	text := string(n.Value(b.source))
	switch {
	case n.HardLineBreak():
		text += "\n"
	case n.SoftLineBreak():
		text += " "
	}
	return text
}

// spans returns the pieces of what is below a node, in the style of like. Neighbours of one style are one piece.
func (b *markdownRows) spans(n ast.Node, like span) (out []span) {
	add := func(more ...span) {
		for _, s := range more {
			if last := len(out) - 1; last >= 0 && out[last].style == s.style && out[last].color == s.color {
				out[last].text += s.text
			} else if s.text != "" {
				out = append(out, s)
			}
		}
	}
	put := func(text string, color fyne.ThemeColorName) { add(span{text: text, style: like.style, color: color}) }
	for c := n.FirstChild(); c != nil; c = c.NextSibling() {
		inner := like
		switch c := c.(type) {
		case *ast.Text:
			put(b.text(c), like.color)
		case *ast.String:
			put(string(c.Value), like.color)
		case *ast.CodeSpan:
			inner.style = fyne.TextStyle{Monospace: true, Bold: like.style.Bold}
			add(b.spans(c, inner)...)
		case *ast.Emphasis:
			inner.style.Bold, inner.style.Italic = like.style.Bold || c.Level > 1, like.style.Italic || c.Level == 1
			add(b.spans(c, inner)...)
		case *ast.Link:
			add(b.spans(c, like)...)
			put(" ("+string(c.Destination)+")", ColorMuted)
		case *ast.AutoLink:
			put(string(c.URL(b.source)), like.color)
		case *ast.Image:
			put("[image: "+textOf(b.spans(c, like))+"]", ColorMuted)
		case *ast.RawHTML:
			put(string(c.Segments.Value(b.source)), like.color)
		default:
			add(b.spans(c, like)...)
		}
	}
	return out
}
