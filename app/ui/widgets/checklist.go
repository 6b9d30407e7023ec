package widgets

import (
	"context"
	"slices"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/theme"
	"fyne.io/fyne/v2/widget"
)

// Checklist asks in a sheet which of several items to act on, and acts on one after the other.
type Checklist struct {
	*Sheet
	// Label returns the text of the button for the items that are checked now.
	Label func(checked []*CheckItem) string
	// Act acts on an item, on another goroutine, and returns what to show. It continues when the sheet is closed.
	Act           func(ctx context.Context, i *CheckItem) (string, error)
	doing, failed string
	items         []*CheckItem
	action        *Button
}

// CheckItem is a row of a checklist.
type CheckItem struct {
	*CheckBox
	Index int
	state *SelectText
}

// NewChecklist returns a checklist without items. The row of an item shows doing while Act runs, and failed before an
// error.
func (s *Sheet) NewChecklist(doing, failed string) *Checklist {
	c := &Checklist{Sheet: s, doing: doing, failed: failed}
	c.action = s.host.NewPrimaryButton("", widget.DangerImportance, c.run)
	return c
}

// Add adds an item. state is shown below it, in the colour of importance.
func (c *Checklist) Add(text, state string, importance widget.Importance, checked, enabled bool) {
	i := &CheckItem{c.host.NewCheckBox(text, func(bool) { c.count() }), len(c.items), NewSelectText(state)}
	i.Checked = checked
	if !enabled {
		i.Disable()
	}
	i.state.SizeName, i.state.Importance = theme.SizeNameCaptionText, importance
	c.items = append(c.items, i)
}

// Ask shows the items below intro.
func (c *Checklist) Ask(intro ...fyne.CanvasObject) {
	for _, i := range c.items {
		intro = append(intro, Rows(-6, i.CheckBox, Pad(0, 2, 24, 0, i.state)))
	}
	c.Confirm(intro, c.action)
	c.count()
}

func (c *Checklist) checked() []*CheckItem {
	return slices.DeleteFunc(slices.Clone(c.items), func(i *CheckItem) bool { return !i.Checked })
}

// count writes the number of checked items on the button.
func (c *Checklist) count() {
	checked := c.checked()
	c.action.SetText(c.Label(checked))
	c.action.SetEnabled(len(checked) > 0)
	c.Fit()
}

func (c *Checklist) run() {
	checked := c.checked()
	for _, i := range c.items {
		i.Disable()
	}
	closeIt := c.NewButton("Close", c.Close)
	c.action.Disable()
	c.Buttons.Objects[0] = closeIt
	c.Fit()
	c.Focus(closeIt)
	go func() {
		for _, i := range checked {
			c.host.Post(func() { c.set(i, c.doing, widget.LowImportance) })
			text, err := c.Act(c.host.Context, i)
			c.host.Post(func() { c.done(i, text, err) })
		}
		c.host.Post(func() { c.action.Hide(); c.Fit() })
	}()
}

func (c *Checklist) set(i *CheckItem, text string, importance widget.Importance) {
	i.state.Importance = importance
	i.state.SetText(text)
	if c.IsOpen() {
		c.Fit()
	}
}

func (c *Checklist) done(i *CheckItem, text string, err error) {
	if err == nil {
		c.set(i, text, widget.SuccessImportance)
		return
	}
	text = c.failed + c.host.ErrorText(err)
	c.set(i, text, widget.DangerImportance)
	if !c.IsOpen() {
		c.host.Notify(i.Text + ": " + text)
	}
}
