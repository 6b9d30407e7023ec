// Package usage sums up what sessions used: tokens, turns and cost, by day, project, agent, model, branch, group, home or session. Its
// functions have no side effects.
package usage

import (
	"cmp"
	"math"
	"slices"
	"strings"
	"time"

	"rollcall/adapters"
	"rollcall/app"
	"rollcall/app/owned/worktree"
	"rollcall/app/settings"
)

// By is what each row of a table sums up.
type By string

// The ways to group what was used.
const (
	ByDay     By = "day" // in local time
	ByProject By = "project"
	ByAgent   By = "agent"
	ByModel   By = "model"
	ByBranch  By = "branch"
	ByGroup   By = "group" // of launches
	ByHome    By = "home"  // of agents, which stand for accounts
	BySession By = "session"
)

// Ways are all ways to group what was used.
var Ways = []By{ByDay, ByProject, ByAgent, ByModel, ByBranch, ByGroup, ByHome, BySession}

// Row sums up some sessions.
type Row struct {
	Key      string          `json:"key"`               // a session's is its id; empty where it is not known, such as the branch of a folder without git
	Title    string          `json:"title,omitempty"`   // of the session, or its first prompt, where a row is one
	Sessions int             `json:"sessions"`          // that used something, without reviews by a model; a session can count in several rows
	Answers  int             `json:"answers,omitempty"` // of models, where the agent records them
	Turns    int             `json:"turns"`             // prompts of the user that were answered, where the agent records them
	Tokens   adapters.Tokens `json:"tokens"`
	// Unknown is how many of the sessions have no totals: their agent recorded none, or
	// they could not be read in time.
	Unknown int `json:"without_tokens,omitempty"`
	// CostUSD is the cost of the Costed sessions: as the agent states it, or else by the
	// user's price of the model.
	CostUSD float64 `json:"cost_usd,omitempty"`
	Costed  int     `json:"cost_sessions,omitempty"`

	apart int64 // reasoning that is no part of the output
}

// Table is the usage of sessions.
type Table struct {
	By    By
	Rows  []Row // by day the newest first, otherwise those with the most tokens first
	Total Row
	// Untimed is how many sessions have totals but no record of when they used what. Such
	// a session counts as a whole, at the time of its last activity.
	Untimed int
}

// Start returns the time from which usage counts, for the current time and the period that the user asks for. It returns the
// beginning of the local day on which the period begins, so that no day counts in part. For a period of less than a day it
// returns the beginning of the period's first quarter of an hour, and for app.All the zero time.
func Start(now time.Time, period time.Duration) time.Time {
	if period == app.All {
		return time.Time{}
	}
	at := now.Add(-period)
	if period < 24*time.Hour {
		return at.Truncate(adapters.UsageStep)
	}
	y, m, d := at.Local().Date()
	return time.Date(y, m, d, 0, 0, 0, 0, time.Local)
}

// Period returns how far back sessions must be read for what was used from start on, for app.Config.Since.
func Period(now, start time.Time) time.Duration {
	if start.IsZero() {
		return app.All
	}
	return now.Sub(start) + time.Minute // an extra minute, since the sessions are read a moment later
}

// Query is what to sum up, and how.
type Query struct {
	By       By
	Prices   map[string]settings.Price // by model, for sessions whose agent states no cost
	Since    time.Time                 // zero: ever
	Projects Projects                  // for ByProject
}

// Of sums up what sessions used. Rows of processes without a session are left out.
func Of(sessions []app.Session, q Query) Table {
	by := q.By
	t := tally{Query: q, table: Table{By: by}, rows: map[string]*Row{}}
	for i := range sessions {
		if s := &sessions[i]; !s.IsProcess() {
			t.add(s)
		}
	}
	for _, r := range t.rows {
		r.round()
		t.table.Rows = append(t.table.Rows, *r)
	}
	t.table.Total.round()
	slices.SortFunc(t.table.Rows, func(a, b Row) int {
		if by == ByDay {
			return strings.Compare(b.Key, a.Key)
		}
		return cmp.Or(cmp.Compare(b.All(), a.All()), strings.Compare(a.Key, b.Key))
	})
	return t.table
}

// All returns all tokens of a row: input, output, those of caches, and reasoning, each once.
func (r *Row) All() int64 {
	t := &r.Tokens
	return t.Input + t.Output + t.CacheRead + t.CacheWrite + r.apart
}

// Name returns what a reader calls the row: the title of its session, or else its key.
func (r *Row) Name() string { return cmp.Or(r.Title, r.Key) }

// round removes the rounding errors that adding fractions leaves in the cost.
func (r *Row) round() { r.CostUSD = math.Round(r.CostUSD*1e6) / 1e6 }

// tally is a table that is being summed up.
type tally struct {
	Query
	table Table
	rows  map[string]*Row
}

// add adds one session: what it used since, or, if the times of its usage are not known, all of its usage if it was active
// since then.
func (t *tally) add(s *app.Session) {
	steps := s.Usage
	if steps == nil {
		whole := adapters.Usage{At: s.LastActivityAt, CostUSD: s.CostUSD}
		if s.Tokens != nil {
			whole.Tokens = *s.Tokens
		}
		steps = []adapters.Usage{whole}
	}
	var total counted
	rows := map[string]*counted{} // of this session
	day := dayOf{}
	for i := range steps {
		u := &steps[i]
		if u.At.Before(t.Since) {
			continue
		}
		if t.By == ByDay && !day.contains(u.At) {
			day = dayAt(u.At)
		}
		key := t.keyOf(s, u, day.name)
		row := rows[key]
		if row == nil {
			row = &counted{}
			rows[key] = row
		}
		row.add(s, u, t.Prices)
		total.add(s, u, t.Prices)
	}
	for key, c := range rows {
		row := t.row(key)
		row.count(s, c)
		if t.By == BySession {
			row.Title = cmp.Or(s.Title, s.FirstPrompt)
		}
	}
	if !total.isIn {
		return
	}
	t.table.Total.count(s, &total)
	if s.Usage == nil && s.Tokens != nil {
		t.table.Untimed++
	}
}

// counted is what one session adds to a row.
type counted struct {
	isIn, priced bool
	usage        adapters.Usage
}

func (c *counted) add(s *app.Session, u *adapters.Usage, prices map[string]settings.Price) {
	usd, ok := costOf(s, u, prices)
	more := *u
	more.CostUSD = usd
	c.usage.Add(&more)
	c.isIn, c.priced = true, c.priced || ok
}

func (t *tally) row(key string) *Row {
	if t.rows[key] == nil {
		t.rows[key] = &Row{Key: key}
	}
	return t.rows[key]
}

// count counts a session with what it used, and whether its totals and its cost are known.
func (r *Row) count(s *app.Session, c *counted) {
	if !s.Review {
		r.Sessions++
	}
	if s.Tokens == nil {
		r.Unknown++
	}
	if c.priced {
		r.Costed++
	}
	r.Answers += c.usage.Answers
	r.Turns += c.usage.Turns
	r.Tokens.Add(c.usage.Tokens)
	r.apart += adapters.Written(s.Agent, c.usage.Tokens) - c.usage.Tokens.Output
	r.CostUSD += c.usage.CostUSD
}

// costOf returns what a step of a session cost. ok is false where the agent states neither the session's cost nor that of the step, as it can for
// the answers of sub-agents, and the user gives no price for the model.
func costOf(s *app.Session, u *adapters.Usage, prices map[string]settings.Price) (usd float64, ok bool) {
	if s.CostUSD > 0 || u.CostUSD > 0 {
		return u.CostUSD, true
	}
	p, ok := prices[cmp.Or(u.Model, s.Model)]
	if !ok || s.Tokens == nil {
		return 0, false
	}
	t := &u.Tokens
	return (float64(t.Input)*p.Input + float64(adapters.Written(s.Agent, *t))*p.Output + float64(t.CacheRead)*p.CacheRead + float64(t.CacheWrite)*p.CacheWrite) / 1e6, true
}

// dayOf is one local day. Its zero value contains no time.
type dayOf struct {
	name       string
	start, end time.Time
}

// dayAt returns the local day of a time; for the zero time it returns the zero dayOf.
func dayAt(at time.Time) dayOf {
	if at.IsZero() {
		return dayOf{}
	}
	y, m, d := at.Local().Date()
	start := time.Date(y, m, d, 0, 0, 0, 0, time.Local)
	return dayOf{name: start.Format(time.DateOnly), start: start, end: start.AddDate(0, 0, 1)}
}

func (d *dayOf) contains(at time.Time) bool { return !at.Before(d.start) && at.Before(d.end) }

func (t *tally) keyOf(s *app.Session, u *adapters.Usage, day string) string {
	switch t.By {
	case ByDay:
		return day
	case ByProject:
		folder := cmp.Or(u.CWD, s.CWD)
		if s.HasLocalFolder() {
			folder = cmp.Or(t.Projects[folder], folder)
		}
		return projectOf(folder)
	case ByAgent:
		return string(s.Agent)
	case ByModel:
		return cmp.Or(u.Model, s.Model)
	case ByBranch:
		if u.Branch != adapters.NoBranch {
			return cmp.Or(u.Branch, s.Branch)
		}
	case ByHome:
		return cmp.Or(u.Home, s.Home)
	case BySession:
		return s.ID
	case ByGroup:
		if s.Launch != nil {
			return s.Launch.Group
		}
	}
	return ""
}

// Projects are the repositories of folders of this machine.
type Projects map[string]string

// ProjectsOf looks for the repositories of the folders in which sessions worked; the folder of a worktree belongs to the repository of which it is one. It reads
// the file system, so that it must not be called on Fyne's goroutine.
func ProjectsOf(sessions []app.Session) Projects {
	p := Projects{}
	for i := range sessions {
		s := &sessions[i]
		if !s.HasLocalFolder() {
			continue
		}
		p.add(s.CWD)
		for k := range s.Usage {
			p.add(s.Usage[k].CWD)
		}
	}
	return p
}

func (p Projects) add(folder string) {
	if folder != "" && p[folder] == "" {
		p[folder] = worktree.Repository(folder)
	}
}

// projectOf returns the project of a folder. Editors write the letter of a Windows drive small and terminals write it large.
func projectOf(folder string) string {
	if len(folder) > 2 && folder[1] == ':' && (folder[2] == '\\' || folder[2] == '/') {
		return strings.ToUpper(folder[:1]) + folder[1:]
	}
	return folder
}
