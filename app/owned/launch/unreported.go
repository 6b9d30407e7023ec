package launch

import (
	"context"
	"errors"
	"io/fs"
	"slices"
	"time"

	"rollcall/adapters"
	"rollcall/app"
)

// Missed is a launch that ended while no tray ran.
type Missed struct {
	Record  Record
	Session adapters.Session // as the agent lists it now; without ID if it lists none
}

// EndedUnreported returns the launches whose process has ended and whose end the user was not notified of. The tray calls
// it before its core starts, which emits events for later ends.
func (l *Launches) EndedUnreported() ([]Record, error) {
	records, err := l.List()
	now := l.now()
	return slices.DeleteFunc(records, func(r Record) bool {
		if !r.Unreported || r.Process.IsZero() {
			return true
		}
		if r.Ended() {
			return false
		}
		_, survives := l.survivor(&r)
		return l.isAlive(&r, now) || survives
	}), err
}

// Missed returns those launches of EndedUnreported of which the user must be notified, with their sessions. It marks the
// others as reported: those that ended more than a day ago, and those whose session continues in another process. live has
// the running sessions. Missed asks core for single sessions; core must list stopped sessions of any age.
func (l *Launches) Missed(ctx context.Context, ended []Record, live *app.Snapshot, core *app.Core) ([]Missed, error) {
	_, err := l.Sweep(ctx, l.Successor(live))
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	sessions := sessionsOf(ctx, core, ended)
	var missed []Missed
	var skipped []string
	for i := range ended {
		r, readErr := l.record(ended[i].ID)
		if readErr != nil || !r.Ended() || !r.Unreported { // removed, moved to the agent's own process, or reported
			continue
		}
		m := Missed{Record: r, Session: sessionOf(&r, sessions)}
		if continues := m.Session.ID != "" && !m.Session.Process.IsZero(); continues || l.now().Sub(m.endedAt(&ended[i])) >= Keep {
			skipped = append(skipped, r.ID)
		} else {
			missed = append(missed, m)
		}
	}
	return missed, errors.Join(err, ctx.Err(), l.MarkReported(ctx, skipped...))
}

// sessionsOf asks each agent for the sessions of its launches.
func sessionsOf(ctx context.Context, core *app.Core, launches []Record) []app.Session {
	ids := map[adapters.Name][]string{}
	for i := range launches {
		if r := &launches[i]; r.Session != "" {
			ids[r.Agent] = append(ids[r.Agent], r.Session)
		}
	}
	for agent, of := range ids {
		core.RefreshOne(ctx, agent, of...)
	}
	var all []app.Session
	for s := range core.Snapshot().Known() {
		all = append(all, *s)
	}
	return all
}

// sessionOf returns the session of a launch, or the zero value.
func sessionOf(r *Record, sessions []app.Session) adapters.Session {
	for i := range sessions {
		if s := &sessions[i]; s.Agent == r.Agent && r.Session != "" && s.ID == r.Session {
			return s.Session
		}
	}
	return adapters.Session{}
}

// endedAt returns the best known time at which the launch ended. was is its record before this run. If that record has no
// end, the launch may have ended long ago, and endedAt returns the time of its last activity.
func (m *Missed) endedAt(was *Record) time.Time {
	if was.Ended() {
		return was.EndedAt
	}
	if m.Session.LastActivityAt.After(was.LaunchedAt) {
		return m.Session.LastActivityAt
	}
	return was.LaunchedAt
}

// MarkReported records that the user was notified of the end of these launches.
func (l *Launches) MarkReported(ctx context.Context, ids ...string) error {
	var errs []error
	for _, id := range ids {
		_, err := l.update(ctx, id, func(r *Record) bool {
			unreported := r.Unreported
			r.Unreported = false
			return unreported
		})
		if !errors.Is(err, fs.ErrNotExist) {
			errs = append(errs, err)
		}
	}
	return errors.Join(errs...)
}
