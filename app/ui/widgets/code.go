package widgets

import (
	"slices"
	"strings"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/canvas"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/theme"
	"fyne.io/fyne/v2/widget"

	"rollcall/app/codetext"
)

// Code shows texts of any length whole, in a fixed-width font, with long lines wrapped, and is as high as they are. What contains it scrolls, and calls SetSight.
// Code draws only the rows that are in sight, and prepares long texts on another goroutine. A row is never clipped: a row that is wider than expected gets
// a smaller font size.
type Code struct {
	Content *fyne.Container
	// Changed is called when the height or a result of IsReady, IsEndSeen or Visible may have changed; it may be nil.
	Changed func()

	host     *Host
	parts    func() []codetext.Part
	size     int // size of the texts in bytes
	columns  int // number of columns of the rows, or of those that are being prepared
	latest   int // number of the last preparation
	rows     []codeRow
	ready    bool
	drawn    *codeRows
	endShown bool    // the user has seen the last row
	height   float32 // of the content at the last layout
	from, to float32 // what is in sight, in the coordinates of Content
}

// codeRow is one line on the screen.
type codeRow struct {
	text    string
	isTitle bool
	sign    byte // "+" or "-" in a line of a diff
}

const (
	codeRowHeight = 17
	codePad       = 8
	// quickCode is the size in bytes up to which texts are prepared on the calling goroutine.
	quickCode = 8 << 10
)

// NewCode returns an empty view.
func (h *Host) NewCode() *Code {
	c := &Code{host: h, ready: true}
	c.drawn = &codeRows{code: c}
	c.drawn.ExtendBaseWidget(c.drawn)
	c.Content = container.New(Layout{func(_ []fyne.CanvasObject, size fyne.Size) {
		c.resized(size.Width)
		Place(c.Content.Objects[0], 0, 0, size.Width, size.Height)
	}, func([]fyne.CanvasObject) fyne.Size { return fyne.NewSize(100, c.tall()) }}, c.drawn)
	return c
}

// tall returns the height of the texts.
func (c *Code) tall() float32 { return c.Content.Objects[0].MinSize().Height }

// Set shows other texts, each below its title in another font. parts is called on another goroutine if size, their size in bytes, is large. A text in Markdown is
// shown as such, unless that would leave out a part of it.
func (c *Code) Set(size int, parts func() []codetext.Part) {
	c.size = size
	c.parts = parts
	c.endShown = false
	c.from, c.to = 0, 0
	c.prepare()
}

// IsReady reports whether the texts are shown. While a long text is being prepared, the view shows no part of it.
func (c *Code) IsReady() bool { return c.ready }

// Rows returns the number of rows, or of so many rows as are as high as Markdown.
func (c *Code) Rows() int { return int((c.tall() - 2*codePad) / codeRowHeight) }

// Visible returns the number of rows for which there is room at the same time.
func (c *Code) Visible() int { return int((c.to - c.from) / codeRowHeight) }

// IsEndSeen reports whether the last row is in sight, or was since Set.
func (c *Code) IsEndSeen() bool { return c.endShown }

// All returns all rows.
func (c *Code) All() (texts []string) {
	for _, r := range c.rows {
		texts = append(texts, r.text)
	}
	return texts
}

// SetSight sets which part of the height is in sight.
func (c *Code) SetSight(from, to float32) {
	moved := from != c.from || to != c.to
	room := c.Visible()
	c.from, c.to = from, to
	if moved {
		c.drawn.Refresh()
	}
	if c.noteEnd() || room != c.Visible() {
		Call(c.Changed)
	}
}

// noteEnd records that the end is in sight, and reports whether it came in sight.
func (c *Code) noteEnd() bool {
	end := c.tall() - codePad
	if c.endShown || !c.ready || len(c.rows) == 0 || c.from >= end || c.to < end {
		return false
	}
	c.endShown = true
	return true
}

// visible returns which rows are in sight.
func (c *Code) visible() (first, last int) {
	first = max(int((c.from-codePad)/codeRowHeight), 0)
	last = int((c.to-codePad)/codeRowHeight) + 1
	return min(first, len(c.rows)), min(max(last, 0), len(c.rows))
}

// prepare wraps the texts for the present width.
func (c *Code) prepare() {
	if c.parts == nil || c.columns == 0 {
		return
	}
	c.latest++
	number := c.latest
	columns := c.columns
	parts := c.parts
	if c.size <= quickCode {
		list := parts()
		c.take(list, wrapParts(list, columns))
		return
	}
	c.ready = false
	c.rows = []codeRow{{text: "Preparing the text…", isTitle: true}}
	c.show(c.drawn)
	go func() {
		list := parts()
		rows := wrapParts(list, columns)
		c.host.Post(func() {
			if number == c.latest {
				c.take(list, rows)
			}
		})
	}()
}

func (c *Code) take(parts []codetext.Part, rows []codeRow) {
	c.rows = rows
	c.ready = true
	c.show(c.drawn)
	if o := c.host.rendered(parts); o != nil {
		c.show(o)
	}
	Call(c.Changed)
}

func (c *Code) show(o fyne.CanvasObject) {
	c.Content.Objects = []fyne.CanvasObject{o}
	o.Resize(c.Content.Size())
	o.Refresh()
	canvas.Refresh(c.Content)
}

// resized wraps the texts again if another number of letters fits.
func (c *Code) resized(width float32) {
	letter := fyne.MeasureText("M", TextSize(theme.SizeNameText), fyne.TextStyle{Monospace: true}).Width
	columns := max(int((width-2*codePad)/letter), 8)
	if columns != c.columns {
		c.columns = columns
		c.prepare()
	}
	if height := c.tall(); height != c.height {
		c.height = height
		c.host.Post(func() { Call(c.Changed) }) // after the layout that goes on
	}
}

// mostMarkdown is the size in bytes up to which a text is shown as Markdown, and mostWord that of its longest word: Fyne lays out a longer one in a time
// that grows with the square of its length.
const mostMarkdown, mostWord = 32 << 10, 500

// rendered returns parts of which one is Markdown as a person reads them; nil: none is, or it can't be shown whole.
func (h *Host) rendered(parts []codetext.Part) fyne.CanvasObject {
	rows, has := Rows(-6), false
	for _, p := range parts {
		if p.Title != "" {
			rows.Add(Pad(6, 4, 6, 6, NewCaption(p.Title)))
		}
		if !p.Markdown {
			rows.Add(NewCode(p.Text))
			continue
		}
		if len(p.Text) > mostMarkdown || slices.ContainsFunc(strings.Fields(p.Text), func(word string) bool { return len(word) > mostWord }) {
			return nil
		}
		blocks, isWhole := h.markdown(p.Text, &hits{})
		if !isWhole {
			return nil
		}
		rows.Objects, has = append(rows.Objects, blocks...), true
	}
	if !has {
		return nil
	}
	return Pad(2, codePad, 2, codePad, rows)
}

// codeRows draws the visible rows.
type codeRows struct {
	widget.BaseWidget
	code *Code
}

// CreateRenderer implements fyne.Widget. The renderer has one text object per visible row, and uses it for another row when the user scrolls.
func (w *codeRows) CreateRenderer() fyne.WidgetRenderer {
	r := &Renderer{Widget: w, Update: func() { canvas.Refresh(w) }}
	r.Min = func() fyne.Size { return fyne.NewSize(40, float32(len(w.code.rows))*codeRowHeight+2*codePad) }
	var texts []*canvas.Text
	r.Arrange = func(size fyne.Size) {
		first, last := w.code.visible()
		for len(texts) < last-first {
			texts = append(texts, canvas.NewText("", nil))
		}
		r.Parts = r.Parts[:0]
		for i, row := range w.code.rows[first:last] {
			row.draw(texts[i], codePad+float32(first+i)*codeRowHeight, size.Width-2*codePad)
			r.Parts = append(r.Parts, texts[i])
		}
	}
	r.Refresh()
	return r
}

// signColors are the colours of the lines of a diff.
var signColors = map[byte]fyne.ThemeColorName{'+': ColorGood, '-': ColorBad}

// draw shows the row in t.
func (r codeRow) draw(t *canvas.Text, y, width float32) {
	t.Text = r.text
	t.TextStyle = fyne.TextStyle{Monospace: !r.isTitle, Bold: r.isTitle}
	t.TextSize = TextSize(theme.SizeNameText)
	t.Color = ThemeColor(theme.ColorNameForeground)
	if r.isTitle {
		t.TextSize, t.Color = TextSize(theme.SizeNameCaptionText), ThemeColor(ColorMuted)
	}
	if color, ok := signColors[r.sign]; ok {
		t.Color = ThemeColor(color)
	}
	if wide := fyne.MeasureText(t.Text, t.TextSize, t.TextStyle).Width; wide > width && width > 0 {
		t.TextSize *= width / wide
	}
	Place(t, codePad, y, max(width, 0), codeRowHeight)
	t.Refresh() // Fyne does not redraw a text whose size alone has changed
}

// wrapParts returns the rows of parts, of at most columns letters each.
func wrapParts(parts []codetext.Part, columns int) (rows []codeRow) {
	for i, p := range parts {
		if p.Title != "" {
			if i > 0 {
				rows = append(rows, codeRow{isTitle: true})
			}
			rows = append(rows, codeRow{text: p.Title, isTitle: true})
		}
		for line := range strings.SplitSeq(p.Text, "\n") {
			row := codeRow{}
			if p.Diff && line != "" {
				row.sign = line[0]
			}
			for _, row.text = range codetext.Wrap(line, columns) {
				rows = append(rows, row)
			}
		}
	}
	return rows
}
