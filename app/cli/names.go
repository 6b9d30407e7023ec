package cli

import (
	"errors"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"rollcall/adapters"
	"rollcall/app"
	"rollcall/app/present"
)

// agentNamed returns the name of the agent that a user calls name: by the name that the settings and JSON use, by its program ("claude"), or by its title. An
// unknown name, and the program of several agents, is returned as it is.
func agentNamed(name string) adapters.Name {
	var found []adapters.Name
	for _, d := range adapters.Known() {
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
	if len(name) < 2 {
		return ""
	}
	agents := &cobra.Command{SuggestionsMinimumDistance: min((len(name)-1)/2, 2)}
	for _, d := range adapters.Known() {
		if strings.Contains(string(d.Name), strings.ToLower(name)) {
			return string(d.Name)
		}
		agents.AddCommand(&cobra.Command{Use: string(d.Name), Run: func(*cobra.Command, []string) {}})
	}
	return strings.Join(agents.SuggestionsFor(name), " or ")
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
		case strings.Contains(strings.ToLower(present.Topic(brief.Topic)), name):
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
