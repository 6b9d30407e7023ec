package widgets

import (
	"slices"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/canvas"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/layout"
	"fyne.io/fyne/v2/theme"
	"fyne.io/fyne/v2/widget"
)

// Layout is a fyne.Layout that is made of functions.
type Layout struct {
	Arrange func(objects []fyne.CanvasObject, size fyne.Size)
	Least   func(objects []fyne.CanvasObject) fyne.Size
}

// Layout arranges the objects.
func (l Layout) Layout(objects []fyne.CanvasObject, size fyne.Size) { l.Arrange(objects, size) }

// MinSize returns what Least returns.
func (l Layout) MinSize(objects []fyne.CanvasObject) fyne.Size { return l.Least(objects) }

// Pad puts space around o, in Fyne's units. A negative value lets o reach beyond its space.
func Pad(top, bottom, left, right float32, o ...fyne.CanvasObject) *fyne.Container {
	return container.New(layout.NewCustomPaddedLayout(top, bottom, left, right), o...)
}

// Inset aligns o with the text of a label.
func Inset(o fyne.CanvasObject) *fyne.Container { return Pad(0, 0, 6, 6, o) }

// Rows puts objects below one another, gap units apart.
func Rows(gap float32, o ...fyne.CanvasObject) *fyne.Container {
	return container.New(layout.NewCustomPaddedVBoxLayout(gap), o...)
}

// Columns puts objects beside one another, gap units apart.
func Columns(gap float32, o ...fyne.CanvasObject) *fyne.Container {
	return container.New(layout.NewCustomPaddedHBoxLayout(gap), o...)
}

// Border lays content out between the objects around it. It is Fyne's border container in reading order, which the Tab
// key follows. All but content may be nil.
func Border(top, left, right, content fyne.CanvasObject) *fyne.Container {
	c := container.New(layout.NewBorderLayout(top, nil, left, right))
	for _, o := range []fyne.CanvasObject{top, left, content, right} {
		if o != nil {
			c.Add(o)
		}
	}
	return c
}

// TopOf places o at the top of the space that it gets, at its own height.
func TopOf(top, bottom, left, right float32, o ...fyne.CanvasObject) *fyne.Container {
	return Pad(top, bottom, left, right, container.NewVBox(o...))
}

// PageWidth is the largest width of what is read or filled in on a page.
const PageWidth = 760

// Page returns a page that scrolls. Its content is at most PageWidth wide.
func Page(content fyne.CanvasObject) *container.Scroll {
	return container.NewVScroll(Pad(12, 16, 12, 12, Readable(content)))
}

// Footer returns the bar below a page, with what is always visible.
func Footer(content fyne.CanvasObject) *fyne.Container {
	return Rows(0, widget.NewSeparator(), Pad(8, 8, 12, 12, Readable(content)))
}

// Readable limits content to PageWidth and centres it, so that it stays readable in a wide window.
func Readable(content fyne.CanvasObject) *fyne.Container {
	return container.New(column(PageWidth, false), content)
}

// Widest limits content to width, at the left, and gives it the whole height.
func Widest(width float32, content fyne.CanvasObject) *fyne.Container {
	return container.New(Layout{func(_ []fyne.CanvasObject, size fyne.Size) {
		Place(content, 0, 0, min(size.Width, width), size.Height)
	}, func([]fyne.CanvasObject) fyne.Size { return content.MinSize() }}, content)
}

// Centred limits content to width, in the middle, and gives it the height below the margin of a page.
func Centred(width float32, content fyne.CanvasObject) *fyne.Container {
	return container.New(Layout{func(_ []fyne.CanvasObject, size fyne.Size) {
		w := min(size.Width-48, width)
		Place(content, (size.Width-w)/2, 12, w, size.Height-12)
	}, func([]fyne.CanvasObject) fyne.Size { return content.MinSize().AddWidthHeight(48, 12) }}, content)
}

// column centres objects and limits them to width; it also centres them vertically if isMiddle is set.
func column(width float32, isMiddle bool) Layout {
	return Layout{func(objects []fyne.CanvasObject, size fyne.Size) {
		for _, o := range objects {
			w := min(size.Width-24, width)
			h := WrapTo(o, w)
			y := float32(0)
			if isMiddle {
				y = max((size.Height-h)*0.42, 12)
			}
			o.Move(fyne.NewPos((size.Width-w)/2, y))
		}
	}, func(objects []fyne.CanvasObject) fyne.Size { return largest(objects).AddWidthHeight(24, 0) }}
}

// WrapTo makes o width wide and as high as it needs, and returns its height.
func WrapTo(o fyne.CanvasObject, width float32) float32 {
	o.Resize(fyne.NewSize(width, o.MinSize().Height))
	h := o.MinSize().Height // the height of a wrapped text is right only after its width was set
	o.Resize(fyne.NewSize(width, h))
	return h
}

// largest returns the largest width and height of the visible objects.
func largest(objects []fyne.CanvasObject) (s fyne.Size) {
	for _, o := range visible(objects) {
		s = s.Max(o.MinSize())
	}
	return s
}

// visible returns the objects that are not hidden.
func visible(objects []fyne.CanvasObject) []fyne.CanvasObject {
	return slices.DeleteFunc(slices.Clone(objects), func(o fyne.CanvasObject) bool { return !o.Visible() })
}

// Place moves and resizes o.
func Place(o fyne.CanvasObject, x, y, width, height float32) {
	o.Move(fyne.NewPos(x, y))
	o.Resize(fyne.NewSize(width, height))
}

const flowGap = 6

// Flow arranges objects from left to right, and in further rows when a row is full.
func Flow(o ...fyne.CanvasObject) *fyne.Container {
	rows := 1 // number of rows at the last layout
	return container.New(Layout{func(objects []fyne.CanvasObject, size fyne.Size) {
		x, y := float32(0), float32(0)
		rows = 1
		for _, o := range visible(objects) {
			s := o.MinSize()
			if x > 0 && x+s.Width > size.Width {
				x = 0
				y = y + s.Height + flowGap
				rows++
			}
			Place(o, x, y, s.Width, s.Height)
			x += s.Width + flowGap
		}
	}, func(objects []fyne.CanvasObject) fyne.Size {
		s := largest(objects)
		s.Height = s.Height*float32(rows) + flowGap*float32(rows-1)
		return s
	}}, o...)
}

// Narrow lets o become narrower than its text, which it then cuts.
func Narrow(o fyne.CanvasObject) *fyne.Container {
	return container.New(Layout{func(_ []fyne.CanvasObject, size fyne.Size) { Place(o, 0, 0, size.Width, size.Height) },
		func([]fyne.CanvasObject) fyne.Size { return fyne.NewSize(60, o.MinSize().Height) }}, o)
}

// NameWidth is the width of the column of names before fields.
const NameWidth = 104

// Named arranges a name to the left of a field.
func Named(name string, field fyne.CanvasObject) *fyne.Container {
	return Beside(NameWidth, newName(name), field)
}

// longNameWidth is the width of the column for names that are sentences.
const longNameWidth = 220

// leastNamed and leastFact are the widths from which a long name, and the value of a fact, have room beside one another.
const leastNamed, leastFact = 440, 360

// NamedLong arranges a long name to the left of a field, or above it where there is little room.
func NamedLong(name string, field fyne.CanvasObject) *fyne.Container {
	return container.New(orBelow(beside(0, longNameWidth, besidePad, 0), leastNamed, besidePad, 0), newName(name), field)
}

// orBelow arranges two objects as wide does, or the second below the first where there is less room than least: indent units from the edges, and overlap units
// higher than the end of the first.
func orBelow(wide Layout, least, indent, overlap float32) Layout {
	isNarrow := false
	return Layout{func(o []fyne.CanvasObject, size fyne.Size) {
		isNarrow = size.Width < least
		if !isNarrow {
			wide.Arrange(o, size)
			return
		}
		height := o[0].MinSize().Height
		Place(o[0], 0, 0, size.Width, height)
		Place(o[1], indent, height-overlap, size.Width-2*indent, size.Height-height+overlap)
	}, func(o []fyne.CanvasObject) fyne.Size {
		first, second := o[0].MinSize(), o[1].MinSize()
		if isNarrow {
			return fyne.NewSize(max(first.Width, second.Width), first.Height+second.Height-overlap)
		}
		return wide.Least(o)
	}}
}

func newName(text string) *widget.Label {
	l := widget.NewLabel(text)
	l.Importance = widget.LowImportance
	return l
}

const besidePad = 6 // space at the right, as in Fyne's labels

// Beside arranges second to the right of first, which gets a column of width units.
func Beside(width float32, first, second fyne.CanvasObject) *fyne.Container {
	return container.New(beside(0, width, besidePad, 0), first, second)
}

// Fact shows the name of a fact beside its value, which may wrap, or above it where there is little room. A further value of a fact has no name, and no line for one.
func Fact(name string, value fyne.CanvasObject) *fyne.Container {
	var label fyne.CanvasObject = newName(name)
	if name == "" {
		label = container.NewStack()
	}
	return container.New(orBelow(beside(4, NameWidth, 0, 5), leastFact, 0, 8), label, value)
}

// beside arranges two objects side by side: the first in a column of width units, with left and right units of space
// at the edges. The row is overlap units lower than the objects.
func beside(left, width, right, overlap float32) Layout {
	return Layout{func(objects []fyne.CanvasObject, size fyne.Size) {
		Place(objects[0], left, 0, width, objects[0].MinSize().Height)
		Place(objects[1], left+width, 0, size.Width-left-width-right, size.Height)
	}, func(objects []fyne.CanvasObject) fyne.Size {
		first, second := objects[0].MinSize(), objects[1].MinSize()
		return fyne.NewSize(left+width+second.Width+right, max(first.Height, second.Height)-overlap)
	}}
}

// NewLabel returns the label above a field of a form.
func NewLabel(text string) fyne.CanvasObject { return Pad(12, 2, 6, 6, NewTitle(text)) }

// NewHeading returns the title of a section, above a rule.
func NewHeading(text string) fyne.CanvasObject {
	return Pad(14, 3, 6, 6, Rows(4, NewTitle(text), widget.NewSeparator()))
}

// NewPanel puts content on a tinted background with round corners, with space around it.
func NewPanel(top, bottom, left, right float32, content fyne.CanvasObject) *fyne.Container {
	return container.NewStack(NewBackground(ColorPanel, theme.ColorNameSeparator), Pad(top, bottom, left, right, content))
}

// Background is a rectangle with round corners in a colour of the theme.
type Background struct {
	widget.BaseWidget
	fill, stroke fyne.ThemeColorName
}

// NewBackground returns a rectangle in the colour fill, with a line around it unless stroke is empty.
func NewBackground(fill, stroke fyne.ThemeColorName) *Background {
	b := &Background{fill: fill, stroke: stroke}
	b.ExtendBaseWidget(b)
	return b
}

// CreateRenderer implements fyne.Widget.
func (b *Background) CreateRenderer() fyne.WidgetRenderer {
	back := canvas.NewRectangle(nil)
	back.CornerRadius = 6
	r := &Renderer{Widget: b, Parts: []fyne.CanvasObject{back}, Min: func() fyne.Size { return fyne.Size{} }, Arrange: back.Resize}
	r.Update = func() {
		back.FillColor = ThemeColor(b.fill)
		if b.stroke != "" {
			back.StrokeWidth, back.StrokeColor = 1, ThemeColor(b.stroke)
		}
	}
	r.Refresh()
	return r
}

// Quote shows the output of a program on a panel.
func Quote(text string) fyne.CanvasObject { return Inset(NewPanel(3, 3, 6, 6, NewCode(text))) }

// Inline arranges objects side by side. Each is as wide as it needs while there is room, and the last one is cut to the
// rest. Its minimum width is small.
func Inline(o ...fyne.CanvasObject) *fyne.Container {
	return container.New(Layout{func(objects []fyne.CanvasObject, size fyne.Size) {
		x := float32(0)
		for _, o := range objects {
			w := min(o.MinSize().Width, max(size.Width-x, 0))
			Place(o, x, 0, w, size.Height)
			x += w
		}
	}, func(objects []fyne.CanvasObject) fyne.Size { return fyne.NewSize(60, largest(objects).Height) }}, o...)
}

const (
	cellGap   = 8
	leastCell = 110 // the smallest width of the first cell
)

// Cells arranges objects as the cells of a row. widths are the widths of all cells but the first, which gets the
// rest. If there is too little space, the cells with the numbers spare are left out, in this order.
func Cells(widths []float32, spare []int, o ...fyne.CanvasObject) *fyne.Container {
	return container.New(Layout{func(objects []fyne.CanvasObject, size fyne.Size) {
		rest, left := size.Width, 0 // left is how many of the spare cells are left out
		for _, w := range widths {
			rest -= w + cellGap
		}
		for ; rest < leastCell && left < len(spare); left++ {
			rest += widths[spare[left]-1] + cellGap
		}
		x := float32(0)
		for i, o := range objects {
			SetVisible(o, !slices.Contains(spare[:left], i))
			w := max(rest, 20)
			if i > 0 {
				w = widths[i-1]
			}
			if o.Visible() {
				Place(o, x, 0, w, size.Height)
				x += w + cellGap
			}
		}
	}, func(objects []fyne.CanvasObject) fyne.Size { return fyne.NewSize(200, largest(objects).Height) }}, o...)
}

// SetVisible shows or hides o.
func SetVisible(o fyne.CanvasObject, on bool) {
	switch {
	case on == o.Visible():
	case on:
		o.Show()
	default:
		o.Hide()
	}
}

// Renderer is a fyne.WidgetRenderer that is made of functions. CreateRenderer must call its Refresh.
type Renderer struct {
	Widget  fyne.Widget
	Parts   []fyne.CanvasObject
	Min     func() fyne.Size
	Arrange func(fyne.Size)
	Update  func() // sets the parts' colours and contents to the current ones of the widget
}

// MinSize returns what Min returns.
func (r *Renderer) MinSize() fyne.Size { return r.Min() }

// Objects returns the parts.
func (r *Renderer) Objects() []fyne.CanvasObject { return r.Parts }

// Destroy does nothing.
func (r *Renderer) Destroy() {}

// Layout arranges the parts.
func (r *Renderer) Layout(size fyne.Size) { r.Arrange(size) }

// Refresh updates, arranges and redraws the parts.
func (r *Renderer) Refresh() {
	r.Update()
	r.Arrange(r.Widget.Size())
	for _, o := range r.Parts {
		o.Refresh()
	}
}
