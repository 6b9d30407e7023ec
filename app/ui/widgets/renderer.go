package widgets

import "fyne.io/fyne/v2"

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
