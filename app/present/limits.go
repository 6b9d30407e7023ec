package present

import (
	"fmt"
	"strings"
	"time"

	"rollcall/adapters"
)

// LimitWindow returns the window of a limit: "5 h", "week", "week, Opus", "credits".
func LimitWindow(l *adapters.Limit) string {
	window := ""
	const day = 24 * time.Hour
	switch h := l.Window; {
	case h < time.Minute || h > 10*366*day: // no window that an account has
	case h == 7*day:
		window = "week"
	case h >= 2*day && h%day == 0:
		window = fmt.Sprintf("%d days", h/day)
	case h%time.Hour == 0:
		window = fmt.Sprintf("%d h", h/time.Hour)
	default:
		window = fmt.Sprintf("%d min", h/time.Minute)
	}
	name := Cut(Line(l.Name), 24)
	switch {
	case window == "" && name == "":
		return "limit"
	case window == "" || name == "":
		return window + name
	}
	return window + ", " + name
}

// LimitUse returns how much of a limit is used: "92 %", "38.21 left", or "not known" once the window has begun again since the
// figure was recorded.
func LimitUse(l *adapters.Limit, now time.Time) string {
	switch {
	case l.Balance != "":
		return Cut(Line(l.Balance), 16) + " left"
	case !l.Holds(now):
		return "not known"
	}
	return fmt.Sprintf("%.0f %%", l.Used)
}

// LimitReset returns when the window of a limit begins again: "resets 14:10", "resets Fri 14:10", "reset 14:10" if that was since; empty: that is
// not known.
func LimitReset(l *adapters.Limit, now time.Time) string {
	if l.ResetsAt.IsZero() {
		return ""
	}
	at, form := l.ResetsAt.In(now.Location()), "2 Jan 15:04"
	switch away := at.Sub(now).Abs(); {
	case away < 18*time.Hour:
		form = "15:04"
	case away < 6*24*time.Hour:
		form = "Mon 15:04"
	}
	if l.Holds(now) {
		return "resets " + at.Format(form)
	}
	return "reset " + at.Format(form)
}

// LimitLine returns a limit of an agent in a line: "Codex: 92 % of 5 h, resets 14:10". account may be empty.
func LimitLine(agent adapters.Name, account string, l *adapters.Limit, now time.Time) string {
	who := AgentName(agent)
	if account != "" {
		who += " " + account
	}
	return strings.TrimSuffix(fmt.Sprintf("%s: %s of %s, %s", who, LimitUse(l, now), LimitWindow(l), LimitReset(l, now)), ", ")
}
