package widgets

import (
	"context"
	"slices"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/theme"
	"fyne.io/fyne/v2/widget"
)

// Checklist asks in a sheet which of several items to act on, and acts on one after the other.
type Checklist[T any] struct {
	*Sheet
	// Read returns the items, and sentences about what could not be read. It is called on another goroutine, while the sheet shows Reading.
	Read    func(ctx context.Context) (items []T, problems []string, err error)
	Reading string
	None    fyne.CanvasObject // shown if there are no items
	Intro   []string          // paragraphs above the items
	Row     func(item T) CheckRow
	Label   func(checked []T) string // returns the text of the button
	// Act acts on an item, on another goroutine, and returns what to show. It continues when the sheet is closed.
	Act           func(ctx context.Context, item T) (string, error)
	Doing, Failed string // shown below an item while Act runs, and before its error

	items  []*checkItem[T]
	action *Button
}

// CheckRow is what a checklist shows of an item.
type CheckRow struct {
	Text, State       string // State is below the text
	Warns             bool   // State has the colour of a warning
	Checked, Disabled bool
}

// checkItem is a row of a checklist.
type checkItem[T any] struct {
	*CheckBox
	item  T
	state *SelectText
}

// mostProblems is the largest number of problems that a checklist shows.
const mostProblems = 20

// Open opens the sheet, and reads the items.
func (c *Checklist[T]) Open(h *Host, title string, width float32) {
	c.Sheet = h.NewSheet(title, width)
	c.action = h.NewPrimaryButton("", widget.DangerImportance, c.run)
	var problems []string
	Load(c.Sheet, c.Reading, func(ctx context.Context) (items []T, err error) {
		items, problems, err = c.Read(ctx)
		return items, err
	}, func(items []T) { c.ask(items, problems[:min(len(problems), mostProblems)]) })
}

// ask shows the items.
func (c *Checklist[T]) ask(items []T, problems []string) {
	var body []fyne.CanvasObject
	for _, p := range problems {
		body = append(body, Warning(p))
	}
	if len(items) == 0 {
		c.ShowResult(append(body, c.None))
		return
	}
	for _, text := range c.Intro {
		body = append(body, Hint(text))
	}
	for _, x := range items {
		row := c.Row(x)
		i := &checkItem[T]{c.host.NewCheckBox(row.Text, func(bool) { c.count() }), x, NewSelectText(row.State)}
		i.Checked = row.Checked
		if row.Disabled {
			i.Disable()
		}
		i.state.SizeName, i.state.Importance = theme.SizeNameCaptionText, widget.LowImportance
		if row.Warns {
			i.state.Importance = widget.WarningImportance
		}
		c.items = append(c.items, i)
		body = append(body, Rows(-6, Narrow(i.CheckBox), Pad(0, 2, 24, 0, i.state)))
	}
	c.Confirm(body, c.action)
	c.count()
}

func (c *Checklist[T]) checked() []*checkItem[T] {
	return slices.DeleteFunc(slices.Clone(c.items), func(i *checkItem[T]) bool { return !i.Checked })
}

// count writes the number of checked items on the button.
func (c *Checklist[T]) count() {
	var checked []T
	for _, i := range c.checked() {
		checked = append(checked, i.item)
	}
	c.action.SetText(c.Label(checked))
	c.action.SetEnabled(len(checked) > 0)
	c.Fit()
}

func (c *Checklist[T]) run() {
	checked := c.checked()
	for _, i := range c.items {
		i.Disable()
	}
	closeIt := c.host.NewButton("Close", nil, c.Close)
	c.action.Disable()
	c.Buttons.Objects[0] = closeIt
	c.Fit()
	c.Focus(closeIt)
	go func() {
		for _, i := range checked {
			c.host.Post(func() { c.set(i, c.Doing, widget.LowImportance) })
			text, err := c.Act(c.host.Context, i.item)
			c.host.Post(func() { c.done(i, text, err) })
		}
		c.host.Post(func() { c.action.Hide(); c.Fit() })
	}()
}

func (c *Checklist[T]) set(i *checkItem[T], text string, importance widget.Importance) {
	i.state.Importance = importance
	i.state.SetText(text)
	if c.IsOpen() {
		c.Fit()
	}
}

func (c *Checklist[T]) done(i *checkItem[T], text string, err error) {
	if err == nil {
		c.set(i, text, widget.SuccessImportance)
		return
	}
	text = c.Failed + c.host.ErrorText(err)
	c.set(i, text, widget.DangerImportance)
	if !c.IsOpen() {
		c.host.Notify(i.Text + ": " + text)
	}
}
