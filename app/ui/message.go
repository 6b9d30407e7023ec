package ui

import (
	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/canvas"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/layout"
	"fyne.io/fyne/v2/theme"
	"fyne.io/fyne/v2/widget"
)

// newMessage fills a page that has nothing else to show: a sign, which may be
// nil, what is the case, why, and what the user can do.
func newMessage(sign fyne.CanvasObject, title, text string, actions ...fyne.CanvasObject) fyne.CanvasObject {
	box := container.New(layout.NewCustomPaddedVBoxLayout(4))
	if sign != nil {
		box.Add(container.NewCenter(sign))
	}
	headline := paragraph(title, widget.MediumImportance)
	headline.TextStyle.Bold = true
	headline.SizeName = theme.SizeNameSubHeadingText
	headline.Alignment = fyne.TextAlignCenter
	body := paragraph(text, widget.LowImportance)
	body.Alignment = fyne.TextAlignCenter
	box.Add(headline)
	box.Add(body)
	if len(actions) > 0 {
		box.Add(container.New(layout.NewCustomPaddedLayout(8, 0, 0, 0), container.NewCenter(container.NewHBox(actions...))))
	}
	return container.NewVScroll(container.New(&column{width: 420, middle: true}, box))
}

// border lays content out between what stands around it, as Fyne's border
// container does, but in reading order: the Tab key goes by it.
func border(top, left, right, content fyne.CanvasObject) *fyne.Container {
	c := container.New(layout.NewBorderLayout(top, nil, left, right))
	for _, o := range []fyne.CanvasObject{top, left, content, right} {
		if o != nil {
			c.Add(o)
		}
	}
	return c
}

// sign is a large icon.
func sign(file string, color fyne.ThemeColorName) fyne.CanvasObject {
	i := canvas.NewImageFromResource(newIcon(file, color))
	i.FillMode = canvas.ImageFillContain
	i.SetMinSize(fyne.NewSquareSize(36))
	return i
}

// column keeps its content readable in a wide window: at most width wide, in
// the middle, and in the middle of the height as well if middle is set.
type column struct {
	width  float32
	middle bool
}

func (c *column) Layout(objects []fyne.CanvasObject, size fyne.Size) {
	for _, o := range objects {
		w := min(size.Width-24, c.width)
		// Twice: a wrapped text knows its height once it knows its width.
		o.Resize(fyne.NewSize(w, o.MinSize().Height))
		h := o.MinSize().Height
		o.Resize(fyne.NewSize(w, h))
		y := float32(0)
		if c.middle {
			y = max((size.Height-h)*0.42, 12)
		}
		o.Move(fyne.NewPos((size.Width-w)/2, y))
	}
}

func (c *column) MinSize(objects []fyne.CanvasObject) fyne.Size {
	var s fyne.Size
	for _, o := range objects {
		s = s.Max(o.MinSize())
	}
	return s.AddWidthHeight(24, 0)
}

// flow lays buttons out in rows, as many as the width needs.
type flow struct {
	rows int // at the last layout
}

const flowGap = 6

func newFlow() *flow { return &flow{rows: 1} }

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
		o.Move(fyne.NewPos(x, y))
		o.Resize(s)
		x += s.Width + flowGap
	}
	f.rows = rows
}

func (f *flow) MinSize(objects []fyne.CanvasObject) fyne.Size {
	var s fyne.Size
	for _, o := range objects {
		if o.Visible() {
			s = s.Max(o.MinSize())
		}
	}
	s.Height = s.Height*float32(f.rows) + flowGap*float32(f.rows-1)
	return s
}

// banner is a line of warning above other content, hidden while it has no text.
type banner struct {
	content *fyne.Container
	text    *widget.Label
}

func newBanner(file string, actions ...fyne.CanvasObject) *banner {
	b := &banner{text: paragraph("", widget.MediumImportance)}
	icon := canvas.NewImageFromResource(newIcon(file, colorWaiting))
	icon.FillMode = canvas.ImageFillContain
	icon.SetMinSize(fyne.NewSquareSize(16))
	left := container.New(layout.NewCustomPaddedLayout(9, 0, 10, 0), container.NewVBox(icon))
	var right fyne.CanvasObject
	if len(actions) > 0 {
		right = container.New(layout.NewCustomPaddedLayout(3, 3, 0, 4), container.NewVBox(actions...))
	}
	b.content = container.NewStack(newPanel(border(nil, left, right,
		container.New(layout.NewCustomPaddedLayout(2, 2, -2, 4), b.text))))
	b.content.Hide()
	return b
}

// show returns whether what the banner is part of must be laid out anew.
func (b *banner) show(text string) bool {
	if b.text.Text == text {
		return false
	}
	b.text.SetText(text)
	if text == "" {
		b.content.Hide()
	} else {
		b.content.Show()
	}
	return true
}
