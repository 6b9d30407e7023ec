package usage

import (
	"iter"
	"time"
)

// Recent returns the tokens of today and of the last 7 days with today, in local time, from a table by day.
func (t *Table) Recent(now time.Time) (today, week int64) {
	now = now.Local()
	first, last := now.AddDate(0, 0, -6).Format(time.DateOnly), now.Format(time.DateOnly)
	for i := range t.Rows {
		r := &t.Rows[i]
		if r.Key == last {
			today += r.All()
		}
		if r.Key >= first {
			week += r.All()
		}
	}
	return today, week
}

// Days returns the last days until now, n at most, with the rows of a table by day, the oldest first. It begins with the first day of the table; a day without
// usage has an empty row.
func Days(rows []Row, now time.Time, n int) iter.Seq2[time.Time, *Row] {
	used := map[string]*Row{}
	first := ""
	for i := range rows {
		used[rows[i].Key] = &rows[i]
		if key := rows[i].Key; key != "" && (first == "" || key < first) {
			first = key
		}
	}
	return func(yield func(time.Time, *Row) bool) {
		for back := n - 1; back >= 0; back-- {
			day := now.Local().AddDate(0, 0, -back)
			key := day.Format(time.DateOnly)
			row := used[key]
			if row == nil {
				row = &Row{}
			}
			if key >= first && !yield(day, row) {
				return
			}
		}
	}
}
