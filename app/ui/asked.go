package ui

import (
	"fmt"
	"time"

	"github.com/dustin/go-humanize"
	"github.com/dustin/go-humanize/english"

	"rollcall/app/control/answer"
	"rollcall/app/present"
	"rollcall/app/ui/widgets"
)

// askedText returns the texts of the row of what waits, which is nested below one with the project or not.
func askedText(a *answer.Asked, nested bool, now time.Time) rowText {
	s, asks := a.Entry.Session, a.Asks
	s.Stale, s.LastActivityAt = nil, a.Since() // the board reads the session itself
	switch {
	case asks.Text != "":
	case a.Entry.Read:
		asks.Text = "answer it " + present.Where(&s.Owner)
	default:
		asks.Text = "reading what it asks…"
	}
	return sessionText(&s, &asks, nested, now)
}

// sizeText returns the size of a text that is not wholly visible; empty: it is.
func sizeText(c *widgets.Code, bytes int) string {
	if !c.IsReady() || c.IsEndSeen() && c.Rows() <= c.Visible() {
		return ""
	}
	return fmt.Sprintf("%s, %s", english.Plural(c.Rows(), "line", "lines"), humanize.Bytes(uint64(bytes))) +
		present.When(!c.IsEndSeen(), ": only a part is visible, scroll to its end")
}
