package widgets

import (
	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/canvas"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/layout"
	"fyne.io/fyne/v2/theme"
	"fyne.io/fyne/v2/widget"
)

// Pad puts space around o, in Fyne's units. A negative value lets o reach beyond its room.
func Pad(top, bottom, left, right float32, o ...fyne.CanvasObject) *fyne.Container {
	return container.New(layout.NewCustomPaddedLayout(top, bottom, left, right), o...)
}

// Inset moves o to where the text of a label begins and ends.
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

// TopOf keeps o at the top of its room, at its own height.
func TopOf(top, bottom, left, right float32, o ...fyne.CanvasObject) *fyne.Container {
	return Pad(top, bottom, left, right, container.NewVBox(o...))
}

// Page returns a page that scrolls. Its content is at most width wide.
func Page(width float32, content fyne.CanvasObject) *container.Scroll {
	return container.NewVScroll(Pad(12, 16, 12, 12, Readable(width, content)))
}

// Readable keeps content readable in a wide window: it is at most width wide, and in the middle.
func Readable(width float32, content fyne.CanvasObject) *fyne.Container {
	return container.New(&column{width: width}, content)
}

// column lays objects out at most width wide, in the middle; also in the middle of the height if isMiddle is set.
type column struct {
	width    float32
	isMiddle bool
}

// Layout implements fyne.Layout.
func (c *column) Layout(objects []fyne.CanvasObject, size fyne.Size) {
	for _, o := range objects {
		w := min(size.Width-24, c.width)
		h := wrapTo(o, w)
		y := float32(0)
		if c.isMiddle {
			y = max((size.Height-h)*0.42, 12)
		}
		o.Move(fyne.NewPos((size.Width-w)/2, y))
	}
}

// MinSize implements fyne.Layout.
func (c *column) MinSize(objects []fyne.CanvasObject) fyne.Size {
	return largest(objects).AddWidthHeight(24, 0)
}

// wrapTo makes o width wide and as high as it needs, and returns its height.
func wrapTo(o fyne.CanvasObject, width float32) float32 {
	o.Resize(fyne.NewSize(width, o.MinSize().Height))
	h := o.MinSize().Height // a wrapped text knows its height only once it knows its width
	o.Resize(fyne.NewSize(width, h))
	return h
}

// largest returns the largest width and height of the visible objects.
func largest(objects []fyne.CanvasObject) fyne.Size {
	var s fyne.Size
	for _, o := range objects {
		if o.Visible() {
			s = s.Max(o.MinSize())
		}
	}
	return s
}

// Flow puts objects into rows, as many as the width needs.
func Flow(o ...fyne.CanvasObject) *fyne.Container { return container.New(&flow{rows: 1}, o...) }

type flow struct {
	rows int // at the last layout
}

const flowGap = 6

// Layout implements fyne.Layout.
func (f *flow) Layout(objects []fyne.CanvasObject, size fyne.Size) {
	x, y, rows := float32(0), float32(0), 1
	for _, o := range objects {
		if !o.Visible() {
			continue
		}
		s := o.MinSize()
		if x > 0 && x+s.Width > size.Width {
			x, y, rows = 0, y+s.Height+flowGap, rows+1
		}
		place(o, x, y, s.Width, s.Height)
		x += s.Width + flowGap
	}
	f.rows = rows
}

// MinSize implements fyne.Layout.
func (f *flow) MinSize(objects []fyne.CanvasObject) fyne.Size {
	s := largest(objects)
	s.Height = s.Height*float32(f.rows) + flowGap*float32(f.rows-1)
	return s
}

// trailing lays buttons out in a row that ends at the right.
type trailing struct{}

// Layout implements fyne.Layout.
func (trailing) Layout(objects []fyne.CanvasObject, size fyne.Size) {
	x := size.Width
	for i := len(objects) - 1; i >= 0; i-- {
		if objects[i].Visible() {
			w := objects[i].MinSize().Width
			place(objects[i], x-w, 0, w, size.Height)
			x -= w + flowGap
		}
	}
}

// MinSize implements fyne.Layout.
func (trailing) MinSize(objects []fyne.CanvasObject) fyne.Size {
	width := float32(0)
	for _, o := range objects {
		if o.Visible() {
			width += o.MinSize().Width + flowGap
		}
	}
	return fyne.NewSize(max(width-flowGap, 0), largest(objects).Height)
}

// MinHeight gives content the whole room, which is at least height high.
func MinHeight(height float32, content fyne.CanvasObject) *fyne.Container {
	return container.New(minHeight(height), content)
}

type minHeight float32

// Layout implements fyne.Layout.
func (minHeight) Layout(objects []fyne.CanvasObject, size fyne.Size) {
	for _, o := range objects {
		place(o, 0, 0, size.Width, size.Height)
	}
}

// MinSize implements fyne.Layout.
func (h minHeight) MinSize([]fyne.CanvasObject) fyne.Size { return fyne.NewSize(200, float32(h)) }

// NameWidth is the width of the column of names before fields.
const NameWidth = 104

// Named puts a name before a field.
func Named(name string, field fyne.CanvasObject) *fyne.Container {
	return Beside(NameWidth, newName(name), field)
}

// longNameWidth is the width of the column of names that are sentences.
const longNameWidth = 220

// NamedLong puts a long name before a field. Where there is no room for both, the field is narrow.
func NamedLong(name string, field fyne.CanvasObject) *fyne.Container {
	return Beside(longNameWidth, newName(name), field)
}

func newName(text string) *widget.Label {
	l := widget.NewLabel(text)
	l.Importance = widget.LowImportance
	return l
}

// Beside puts second behind first, which gets a column of that width.
func Beside(width float32, first, second fyne.CanvasObject) *fyne.Container {
	return container.New(beside(width), first, second)
}

type beside float32

const besidePad = 6 // at the right, as labels have it

// Fact shows the name of a fact beside its value, which may wrap.
func Fact(name string, value fyne.CanvasObject) *fyne.Container {
	return container.New(fact{}, newName(name), value)
}

type fact struct{}

// Layout implements fyne.Layout.
func (fact) Layout(objects []fyne.CanvasObject, size fyne.Size) {
	place(objects[0], 4, 0, NameWidth, objects[0].MinSize().Height)
	place(objects[1], 4+NameWidth, 0, size.Width-NameWidth-4, size.Height)
}

// MinSize implements fyne.Layout.
func (fact) MinSize(objects []fyne.CanvasObject) fyne.Size {
	v := objects[1].MinSize()
	return fyne.NewSize(NameWidth+v.Width, max(objects[0].MinSize().Height, v.Height)-5)
}

// Layout implements fyne.Layout.
func (b beside) Layout(objects []fyne.CanvasObject, size fyne.Size) {
	width := float32(b)
	place(objects[0], 0, 0, width, objects[0].MinSize().Height)
	place(objects[1], width, 0, size.Width-width-besidePad, size.Height)
}

// MinSize implements fyne.Layout.
func (b beside) MinSize(objects []fyne.CanvasObject) fyne.Size {
	first, second := objects[0].MinSize(), objects[1].MinSize()
	return fyne.NewSize(float32(b)+second.Width+besidePad, max(first.Height, second.Height))
}

// NewLabel returns the label above a field of a form.
func NewLabel(text string) fyne.CanvasObject { return Pad(12, 2, 6, 6, NewTitle(text)) }

// NewHeading returns the title of a section, above a rule.
func NewHeading(text string) fyne.CanvasObject {
	return Pad(14, 3, 10, 6, Rows(4, NewTitle(text), widget.NewSeparator()))
}

// NewPanel puts content on a tinted background with round corners, with space around it.
func NewPanel(top, bottom, left, right float32, content fyne.CanvasObject) *fyne.Container {
	b := &background{}
	b.ExtendBaseWidget(b)
	return container.NewStack(b, Pad(top, bottom, left, right, content))
}

// background is the tinted rectangle behind a panel.
type background struct{ widget.BaseWidget }

// CreateRenderer implements fyne.Widget.
func (b *background) CreateRenderer() fyne.WidgetRenderer {
	back := newRectangle(8)
	back.StrokeWidth = 1
	r := &Renderer{Widget: b, Parts: []fyne.CanvasObject{back}, Min: func() fyne.Size { return fyne.Size{} }, Arrange: back.Resize}
	r.Update = func() {
		back.FillColor, back.StrokeColor = ThemeColor(ColorPanel), ThemeColor(theme.ColorNameSeparator)
	}
	r.Refresh()
	return r
}

// Quote shows the output of a program on a panel.
func Quote(text string) fyne.CanvasObject { return Inset(NewPanel(3, 3, 6, 6, NewCode(text))) }

// NewMessage fills an otherwise empty page with a message, its reason, and what the user can do. sign is an image
// above it, or nil.
func NewMessage(sign fyne.CanvasObject, title, text string, actions ...fyne.CanvasObject) fyne.CanvasObject {
	box := Rows(4)
	if sign != nil {
		box.Add(container.NewCenter(sign))
	}
	headline, body := Headline(title), Hint(text)
	headline.Alignment, body.Alignment = fyne.TextAlignCenter, fyne.TextAlignCenter
	box.Add(headline)
	box.Add(body)
	if len(actions) > 0 {
		box.Add(Pad(8, 0, 0, 0, container.NewCenter(container.NewHBox(actions...))))
	}
	return container.NewVScroll(container.New(&column{width: 420, isMiddle: true}, box))
}

// Sentence returns a text that can be selected, behind an icon.
func Sentence(icon string, color fyne.ThemeColorName, text string) *fyne.Container {
	return Border(nil, TopOf(8, 0, 6, 0, NewImage(NewIcon(icon, color), 16)), nil, Pad(0, 0, -2, 0, NewSelectText(text)))
}

// Success returns a sentence about something that worked.
func Success(text string) *fyne.Container { return Sentence("done", ColorGood, text) }

// Warning returns a sentence that the user should read before going on.
func Warning(text string) *fyne.Container { return Sentence("waiting", ColorWaiting, text) }

// Failure returns a sentence about something that failed.
func Failure(text string) *fyne.Container { return Sentence("failed", ColorBad, text) }

// Banner is a warning above other content. It is hidden while it has no text.
type Banner struct {
	Content *fyne.Container
	text    *widget.Label
}

// NewBanner returns a hidden banner.
func NewBanner(icon string, actions ...fyne.CanvasObject) *Banner {
	b := &Banner{text: Paragraph("", widget.MediumImportance)}
	var right fyne.CanvasObject
	if len(actions) > 0 {
		right = TopOf(3, 3, 0, 4, actions...)
	}
	b.Content = NewPanel(0, 0, 0, 0, Border(nil, TopOf(9, 0, 10, 0, NewImage(NewIcon(icon, ColorWaiting), 16)), right,
		Pad(2, 2, -2, 4, b.text)))
	b.Content.Hide()
	return b
}

// Set shows text, or hides the banner if text is empty. It reports whether anything changed: then the container of
// the banner must be laid out again.
func (b *Banner) Set(text string) bool {
	if b.text.Text == text {
		return false
	}
	b.text.SetText(text)
	b.Content.Hidden = text == ""
	return true
}

// Card is a panel with an icon, a title, a text below it and, at the right, actions.
type Card struct {
	Content *fyne.Container
	Text    *SelectText
	Body    *fyne.Container // the title, the text, and what is added below them
	image   *canvas.Image
}

// NewCard returns a card whose title is shortened as a path.
func NewCard(icon *Icon, title, text string, actions ...fyne.CanvasObject) *Card {
	c := &Card{Text: NewSelectText(text), image: NewImage(icon, 16)}
	c.Body = Rows(-2, Pad(2, 0, 6, 6, NewTitle(title).Path()), c.Text)
	c.Content = NewPanel(6, 4, 10, 8, Border(nil, TopOf(3, 0, 0, 4, c.image), container.NewVBox(Columns(6, actions...)), c.Body))
	return c
}

// Set shows another icon and text.
func (c *Card) Set(icon *Icon, text string) {
	SetImage(c.image, icon)
	c.Text.SetText(text)
}
