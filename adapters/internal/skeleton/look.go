// Package skeleton has the steps that adapters of agents with files in a home have in common: it finds the processes and the homes, reads the files that were
// written last, says what holds of a session that no process has, and adds the rows that a query asks for. An adapter fills in what only its agent knows:
// how a process looks, where the files are, what their records mean.
package skeleton

import (
	"context"
	"path/filepath"
	"time"

	"rollcall/adapters"
	"rollcall/adapters/internal/kit"
)

// Look holds the state of one question. The discovery of an adapter embeds it.
type Look struct {
	Ctx    context.Context
	Query  adapters.Query
	Now    time.Time
	Report *kit.Answer // what is answered
	Homes  kit.Roots
	Hidden bool // something that a live process may have was not read

	base      *kit.Base
	processes []*Process                    // that were found
	ends      map[any]func(*adapters.Query) // of the transcripts that were read
}

// Begin begins a question. store is the folder in a home that has the sessions.
func Begin(ctx context.Context, b *kit.Base, q adapters.Query, store string) *Look {
	l := &Look{Ctx: ctx, Query: q, Now: b.Now(), Report: kit.NewAnswer(), base: b, ends: map[any]func(*adapters.Query){}}
	l.Homes = kit.Roots{Answer: l.Report, Store: store}
	return l
}

// Run takes the steps of a question after its processes and homes were found, sets the folders to watch, and returns the answer.
func (l *Look) Run(watch func() []string, steps ...func()) (adapters.Roll, error) {
	if l.Homes.Absent() {
		l.base.Watch.Set(watch())
		return l.Report.Absent()
	}
	for _, step := range steps {
		step()
	}
	l.base.Watch.Set(watch())
	for _, end := range l.ends {
		end(&l.Query)
	}
	return l.Report.Result(l.Ctx, string(l.base.Name()))
}

// Stores calls do for each folder in the store of each home, with the home and the path.
func (l *Look) Stores(do func(ctx context.Context, home, dir string)) {
	for _, home := range l.Homes.Paths {
		store := filepath.Join(home, l.Homes.Store)
		all := l.Report.Folders(l.Ctx, store, func(ctx context.Context, name string) { do(ctx, home, filepath.Join(store, name)) })
		l.Hidden = l.Hidden || !all
	}
}

// Watched returns the folders in which the first session of a home, and the first one of a folder, appear.
func (l *Look) Watched() (paths []string) {
	for _, home := range l.Homes.Paths {
		paths = kit.AppendNew(paths, filepath.Dir(home), home, filepath.Join(home, l.Homes.Store))
	}
	return paths
}

// IsRecent reports whether the query asks for what was written at a time, whoever has it.
func (l *Look) IsRecent(written time.Time) bool {
	return l.Query.Since.IsZero() || !written.Before(l.Query.Since)
}

// Read reads files with kit.ReadAll.
func Read[F kit.File, T any, P kit.Gatherer[T]](l *Look, t *kit.Transcripts[T, P], files []F, take func(F, T) bool, hides func(F)) {
	l.ends[t] = t.End
	kit.ReadAll(l.Ctx, l.Report, t, l.Query, files, take, hides)
}

// Add adds a session that the query asks for: one that is over only if it was active since the time of the query, or is named there.
func (l *Look) Add(row adapters.Session) {
	isOld := len(l.Query.IDs) == 0 && row.Status == adapters.Stopped && row.LastActivityAt.Before(l.Query.Since)
	if kit.Asked(l.Query, row.ID) && !isOld {
		l.Report.AddOnce(row, "several homes have the session", (*adapters.Session).Live)
	}
}

// AddProcess adds the row of a process without a session, if the query asks for it.
func (l *Look) AddProcess(row adapters.Session) {
	if kit.Asked(l.Query, row.ID) {
		l.Report.Add(row)
	}
}

// Unowned returns the state of a session that no process is known to have: one process has a session, or none, or it is unknown. doubt says which one may
// have it; empty: none may. unread reports that one may because something was not read, outcome how its last turn ended, and said what its records say.
func (l *Look) Unowned(doubt string, unread bool, outcome adapters.Outcome, said string) adapters.State {
	switch {
	case doubt != "":
		return kit.Unknown(doubt + "; " + said)
	case l.Homes.NoTable:
		return kit.Unknown("the process table can't be read; " + said)
	case unread:
		return kit.Unknown("not all sessions could be read, so that it is not known which one a process has; " + said)
	}
	return kit.Stopped(outcome, "no process has it; "+said)
}

// Conversations returns the searches of the files that were written since the time of the query. list returns the files of all homes.
func Conversations[F kit.File](l *Look, list func() []F, search func(F) adapters.Conversation) (found []adapters.Conversation, err error) {
	if l.Homes.Absent() {
		return nil, adapters.ErrAbsent
	}
	since := l.Query.Since // list may change it
	for _, f := range list() {
		if !kit.Changed(f).Before(since) {
			found = append(found, search(f))
		}
	}
	_, err = l.Report.Result(l.Ctx, string(l.base.Name()))
	return found, err
}
