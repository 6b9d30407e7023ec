// Package usage sums up what sessions used: tokens and cost, by day, project, agent, model, branch or group. Its functions
// have no side effects.
package usage

import (
	"cmp"
	"math"
	"slices"
	"strings"
	"time"

	"rollcall/adapters"
	"rollcall/app"
	"rollcall/app/settings"
)

// By is what the rows of a table stand for.
type By string

// The ways to group sessions.
const (
	ByDay     By = "day" // on which a session was last active, in local time
	ByProject By = "project"
	ByAgent   By = "agent"
	ByModel   By = "model"
	ByBranch  By = "branch"
	ByGroup   By = "group" // of launches
)

// Ways are all ways to group sessions.
var Ways = []By{ByDay, ByProject, ByAgent, ByModel, ByBranch, ByGroup}

// Row sums up some sessions.
type Row struct {
	Key      string // empty where it is not known, such as the branch of a folder without git
	Sessions int
	Tokens   adapters.Tokens
	// Unknown is how many of the sessions have no totals: their agent recorded none, or
	// they could not be read in time.
	Unknown int
	// CostUSD is the cost of the Costed sessions: as the agent states it, or else by the
	// user's price of the model.
	CostUSD float64
	Costed  int
}

// Table is the usage of sessions.
type Table struct {
	By    By
	Rows  []Row // by day the newest first, otherwise those with the most tokens first
	Total Row
}

// Of sums up sessions. A session counts as a whole in one row. Rows of processes without a
// session are left out.
func Of(sessions []app.Session, by By, prices map[string]settings.Price) Table {
	t := Table{By: by}
	rows := map[string]*Row{}
	for i := range sessions {
		s := &sessions[i]
		if s.IsProcess() {
			continue
		}
		key := keyOf(s, by)
		if rows[key] == nil {
			rows[key] = &Row{Key: key}
		}
		rows[key].add(s, prices)
		t.Total.add(s, prices)
	}
	for _, r := range rows {
		r.round()
		t.Rows = append(t.Rows, *r)
	}
	t.Total.round()
	slices.SortFunc(t.Rows, func(a, b Row) int {
		if by == ByDay {
			return strings.Compare(b.Key, a.Key)
		}
		return cmp.Or(cmp.Compare(b.All(), a.All()), strings.Compare(a.Key, b.Key))
	})
	return t
}

// All returns all tokens of a row: input, output and those of caches. Reasoning is a part
// of the output.
func (r *Row) All() int64 {
	t := &r.Tokens
	return t.Input + t.Output + t.CacheRead + t.CacheWrite
}

// round drops what adding fractions leaves in the cost.
func (r *Row) round() { r.CostUSD = math.Round(r.CostUSD*1e6) / 1e6 }

func (r *Row) add(s *app.Session, prices map[string]settings.Price) {
	r.Sessions++
	if s.Tokens == nil {
		r.Unknown++
	} else {
		r.Tokens.Add(*s.Tokens)
	}
	if usd, ok := costOf(s, prices); ok {
		r.CostUSD += usd
		r.Costed++
	}
}

// costOf returns what a session cost. ok is false where the agent does not state it and the
// user gives no price for the model.
func costOf(s *app.Session, prices map[string]settings.Price) (usd float64, ok bool) {
	if s.CostUSD > 0 {
		return s.CostUSD, true
	}
	p, ok := prices[s.Model]
	if !ok || s.Tokens == nil {
		return 0, false
	}
	t := s.Tokens
	return (float64(t.Input)*p.Input + float64(t.Output)*p.Output + float64(t.CacheRead)*p.CacheRead + float64(t.CacheWrite)*p.CacheWrite) / 1e6, true
}

func keyOf(s *app.Session, by By) string {
	switch by {
	case ByDay:
		if s.LastActivityAt.IsZero() {
			return ""
		}
		return s.LastActivityAt.Local().Format(time.DateOnly)
	case ByProject:
		return s.CWD
	case ByAgent:
		return string(s.Agent)
	case ByModel:
		return s.Model
	case ByBranch:
		return s.Branch
	case ByGroup:
		if s.Launch != nil {
			return s.Launch.Group
		}
	}
	return ""
}
