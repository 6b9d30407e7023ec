package ui

import (
	"context"
	"fmt"
	"strings"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/theme"
	"fyne.io/fyne/v2/widget"
	"github.com/dustin/go-humanize"
	"github.com/dustin/go-humanize/english"

	"rollcall/adapters"
	"rollcall/app/owned/cleanup"
	"rollcall/app/owned/launch"
	"rollcall/app/ui/widgets"
)

// cleaner returns a Cleaner for all files that may be removed. The files of sessions that are live now are not among them.
func (u *UI) cleaner(ctx context.Context) (*cleanup.Cleaner, error) {
	snap := u.core.Refresh(ctx)
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	var sources []cleanup.Source
	if l := u.options.Launches; l != nil {
		sources = append(sources, launch.Leftovers{Launches: l})
	}
	return cleanup.New(u.getenv, u.options.Table, snap, sources...)
}

// getenv returns a variable of the environment of launched agents.
func (u *UI) getenv(name string) (value string) {
	for _, e := range u.environ() {
		if n, v, _ := strings.Cut(e, "="); n == name {
			value = v
		}
	}
	return value
}

// cleanupSheet shows the files that may be removed.
type cleanupSheet struct {
	*widgets.Sheet
	ui       *UI
	items    []cleanup.Item
	problems error
	keep     []bool // by index of items: the file is not checked
	remove   *widgets.Button
}

// showCleanup shows the files that may be removed, and removes those that stay checked.
func (u *UI) showCleanup() {
	c := &cleanupSheet{Sheet: u.host.NewSheet("Clean up", 680), ui: u}
	widgets.Load(c.Sheet, "Looking for files that can be removed…", func(ctx context.Context) (*cleanupSheet, error) {
		cleaner, err := u.cleaner(ctx)
		if err != nil {
			return nil, err
		}
		found := *c
		found.items, found.problems = cleaner.Scan(ctx)
		return &found, nil
	}, (*cleanupSheet).offer)
}

func (c *cleanupSheet) offer() {
	var body []fyne.CanvasObject
	problems := adapters.Problems(c.problems)
	for _, p := range problems[:min(len(problems), maxProblems)] {
		body = append(body, widgets.Warning("Skipped: "+errorText(p)))
	}
	if len(c.items) == 0 {
		c.ShowResult(append(body, widgets.Success("There is nothing to remove: no files of past launches, and none of agentctl.")))
		return
	}
	c.keep = make([]bool, len(c.items))
	c.remove = c.ui.host.NewPrimaryButton("", widget.DangerImportance, c.removeFiles)
	c.Confirm(append(body, widgets.Hint("These files belong to sessions and launches that no longer exist. They are moved to the trash, or deleted where there is none."),
		widgets.Fill(c.newList(), func() fyne.Size { return fyne.NewSize(200, min(float32(len(c.items))*cleanupRowHeight, 360)) }, nil)), c.remove)
	c.count()
}

// cleanupRowHeight is the height of a row, with the line below it.
const cleanupRowHeight = 52

// cleanupRow shows one file.
type cleanupRow struct {
	check           *widgets.CheckBox
	path, why, size *widgets.Line
}

func (c *cleanupSheet) newList() *widgets.List {
	rows := map[fyne.CanvasObject]*cleanupRow{}
	list := c.ui.host.NewList()
	list.Length = func() int { return len(c.items) }
	list.CreateItem = func() fyne.CanvasObject {
		r := &cleanupRow{check: c.ui.host.NewCheckBox("", nil),
			path: widgets.NewLine("/", theme.ColorNameForeground, theme.SizeNameText, fyne.TextStyle{}).Path(),
			why:  widgets.NewCaption("w"), size: widgets.NewCaption("1000 MiB").Whole()}
		o := widgets.Border(nil, container.NewCenter(r.check), widgets.Pad(0, 0, 6, 12, r.size),
			widgets.Pad(6, 6, 4, 0, widgets.Rows(2, r.path, r.why)))
		rows[o] = r
		return o
	}
	list.UpdateItem = func(i widget.ListItemID, o fyne.CanvasObject) {
		r, it := rows[o], &c.items[i]
		r.check.OnChanged = nil
		r.check.SetChecked(!c.keep[i])
		r.check.OnChanged = func(on bool) { c.keep[i] = !on; c.count() }
		r.path.Set(short(it.Path), theme.ColorNameForeground)
		r.why.Set(short(it.Kind)+": "+short(it.Why), widgets.ColorMuted)
		r.size.Set(humanize.IBytes(uint64(max(it.Size, 0))), widgets.ColorMuted)
	}
	list.OnSelected = func(i widget.ListItemID) {
		list.UnselectAll()
		c.keep[i] = !c.keep[i]
		list.RefreshItem(i)
		c.count()
	}
	return list
}

// chosen returns the files that are checked.
func (c *cleanupSheet) chosen() (items []cleanup.Item, size int64) {
	for i := range c.items {
		if !c.keep[i] {
			items, size = append(items, c.items[i]), size+c.items[i].Size
		}
	}
	return items, size
}

// count writes the number of the checked files on the button.
func (c *cleanupSheet) count() {
	items, size := c.chosen()
	c.remove.SetText(fmt.Sprintf("Remove %s, %s", english.Plural(len(items), "file", "files"), humanize.IBytes(uint64(max(size, 0)))))
	c.remove.SetEnabled(len(items) > 0)
	c.Fit()
}

// removeFiles removes the checked files. It reads the sessions again first: one may have begun since the files were
// listed.
func (c *cleanupSheet) removeFiles() {
	items, _ := c.chosen()
	widgets.Run(c.Sheet, "Removing…", "Nothing was removed: ", func(ctx context.Context, _ func(string)) ([]cleanup.Result, error) {
		cleaner, err := c.ui.cleaner(ctx)
		if err != nil {
			return nil, err
		}
		return cleaner.Remove(ctx, items), nil
	}, func(results []cleanup.Result) {
		if c.IsOpen() {
			c.showResults(results)
		} else {
			c.ui.notifyNotRemoved(results)
		}
	})
}

// notifyNotRemoved shows the first file that was not removed, above the list of sessions.
func (u *UI) notifyNotRemoved(results []cleanup.Result) {
	for _, r := range results {
		if r.Err != nil {
			u.notify("Not everything was removed: " + short(r.Path) + ": " + errorText(r.Err))
			return
		}
	}
}

func (c *cleanupSheet) showResults(results []cleanup.Result) {
	body := make([]fyne.CanvasObject, 1, len(results)+2)
	removed := 0
	for _, r := range results {
		if r.Err != nil {
			body = append(body, widgets.Failure(short(r.Path)+"\nnot removed: "+errorText(r.Err)))
			continue
		}
		where := "deleted, because there is no trash"
		if r.Where != "" {
			where = "moved to " + short(r.Where)
		}
		body = append(body, widgets.Success(short(r.Path)+"\n"+where))
		removed++
	}
	body[0] = widgets.Paragraph(fmt.Sprintf("%d of %s removed.", removed, english.Plural(len(results), "file", "files")), widget.MediumImportance)
	const most = 100
	if more := len(results) - most; more > 0 {
		body = append(body[:most+1], widgets.Hint(fmt.Sprintf("and %s more", english.Plural(more, "file", "files"))))
	}
	c.ShowResult(body)
}
