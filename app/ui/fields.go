package ui

import (
	"slices"

	"fyne.io/fyne/v2"

	"rollcall/app/describe"
	"rollcall/app/listing"
	"rollcall/app/ui/widgets"
)

// fieldView shows one field: its name, its value, and a bar below the value where the field has one.
type fieldView struct {
	field   describe.Field
	content fyne.CanvasObject
	value   *widgets.LongText // nil: the value is a link
	bar     *widgets.Bar      // nil: none
	link    *widgets.Link     // nil: the value is a text
	target  listing.Key
}

func newFieldView(f describe.Field, u *UI) *fieldView {
	v := &fieldView{field: f}
	var right fyne.CanvasObject
	if f.Link != nil {
		v.link = u.host.NewLink(f.Value, func() { u.sessions.reveal(v.target) })
		v.link.Wrapping = fyne.TextWrapWord
		v.target = *f.Link
		right = v.link
	} else {
		text := widgets.NewSelectText("")
		if f.Mono {
			text = widgets.NewCode("")
		}
		v.value = u.host.NewLongText(text, f.Value, f.Rest, nil)
		right = v.value.Content
	}
	if f.HasBar {
		v.bar = widgets.NewBar(f.Bar)
		right = widgets.Rows(-2, right, widgets.Pad(0, 5, 6, 12, v.bar))
	}
	v.content = widgets.Fact(f.Name, right)
	return v
}

// set shows the field as it is now. The field must have the same shape as the field that was shown before: see sameShape.
func (v *fieldView) set(f describe.Field) {
	v.field = f
	if v.link != nil {
		v.target = *f.Link
		v.link.SetText(f.Value)
	} else {
		v.value.Set(f.Value, f.Rest)
	}
	if v.bar != nil {
		v.bar.Set(f.Bar)
	}
}

// fieldList shows the fields of sections. It keeps the views of fields that do not change, so that a selection in them stays.
type fieldList struct {
	ui      *UI
	content *fyne.Container
	shown   []describe.Section
	views   []*fieldView
}

func newFieldList(u *UI) *fieldList { return &fieldList{ui: u, content: widgets.Rows(0)} }

// show shows sections. It makes new views if fresh is set or the fields differ, and reports whether it did.
func (l *fieldList) show(secs []describe.Section, fresh bool) bool {
	was := l.shown
	l.shown = secs
	if !fresh && slices.EqualFunc(secs, was, sameShape) {
		i := 0
		for _, sec := range secs {
			for _, f := range sec.Fields {
				l.views[i].set(f)
				i++
			}
		}
		return false
	}
	l.views = l.views[:0]
	l.content.RemoveAll()
	for _, sec := range secs {
		if sec.Title != "" {
			l.content.Add(widgets.NewHeading(sec.Title))
		}
		for _, f := range sec.Fields {
			v := newFieldView(f, l.ui)
			l.views = append(l.views, v)
			l.content.Add(v.content)
		}
	}
	l.content.Refresh()
	return true
}

// sameShape reports whether the views of a can show b.
func sameShape(a, b describe.Section) bool {
	return a.Title == b.Title && slices.EqualFunc(a.Fields, b.Fields, func(f, g describe.Field) bool {
		return f.Name == g.Name && f.Mono == g.Mono && f.HasBar == g.HasBar && (f.Link == nil) == (g.Link == nil) && (f.Rest == "") == (g.Rest == "")
	})
}
