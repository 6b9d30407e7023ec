package ui

import (
	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/canvas"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/layout"
	"fyne.io/fyne/v2/theme"
	"fyne.io/fyne/v2/widget"
)

// nameWidth is the width of the column of names.
const nameWidth = 104

// fieldView shows one field: its name, its value, a bar below where it has one.
type fieldView struct {
	field   field
	content fyne.CanvasObject
	value   *selectText
	bar     *bar
	link    *link
	target  key
	all     *link // shows the rest of a long text
	whole   bool  // it does
}

func newFieldView(f field, u *UI) *fieldView {
	v := &fieldView{field: f}
	name := widget.NewLabel(f.name)
	name.Importance = widget.LowImportance
	var right fyne.CanvasObject
	if f.link != nil {
		v.link = newLink(u, f.value, func() { u.sessions.reveal(v.target) })
		v.link.Wrapping = fyne.TextWrapWord
		v.target = *f.link
		right = v.link
	} else {
		v.value = newSelectText(v.text())
		if f.mono {
			v.value.TextStyle.Monospace = true
			v.value.Wrapping = fyne.TextWrapBreak
		}
		right = v.value
	}
	if f.rest != "" {
		v.all = newLink(u, "Show all", v.showAll)
		right = container.New(layout.NewCustomPaddedVBoxLayout(-6), right, v.all)
	}
	if f.ratio {
		v.bar = newBar(f.bar)
		right = container.New(layout.NewCustomPaddedVBoxLayout(-2), right,
			container.New(layout.NewCustomPaddedLayout(0, 5, 6, 12), v.bar))
	}
	v.content = container.New(&nameValue{}, name, right)
	return v
}

func (v *fieldView) text() string {
	switch {
	case v.field.rest == "":
		return v.field.value
	case v.whole:
		return v.field.value + v.field.rest
	}
	return v.field.value + "…"
}

func (v *fieldView) showAll() {
	v.whole = !v.whole
	v.value.SetText(v.text())
	if v.whole {
		v.all.SetText("Show less")
	} else {
		v.all.SetText("Show all")
	}
}

func (v *fieldView) set(f field) {
	v.field = f
	switch {
	case v.link != nil:
		v.target = *f.link
		if v.link.Text != f.value {
			v.link.SetText(f.value)
		}
	case v.value.Text != v.text():
		v.value.SetText(v.text())
	}
	if v.bar != nil {
		v.bar.set(f.bar)
	}
}

// nameValue lays a narrow name beside a wide value that may wrap.
type nameValue struct{}

func (nameValue) Layout(objects []fyne.CanvasObject, size fyne.Size) {
	name, value := objects[0], objects[1]
	name.Move(fyne.NewPos(4, 0))
	name.Resize(fyne.NewSize(nameWidth, name.MinSize().Height))
	value.Move(fyne.NewPos(4+nameWidth, 0))
	value.Resize(fyne.NewSize(size.Width-nameWidth-4, size.Height))
}

func (nameValue) MinSize(objects []fyne.CanvasObject) fyne.Size {
	v := objects[1].MinSize()
	return fyne.NewSize(nameWidth+v.Width, max(objects[0].MinSize().Height, v.Height)-5)
}

// bar shows how full something is.
type bar struct {
	widget.BaseWidget
	value float64
}

func newBar(value float64) *bar {
	b := &bar{value: value}
	b.ExtendBaseWidget(b)
	return b
}

func (b *bar) set(value float64) {
	if b.value != value {
		b.value = value
		b.Refresh()
	}
}

func (b *bar) CreateRenderer() fyne.WidgetRenderer {
	r := &barRenderer{b: b, track: canvas.NewRectangle(nil), fill: canvas.NewRectangle(nil)}
	r.track.CornerRadius, r.fill.CornerRadius = 3, 3
	r.Refresh()
	return r
}

type barRenderer struct {
	b           *bar
	track, fill *canvas.Rectangle
}

func (r *barRenderer) MinSize() fyne.Size { return fyne.NewSize(60, 6) }
func (r *barRenderer) Destroy()           {}

func (r *barRenderer) Objects() []fyne.CanvasObject { return []fyne.CanvasObject{r.track, r.fill} }

func (r *barRenderer) Layout(size fyne.Size) {
	r.track.Resize(size)
	part := float32(min(max(r.b.value, 0), 1))
	r.fill.Hidden = part == 0
	// At least as wide as high, so that a little still looks like a bar.
	r.fill.Resize(fyne.NewSize(max(part*size.Width, size.Height), size.Height))
}

func (r *barRenderer) Refresh() {
	color := colorWorking
	switch {
	case r.b.value >= 0.95:
		color = colorBad
	case r.b.value >= 0.8:
		color = colorWaiting
	}
	r.track.FillColor, r.fill.FillColor = themeColor(colorTrack), themeColor(color)
	r.Layout(r.b.Size())
	r.track.Refresh()
	r.fill.Refresh()
}

// panel is content on a tinted background with round corners.
type panel struct {
	widget.BaseWidget
	content fyne.CanvasObject
}

func newPanel(content fyne.CanvasObject) *panel {
	p := &panel{content: content}
	p.ExtendBaseWidget(p)
	return p
}

func (p *panel) CreateRenderer() fyne.WidgetRenderer {
	r := &panelRenderer{p: p, back: canvas.NewRectangle(nil)}
	r.back.CornerRadius = 8
	r.back.StrokeWidth = 1
	r.Refresh()
	return r
}

type panelRenderer struct {
	p    *panel
	back *canvas.Rectangle
}

func (r *panelRenderer) MinSize() fyne.Size { return r.p.content.MinSize() }
func (r *panelRenderer) Destroy()           {}

func (r *panelRenderer) Objects() []fyne.CanvasObject {
	return []fyne.CanvasObject{r.back, r.p.content}
}

func (r *panelRenderer) Layout(size fyne.Size) {
	r.back.Resize(size)
	r.p.content.Resize(size)
}

func (r *panelRenderer) Refresh() {
	r.back.FillColor, r.back.StrokeColor = themeColor(colorPanel), themeColor(theme.ColorNameSeparator)
	r.back.Refresh()
	r.p.content.Refresh()
}
