package ui

import (
	"context"
	"errors"
	"strings"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/widget"

	"rollcall/app/self/updates"
	"rollcall/app/settings"
	"rollcall/app/ui/widgets"
)

// updatesCheck reads the newest version from the feed in the settings when the user presses its button, and never by itself. It
// is used on Fyne's goroutine only.
type updatesCheck struct {
	settings *settingsPage
	button   *widgets.Button
	answer   *widget.Label
	page     *widgets.SelectText // the address of the newest release; empty: none is shown
	failed   *widgets.Banner
	feed     *widgets.Entry // the address
}

// updates returns the field for the address of the feed, and the button that reads the feed.
func (p *settingsPage) updates() []fyne.CanvasObject {
	c := &updatesCheck{settings: p, answer: widgets.Hint(""), page: widgets.NewSelectText(""), failed: widgets.NewBanner("waiting")}
	edit := settings.Edit{Table: "updates", Key: "feed"}
	c.feed = p.ui.host.NewEntry("https://example.org/releases/latest", nil)
	p.text(edit, c.feed, func(s *settings.Settings) string { return s.Updates.Feed }, func(text string) {
		if text != "" {
			if err := updates.CheckFeed(text); err != nil {
				c.show("", "", errors.New("the address was not saved: "+err.Error()))
				return
			}
		}
		c.show("", "", nil)
		p.set(edit, text)
	})
	c.button = p.ui.host.NewButton("Check for updates", nil, c.check)
	c.answer.Hide()
	c.page.Hide()
	p.newest = c
	return []fyne.CanvasObject{
		widgets.NewHeading("Updates"), widgets.NamedLong("Address of the releases", c.feed),
		widgets.Inset(widgets.Flow(c.button)), c.answer, c.page, c.failed.Content,
		widgets.Hint("Only this button and rollcall version --check read this address, and they send nothing about you or this machine."),
	}
}

// check reads the feed on another goroutine. It returns at once.
func (c *updatesCheck) check() {
	u, feed := c.settings.ui, strings.TrimSpace(c.feed.Text)
	if feed == "" {
		c.show("", "", errors.New("no address is set: enter one above"))
		return
	}
	if err := updates.CheckFeed(feed); err != nil {
		c.show("", "", errors.New("the address was not saved: "+err.Error()))
		return
	}
	c.button.Disable()
	c.show("Asking "+short(feed)+"…", "", nil)
	background(u.ctx, u, func(ctx context.Context) (updates.Release, error) { return updates.Newest(ctx, feed) }, func(r updates.Release, err error) {
		c.button.Enable()
		if err != nil {
			c.show("", "", err)
			return
		}
		page := ""
		if newer, _ := r.IsNewer(u.options.Version); newer {
			page = r.Page
		}
		c.show(r.Describe(u.options.Version), page, nil)
	})
}

// show shows an answer with the address of its release, or the error.
func (c *updatesCheck) show(answer, page string, failed error) {
	c.answer.SetText(answer)
	c.answer.Hidden = answer == ""
	c.page.SetText(short(page))
	c.page.Hidden = page == ""
	c.failed.Set(errorText(failed))
	c.settings.content.Refresh()
}
