package cli

import (
	"errors"
	"slices"
	"strings"

	"rollcall/adapters"
	"rollcall/app"
	"rollcall/app/present"
)

// agentNamed returns the name of the agent that a user calls name: by the name that the settings and JSON use, by its program ("claude"), or by its title. An
// unknown name, and the program of several agents, is returned as it is.
func agentNamed(name string) adapters.Name {
	var found []adapters.Name
	for _, d := range adapters.Described() {
		switch {
		case string(d.Name) == name:
			return d.Name
		case d.Program == name, strings.EqualFold(d.Title, name):
			found = append(found, d.Name)
		}
	}
	if len(found) == 1 {
		return found[0]
	}
	return adapters.Name(name)
}

// similarAgent returns the name of an agent that a user may have meant; empty: no agent has a similar name.
func similarAgent(name string) string {
	name = strings.ToLower(name)
	best, least := "", 3
	for _, d := range adapters.Described() {
		if len(name) > 1 && strings.Contains(string(d.Name), name) {
			return string(d.Name)
		}
		if n := distance(name, string(d.Name)); n < least && n*2 < len(name) {
			best, least = string(d.Name), n
		}
	}
	return best
}

// distance returns how many letters must be changed, added, removed or exchanged with their neighbour to turn a into b.
func distance(a, b string) int {
	rows := make([][]int, len(a)+1)
	for i := range rows {
		rows[i] = make([]int, len(b)+1)
		rows[i][0] = i
	}
	for j := range rows[0] {
		rows[0][j] = j
	}
	for i := 1; i <= len(a); i++ {
		for j := 1; j <= len(b); j++ {
			cost := 1
			if a[i-1] == b[j-1] {
				cost = 0
			}
			rows[i][j] = min(rows[i-1][j]+1, rows[i][j-1]+1, rows[i-1][j-1]+cost)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				rows[i][j] = min(rows[i][j], rows[i-2][j-2]+1)
			}
		}
	}
	return rows[len(a)][len(b)]
}

// shownStatuses are the words with which statuses are shown, besides their own names.
var shownStatuses = map[string]adapters.Status{"needs you": adapters.Waiting, "needs permission": adapters.Waiting, "asks you": adapters.Waiting}

// statusNamed returns the status that a user calls name, by its own name or by the word with which it is shown.
func statusNamed(name string) string {
	name = strings.ToLower(strings.ReplaceAll(name, "-", " "))
	if s, ok := shownStatuses[name]; ok {
		return string(s)
	}
	return name
}

// findNamed is find for commands that show a session: besides its id they take the name of its project, or a part of its title. Live sessions come first, and
// before those of the last 7 days. Commands that act take only ids, since an agent chooses the titles of its sessions.
func (e *env) findNamed(name string, totals bool) (app.Session, *app.Snapshot, *app.Core, error) {
	s, snap, core, err := e.find(name, totals)
	exit, ok := errors.AsType[*exitError](err)
	if !ok || exit.code != NoSession || strings.TrimSpace(name) == "" {
		return s, snap, core, err
	}
	recent := e.core(week, false).Refresh(e.ctx)
	if e.ctx.Err() != nil {
		return s, snap, core, e.ctx.Err()
	}
	matches := sessionsNamed(slices.Collect(recent.All()), name)
	switch len(matches) {
	case 0:
		return s, snap, core, err
	case 1:
		return e.find(matches[0].ID, totals)
	}
	return s, snap, core, usageError("%s", listMatches(&app.AmbiguousError{Prefix: name, Matches: matches}))
}

// sessionsNamed returns the sessions that a name fits best: live before stopped ones, and those of a project with that name before those with a part of it in
// their title. Sub-agents are left out.
func sessionsNamed(sessions []*app.Session, name string) []app.Session {
	name = strings.ToLower(present.Line(name))
	var ranks [4][]app.Session
	for _, s := range sessions {
		rank := 0
		if !s.Live() {
			rank = 2
		}
		brief := present.Brief(s.Session)
		switch {
		case s.Parent != "":
		case strings.ToLower(present.Project(brief.CWD)) == name:
			ranks[rank] = append(ranks[rank], *s)
		case strings.Contains(strings.ToLower(present.Topic(brief)), name):
			ranks[rank+1] = append(ranks[rank+1], *s)
		}
	}
	for _, found := range ranks {
		if len(found) > 0 {
			return found
		}
	}
	return nil
}
