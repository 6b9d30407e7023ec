package ui

import (
	"slices"

	"fyne.io/fyne/v2"

	"rollcall/app/ui/widgets"
)

// fieldView shows one field: its name, its value, and a bar below the value where the field has one.
type fieldView struct {
	field   field
	content fyne.CanvasObject
	value   *widgets.LongText // nil: the value is a link
	bar     *widgets.Bar      // nil: none
	link    *widgets.Link     // nil: the value is a text
	target  key
}

func newFieldView(f field, u *UI) *fieldView {
	v := &fieldView{field: f}
	var right fyne.CanvasObject
	if f.link != nil {
		v.link = u.host.NewLink(f.value, func() { u.sessions.reveal(v.target) })
		v.link.Wrapping = fyne.TextWrapWord
		v.target = *f.link
		right = v.link
	} else {
		text := widgets.NewSelectText("")
		if f.mono {
			text = widgets.NewCode("")
		}
		v.value = u.host.NewLongText(text, f.value, f.rest, nil)
		right = v.value.Content
	}
	if f.hasBar {
		v.bar = widgets.NewBar(f.bar)
		right = widgets.Rows(-2, right, widgets.Pad(0, 5, 6, 12, v.bar))
	}
	v.content = widgets.Fact(f.name, right)
	return v
}

// set shows the field as it is now. The field must have the same shape as the field that was shown before: see sameShape.
func (v *fieldView) set(f field) {
	v.field = f
	if v.link != nil {
		v.target = *f.link
		if v.link.Text != f.value {
			v.link.SetText(f.value)
		}
	} else {
		v.value.Set(f.value, f.rest)
	}
	if v.bar != nil {
		v.bar.Set(f.bar)
	}
}

// fieldList shows the fields of sections. It keeps the views of fields that do not change, so that a selection in them stays.
type fieldList struct {
	ui      *UI
	content *fyne.Container
	shown   []section
	views   []*fieldView
}

func newFieldList(u *UI) *fieldList { return &fieldList{ui: u, content: widgets.Rows(0)} }

// show shows sections. It makes new views if fresh is set or the fields differ, and reports whether it did.
func (l *fieldList) show(secs []section, fresh bool) bool {
	was := l.shown
	l.shown = secs
	if !fresh && slices.EqualFunc(secs, was, sameShape) {
		i := 0
		for _, sec := range secs {
			for _, f := range sec.fields {
				l.views[i].set(f)
				i++
			}
		}
		return false
	}
	l.views = l.views[:0]
	l.content.RemoveAll()
	for _, sec := range secs {
		if sec.title != "" {
			l.content.Add(widgets.NewHeading(sec.title))
		}
		for _, f := range sec.fields {
			v := newFieldView(f, l.ui)
			l.views = append(l.views, v)
			l.content.Add(v.content)
		}
	}
	l.content.Refresh()
	return true
}

// sameShape reports whether the views of a can show b.
func sameShape(a, b section) bool {
	return a.title == b.title && slices.EqualFunc(a.fields, b.fields, func(f, g field) bool {
		return f.name == g.name && f.mono == g.mono && f.hasBar == g.hasBar && (f.link == nil) == (g.link == nil) && (f.rest == "") == (g.rest == "")
	})
}
