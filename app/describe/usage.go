package describe

import (
	"strconv"
	"strings"

	"github.com/dustin/go-humanize/english"

	"rollcall/app"
	"rollcall/app/present"
	"rollcall/app/usage"
)

// Totals returns a line with the totals of a table, and what they lack of the sessions of s.
func Totals(table *usage.Table, s *app.Snapshot) string {
	t := &table.Total
	parts := []string{english.Plural(t.Sessions, "session", "sessions"), english.Plural(t.Turns, "turn", "turns"), present.Tokens(t.All())}
	if t.Unknown > 0 {
		parts = append(parts, strconv.Itoa(t.Unknown)+" without recorded tokens")
	}
	if n := table.Untimed; n > 0 {
		parts = append(parts, strconv.Itoa(n)+" counted on their last day")
	}
	if left := present.LeftOutFiles(s.FilesLeftOut()); len(left) > 0 {
		parts = append(parts, "left out: "+strings.Join(left, ", "))
	}
	return strings.Join(parts, " · ")
}
