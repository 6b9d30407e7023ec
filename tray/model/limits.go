package model

import (
	"cmp"
	"slices"
	"time"

	"rollcall/adapters"
	"rollcall/app"
	"rollcall/app/present"
)

// MaxLimits is the number of rows for limits that are nearly used up.
const MaxLimits = 3

// LimitRows returns a row for each limit of which more than app.HighLimit per cent are used, the highest first. account returns the name of a
// home that needs one.
func LimitRows(agents []app.AgentLimits, account func(*app.AgentLimits, string) string, now time.Time) (rows []Row) {
	type high struct {
		agent *app.AgentLimits
		limit *adapters.Limit
	}
	var found []high
	for i := range agents {
		for j := range agents[i].Limits {
			if l := &agents[i].Limits[j]; l.Balance == "" && l.Used > app.HighLimit && l.Holds(now) {
				found = append(found, high{&agents[i], l})
			}
		}
	}
	slices.SortStableFunc(found, func(a, b high) int { return cmp.Compare(b.limit.Used, a.limit.Used) })
	for _, h := range found[:min(len(found), MaxLimits)] {
		line := present.LimitLine(h.agent.Agent, present.Line(account(h.agent, h.limit.Home)), h.limit, now)
		rows = append(rows, Row{Kind: Limit, Text: present.Cut(line, adapterWidth)})
	}
	return rows
}
