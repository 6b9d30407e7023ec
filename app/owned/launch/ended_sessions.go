package launch

import (
	"context"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"rollcall/adapters"
	"rollcall/app"
	"rollcall/app/store/lock"
	"rollcall/bounded"
)

// startTolerance is the difference that the times of a launch and of its agent may have.
const startTolerance = time.Second

// sessionsOfEnded returns the sessions, by launch, of launches that are over and whose session id is not known. Some agents
// store a session only at its end, when it can no longer be found through a process. A session matches a launch if it has
// stopped, began while the launch ran, in the launch's folder and with its prompt, and belongs to no other launch. If
// several sessions match a launch, or a session matches several launches, none is returned for them.
func sessionsOfEnded(over []*Record, records []Record, listed []adapters.Session, now time.Time) map[string]string {
	found, taken := map[string]string{}, map[string]string{}
	for _, r := range over {
		if r.Session != "" {
			continue
		}
		id, ok := sessionOfEnded(r, records, listed, now)
		if !ok {
			continue
		}
		if other, again := taken[id]; again {
			delete(found, other)
			continue
		}
		found[r.ID], taken[id] = id, r.ID
	}
	return found
}

func sessionOfEnded(r *Record, records []Record, listed []adapters.Session, now time.Time) (id string, ok bool) {
	var fitting []*adapters.Session
	for i := range listed {
		s := &listed[i]
		if isFrom(s, r, now) && !slices.ContainsFunc(records, func(o Record) bool { return o.Agent == s.Agent && o.Session == s.ID }) {
			fitting = append(fitting, s)
		}
	}
	if len(fitting) > 1 && r.Model != "" {
		fitting = slices.DeleteFunc(fitting, func(s *adapters.Session) bool { return s.Model != r.Model })
	}
	if len(fitting) != 1 {
		return "", false
	}
	return fitting[0].ID, true
}

// isFrom reports whether a session that has stopped can be from a launch that is over.
func isFrom(s *adapters.Session, r *Record, now time.Time) bool {
	end := now
	if r.Ended() {
		end = r.EndedAt
	}
	switch {
	case s.Live() || s.Parent != "" || s.IsProcess() || !s.HasLocalFolder():
		return false
	case s.StartedAt.Before(r.LaunchedAt.Add(-startTolerance)) || s.StartedAt.After(end.Add(startTolerance)):
		return false
	case !samePrompt(s.FirstPrompt, r.Prompt):
		return false
	}
	return s.CWD == r.Dir || bounded.Answers(s.CWD) && bounded.Answers(r.Dir) && lock.Same(s.CWD, r.Dir)
}

// samePrompt reports whether a session's first prompt is that of a launch, by its beginning: records and agents cut long
// prompts, and launches append files.
func samePrompt(first, launched string) bool {
	const compared = 100 // characters
	whole := utf8.RuneCountInString(launched) < promptShown
	first, launched = strings.Join(strings.Fields(first), " "), strings.Join(strings.Fields(launched), " ")
	if launched == "" || first == "" {
		return false
	}
	a, b := []rune(first), []rune(launched)
	n := min(len(a), len(b), compared)
	return string(a[:n]) == string(b[:n]) &&
		(n == compared || len(a) == len(b) || len(a) > len(b) && (!whole || strings.HasPrefix(string(a[n:]), " --- ")))
}

// learnEnded stores the session of a launch that is over, if the snapshot has one that its agent lists. For a launch whose
// session id is known it stores that the agent has listed the session, which Follow may have missed during a short launch.
// done reports that nothing else can be found out about the launch.
func (l *Launches) learnEnded(ctx context.Context, r Record, snap *app.Snapshot) (_ Record, done bool, err error) {
	if r.Seen || !r.Ended() && (r.Session != "" || l.isAlive(&r, l.now())) {
		return r, r.Ended(), nil
	}
	list := snap.Sessions()
	i := slices.IndexFunc(list, func(s app.Session) bool {
		return s.Agent == r.Agent && !s.Live() && s.Launch != nil && s.Launch.ID == r.ID && !s.Launch.Unlisted
	})
	if i < 0 {
		return r, r.Ended(), nil
	}
	r, err = l.update(ctx, r.ID, func(now *Record) bool {
		id := list[i].ID
		if now.Session != "" && now.Session != id {
			return false
		}
		now.Session, now.Seen = id, true
		return true
	})
	return r, true, err
}
