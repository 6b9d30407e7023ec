package widgets

import (
	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/theme"
	"fyne.io/fyne/v2/widget"
)

const (
	// leastColumn is the width that a column keeps in a narrow window, unless its cells are narrower.
	leastColumn = 90
	// cellInset is the space that a label has at both sides of its text.
	cellInset = 14
)

// newTable shows rows of cells, of which the first one is the head. The cells wrap: narrow columns are as wide as their cells, and the others share the rest.
func newTable(rows [][]fyne.CanvasObject) fyne.CanvasObject {
	var natural []float32
	all := container.NewWithoutLayout()
	var lines []fyne.CanvasObject
	for i, cells := range rows {
		for col, cell := range cells {
			if col == len(natural) {
				natural = append(natural, 0)
			}
			natural[col] = max(natural[col], widthOf(cell))
			all.Add(cell)
		}
		if i > 0 {
			line := widget.NewSeparator()
			lines = append(lines, line)
			all.Add(line)
		}
	}
	height, least := float32(0), float32(0)
	for _, w := range natural {
		least += min(w, leastColumn)
	}
	all.Layout = Layout{func(_ []fyne.CanvasObject, size fyne.Size) {
		widths, y := columnWidths(natural, size.Width), float32(0)
		for i, cells := range rows {
			tall, x := float32(0), float32(0)
			for col, cell := range cells {
				tall = max(tall, WrapTo(cell, widths[col]))
				cell.Move(fyne.NewPos(x, y))
				x += widths[col]
			}
			if i > 0 {
				Place(lines[i-1], 4, y, size.Width-8, 1)
			}
			y += tall
		}
		height = y
	}, func([]fyne.CanvasObject) fyne.Size { return fyne.NewSize(least, height) }}
	return all
}

// columnWidths returns the widths of columns that are natural wide if they needn't wrap.
func columnWidths(natural []float32, width float32) []float32 {
	widths, rest, wide := make([]float32, len(natural)), width, len(natural)
	for wide > 0 {
		share, fits := rest/float32(wide), false
		for i, w := range natural {
			if widths[i] == 0 && w <= share {
				widths[i], fits = max(w, 1), true
				rest -= widths[i]
				wide--
			}
		}
		if !fits {
			for i := range widths {
				if widths[i] == 0 {
					widths[i] = share
				}
			}
			return widths
		}
	}
	return widths
}

// widthOf returns the width that a paragraph has on one line.
func widthOf(o fyne.CanvasObject) (width float32) {
	size := TextSize(theme.SizeNameText)
	switch o := o.(type) {
	case *SelectText:
		width = fyne.MeasureText(head(o.Text, 400), size, o.TextStyle).Width
	case *widget.RichText:
		for _, s := range o.Segments {
			if t, ok := s.(*widget.TextSegment); ok {
				width += fyne.MeasureText(head(t.Text, 400), size, t.Style.TextStyle).Width
			}
		}
	}
	return width + cellInset
}
