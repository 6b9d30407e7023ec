// Package facts shows facts about agents and sessions, each with its name, and with a bar or a link where it has one.
package facts

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

func (l *List) newView(f describe.Field) *fieldView {
	v := &fieldView{field: f}
	var right fyne.CanvasObject
	if f.Link != nil {
		v.link = l.host.NewLink(f.Value, func() { l.follow(v.target) })
		v.link.Wrapping = fyne.TextWrapWord
		v.target = *f.Link
		right = v.link
	} else {
		text := widgets.NewSelectText("")
		if f.Mono {
			text = widgets.NewCode("")
		}
		v.value = l.host.NewLongText(text, f.Value, f.Rest, nil)
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

// List shows the fields of sections. It keeps the views of fields that do not change, so that a selection in them stays.
type List struct {
	Content *fyne.Container
	host    *widgets.Host
	follow  func(listing.Key)
	shown   []describe.Section
	views   []*fieldView
}

// New returns an empty list. follow shows the session that a link leads to; nil: no field has a link.
func New(h *widgets.Host, follow func(listing.Key)) *List {
	return &List{Content: widgets.Rows(0), host: h, follow: follow}
}

// Show shows sections. It makes new views if fresh is set or the fields differ, and reports whether it did.
func (l *List) Show(secs []describe.Section, fresh bool) bool {
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
	l.Content.RemoveAll()
	for _, sec := range secs {
		if sec.Title != "" {
			l.Content.Add(widgets.NewHeading(sec.Title))
		}
		for _, f := range sec.Fields {
			v := l.newView(f)
			l.views = append(l.views, v)
			l.Content.Add(v.content)
		}
	}
	l.Content.Refresh()
	return true
}

// sameShape reports whether the views of a can show b.
func sameShape(a, b describe.Section) bool {
	return a.Title == b.Title && slices.EqualFunc(a.Fields, b.Fields, func(f, g describe.Field) bool {
		return f.Name == g.Name && f.Mono == g.Mono && f.HasBar == g.HasBar && (f.Link == nil) == (g.Link == nil) && (f.Rest == "") == (g.Rest == "")
	})
}
