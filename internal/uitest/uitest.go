// Package uitest opens windows in memory for the tests of package ui and of the pages below it, and finds what they show.
package uitest

import (
	"fmt"
	"image/png"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/canvas"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/test"
	"fyne.io/fyne/v2/theme"
	"fyne.io/fyne/v2/widget"

	"rollcall/app/present"
	"rollcall/app/ui/widgets"
)

// Clock is the time in every test.
var Clock = time.Date(2026, 11, 21, 14, 30, 0, 0, time.Local)

// Window is a window that is drawn in memory. The test's goroutine is Fyne's: functions for that goroutine are queued, and run by Until.
type Window struct {
	fyne.Window
	Queue   chan func()
	Notices []string // what Host.Notify got
	t       testing.TB
}

// Open opens a window for the time of the test.
func Open(t testing.TB) *Window {
	w := &Window{t: t, Window: fyne.CurrentApp().NewWindow("Rollcall"), Queue: make(chan func(), 1000)}
	w.SetPadded(false)
	w.Resize(fyne.NewSize(1040, 680))
	t.Cleanup(w.Close)
	return w
}

// Host returns what connects widgets with the window, for tests of a page without the rest of Rollcall's window.
func (w *Window) Host() *widgets.Host {
	return &widgets.Host{Window: w.Window, Context: w.t.Context(), Post: func(f func()) { w.Queue <- f }, Key: func(*fyne.KeyEvent) {}, Shortcut: func(fyne.Shortcut) bool { return false },
		Notify: func(text string) { w.Notices = append(w.Notices, text) }, ErrorText: present.Error, Now: func() time.Time { return Clock }, Opened: func() func() { return func() {} }}
}

// The variants of the theme.
var (
	Light = theme.VariantLight
	Dark  = theme.VariantDark
)

// UseTheme shows a variant of the theme. All tests share one application, and the light variant: with each new application
// and with each change of the theme Fyne reads the fonts again and forgets the sizes of all texts.
func UseTheme(v fyne.ThemeVariant) {
	s := fyne.CurrentApp().Settings()
	if t, ok := s.Theme().(widgets.Theme); !ok || *t.Variant != v {
		s.SetTheme(widgets.Theme{Variant: &v})
	}
}

// Until runs the functions for Fyne's goroutine until cond returns true.
func (w *Window) Until(what string, cond func() bool) {
	w.t.Helper()
	limit := time.After(time.Minute)
	for !cond() {
		select {
		case f := <-w.Queue:
			f()
		case <-time.After(10 * time.Millisecond): // what cond asks for may be on disk
		case <-limit:
			w.t.Fatalf("waited too long for %s; the window shows\n%.4000s", what, strings.Join(Texts(w.Content()), "\n"))
		}
	}
	for {
		select {
		case f := <-w.Queue:
			f()
		default:
			return
		}
	}
}

// Press types keys into o.
func Press(o fyne.Focusable, keys ...fyne.KeyName) {
	for _, k := range keys {
		o.TypedKey(&fyne.KeyEvent{Name: k})
	}
}

// Texts returns the texts that a part of the window shows now.
func Texts(o fyne.CanvasObject) []string {
	var out []string
	for _, c := range Visible(o) {
		switch x := c.(type) {
		case *widget.Label:
			out = append(out, x.Text)
		case *widgets.SelectText:
			out = append(out, x.Text)
		case *widget.RichText:
			if len(x.Segments) > 1 { // one segment: of a label
				out = append(out, x.String())
			}
		case *widgets.Link:
			out = append(out, x.Text)
		case *widgets.Line:
			out = append(out, x.Text())
		case *widgets.Button:
			out = append(out, x.Text)
		case *widgets.CheckBox:
			out = append(out, x.Text)
		case *widgets.Tab:
			out = append(out, x.Text())
		case *canvas.Text:
			if x.TextStyle.Monospace {
				out = append(out, x.Text)
			}
		}
	}
	return out
}

// Visible returns the parts of a part of the window that aren't hidden. Unlike
// test.LaidOutObjects it makes no renderers beside those that are shown: a label
// would from then on write into those.
func Visible(o fyne.CanvasObject) []fyne.CanvasObject {
	if !o.Visible() {
		return nil
	}
	out := []fyne.CanvasObject{o}
	var children []fyne.CanvasObject
	switch x := o.(type) {
	case fyne.Widget:
		children = test.WidgetRenderer(x).Objects()
	case *fyne.Container:
		children = x.Objects
	}
	for _, c := range children {
		out = append(out, Visible(c)...)
	}
	return out
}

// Inside returns the containers and widgets in a part of a window, also those that are hidden. It looks into no widget but those that scroll.
func Inside(o fyne.CanvasObject) []fyne.CanvasObject {
	out := []fyne.CanvasObject{o}
	switch o := o.(type) {
	case *fyne.Container:
		for _, c := range o.Objects {
			out = append(out, Inside(c)...)
		}
	case *container.Scroll:
		out = append(out, Inside(o.Content)...)
	}
	return out
}

// All returns the parts of a type that are inside a part of a window, also those that are hidden.
func All[T fyne.CanvasObject](o fyne.CanvasObject) (found []T) {
	for _, x := range Inside(o) {
		if x, ok := x.(T); ok {
			found = append(found, x)
		}
	}
	return found
}

// Part returns the first part of a part of the window that is of a type and for which is holds; nil: any.
func Part[T fyne.CanvasObject](t testing.TB, o fyne.CanvasObject, is func(T) bool) (found T) {
	t.Helper()
	for _, x := range Visible(o) {
		if x, ok := x.(T); ok && (is == nil || is(x)) {
			return x
		}
	}
	t.Fatalf("no %T in:\n%s", found, strings.Join(Texts(o), "\n"))
	return found
}

// After returns the first part of a type that follows a name, as the fields of a page do.
func After[T fyne.CanvasObject](t testing.TB, o fyne.CanvasObject, name string) T {
	t.Helper()
	passed := false
	for _, x := range Visible(o) {
		label, ok := x.(*widget.Label)
		passed = passed || ok && label.Text == name
		if x, ok := x.(T); ok && passed {
			return x
		}
	}
	return Part(t, o, func(T) bool { return passed })
}

// Select returns the drop-down list that has an option.
func Select(t testing.TB, o fyne.CanvasObject, option string) *widgets.Select {
	t.Helper()
	return Part(t, o, func(s *widgets.Select) bool { return slices.Contains(s.Options, option) })
}

// Shows fails the test for each text that a part of the window does not show.
func Shows(t testing.TB, o fyne.CanvasObject, texts ...string) {
	t.Helper()
	all := strings.Join(Texts(o), "\n")
	for _, want := range texts {
		if !strings.Contains(all, want) {
			t.Errorf("the window doesn't show %q; it shows:\n%s", want, all)
		}
	}
}

// Shoot saves a screenshot of the window under build/shots, in light and dark.
func (w *Window) Shoot(name string) {
	w.t.Helper()
	if raceDetector {
		return // painting has no goroutines, and takes minutes with the detector
	}
	dir := filepath.Join(root(w.t), "build", "shots")
	if err := os.MkdirAll(dir, 0o755); err != nil {
		w.t.Fatal(err)
	}
	defer UseTheme(Light)
	for variant, v := range map[string]fyne.ThemeVariant{"light": Light, "dark": Dark} {
		UseTheme(v)
		w.Content().Refresh()
		// The second pass sees the heights that wrapped texts got in the first.
		w.Canvas().Capture()
		w.Until("what the layout has posted", func() bool { return true })
		file, err := os.Create(filepath.Join(dir, fmt.Sprintf("ui-%s-%s.png", name, variant)))
		if err != nil {
			w.t.Fatal(err)
		}
		if err := (&png.Encoder{CompressionLevel: png.BestSpeed}).Encode(file, w.Canvas().Capture()); err != nil {
			w.t.Error(err)
		}
		if err := file.Close(); err != nil {
			w.t.Error(err)
		}
	}
}

// Tap presses the button with that text in a part of the window.
func Tap(t testing.TB, o fyne.CanvasObject, text string) {
	t.Helper()
	for _, x := range Visible(o) {
		if b, ok := x.(*widgets.Button); ok && b.Text == text {
			if b.Disabled() {
				t.Fatalf("the button %q is disabled", text)
			}
			b.Tapped(nil)
			return
		}
	}
	t.Fatalf("no button %q in:\n%s", text, strings.Join(Texts(o), "\n"))
}

// Check ticks or unticks the box with that text.
func Check(t testing.TB, o fyne.CanvasObject, text string, on bool) {
	t.Helper()
	for _, x := range Visible(o) {
		if c, ok := x.(*widgets.CheckBox); ok && c.Text == text {
			c.SetChecked(on)
			return
		}
	}
	t.Fatalf("no box %q", text)
}

// TypeInto types into the field with that placeholder.
func TypeInto(t testing.TB, o fyne.CanvasObject, placeholder, text string) {
	t.Helper()
	for _, x := range Visible(o) {
		if e, ok := x.(*widgets.Entry); ok && e.PlaceHolder == placeholder {
			e.SetText(text)
			return
		}
	}
	t.Fatalf("no field %q", placeholder)
}

// root returns the folder of go.mod.
func root(t testing.TB) string {
	t.Helper()
	dir, err := os.Getwd()
	for err == nil && dir != filepath.Dir(dir) {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			return dir
		}
		dir = filepath.Dir(dir)
	}
	t.Fatal("no go.mod above the test", err)
	return ""
}
