package widgets

import "fyne.io/fyne/v2"

// Inline lays objects out beside one another, each as wide as it needs, and the last that fits in what is left. It needs
// little room itself.
type Inline struct{}

// Layout implements fyne.Layout.
func (Inline) Layout(objects []fyne.CanvasObject, size fyne.Size) {
	x := float32(0)
	for _, o := range objects {
		w := min(o.MinSize().Width, max(size.Width-x, 0))
		place(o, x, 0, w, size.Height)
		x += w
	}
}

// MinSize implements fyne.Layout.
func (Inline) MinSize(objects []fyne.CanvasObject) fyne.Size {
	return fyne.NewSize(60, largest(objects).Height)
}

// Cells lays objects out as the cells of a row: the first gets what the others leave, which are Widths wide, from the
// second on. In a narrow room the last ones are left out.
type Cells struct{ Widths []float32 }

const (
	cellGap   = 8
	leastCell = 110 // the least width of the first
)

// Layout implements fyne.Layout.
func (c Cells) Layout(objects []fyne.CanvasObject, size fyne.Size) {
	rest, shown := size.Width, len(objects)
	for _, w := range c.Widths {
		rest -= w + cellGap
	}
	for rest < leastCell && shown > 2 {
		shown--
		rest += c.Widths[shown-1] + cellGap
	}
	x := float32(0)
	for i, o := range objects {
		if o.Visible() != (i < shown) {
			if i < shown {
				o.Show()
			} else {
				o.Hide()
			}
		}
		w := max(rest, 20)
		if i > 0 {
			w = c.Widths[i-1]
		}
		place(o, x, 0, w, size.Height)
		x += w + cellGap
	}
}

// MinSize implements fyne.Layout.
func (c Cells) MinSize(objects []fyne.CanvasObject) fyne.Size {
	return fyne.NewSize(200, largest(objects).Height)
}
