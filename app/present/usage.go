package present

import (
	"strconv"

	"github.com/dustin/go-humanize"

	"rollcall/adapters"
)

// Count returns a number of tokens with a comma between thousands: "1,234,567".
func Count(n int64) string { return humanize.Comma(n) }

// Cost returns the cost of those of several sessions of which it is known: nothing if it is known of none, and with a
// plus sign if it is not known of all.
func Cost(usd float64, known, all int) string {
	switch {
	case known == 0:
		return ""
	case known < all:
		return "$" + strconv.FormatFloat(usd, 'f', 2, 64) + "+"
	}
	return "$" + strconv.FormatFloat(usd, 'f', 2, 64)
}

// UsageKey returns the name of a row of a usage table: of an agent its makers' name, and of what is not known so.
func UsageKey(by, key string) string {
	switch {
	case key == "" && by == "group":
		return "no group"
	case key == "":
		return by + " not known"
	case by == "agent":
		return AgentName(adapters.Name(key))
	}
	return Line(key)
}
