package opencode

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"slices"
	"strings"
	"time"

	"rollcall/adapters"
	"rollcall/adapters/internal/kit"
	"rollcall/adapters/internal/sqlitero"
)

// factsFormat is the version of the saved facts. It must be raised when the same fields get
// another meaning.
const factsFormat = 4

// savedSessions keeps what was read of sessions between processes, by the path of the database
// and the session's id.
type savedSessions = kit.Saved[facts]

// snapshot holds the result of one read of a database. It is not changed afterwards.
type snapshot struct {
	stamp    sqlitero.Stamp
	scope    scope
	sessions map[string]*facts
	later    string // see reading
}

// problem returns the problem of a database that a later version of OpenCode has changed.
func (s *snapshot) problem(path string) error {
	if s.later == "" {
		return nil
	}
	return &adapters.Problem{Kind: adapters.ErrFormat, Path: path, Err: fmt.Errorf("%q is of a version of OpenCode that is not known", s.later),
		Fix: "update Rollcall; the sessions in the tables that it knows are listed"}
}

// scope selects the wanted sessions.
type scope struct {
	since millis          // those updated no earlier
	also  map[string]bool // and these
	only  map[string]bool // if not nil: only these
	live  millis          // those updated no earlier may run: their tool calls are needed
	runs  bool            // there is a process that may run them
	usage bool            // the times of use are needed
	once  bool            // see Query.Once
}

// covers reports whether the rows that were read for s include those for t.
func (s scope) covers(t scope) bool {
	if t.usage && !s.usage || t.runs && (!s.runs || s.live > t.live) || !within(t.also, s.also) {
		return false
	}
	switch {
	case s.only != nil:
		return t.only != nil && within(t.only, s.only)
	case t.only != nil:
		return s.since <= 0 || within(t.only, s.also)
	}
	return s.since <= t.since
}

func within(a, b map[string]bool) bool {
	for k := range a {
		if !b[k] {
			return false
		}
	}
	return true
}

// wants reports whether a session is wanted.
func (s scope) wants(id string, updated millis) bool {
	if s.only != nil {
		return s.only[id]
	}
	return updated >= s.since || s.also[id]
}

// mayRun reports whether a session may be in a turn: its tool calls are needed then.
func (s scope) mayRun(id string, updated millis) bool {
	return s.runs && (updated >= s.live || s.also[id])
}

// creationTime is the time that OpenCode may take to create its tables.
const creationTime = time.Minute

// sessions returns the sessions of one database by id, those of the scope or more. With
// an error they may be those of an earlier read. The caller must not change the map.
func (a *Adapter) sessions(ctx context.Context, path string, want scope) (map[string]*facts, error) {
	info, err := statDatabase(path)
	if info == nil {
		return nil, err
	}
	stamp, err := sqlitero.Look(path)
	if err != nil {
		return nil, a.databaseProblem(ctx, path, info, err)
	}
	was, _ := a.databases.Get(path)
	if was != nil && was.stamp == stamp && was.scope.covers(want) {
		return was.sessions, was.problem(path)
	}
	now := &snapshot{scope: want}
	now.stamp, err = sqlitero.Read(ctx, path, func(ctx context.Context, db *sqlitero.DB) error {
		r := &reading{db: db, want: want, was: was, saved: a.saved, path: path}
		err := r.all(ctx)
		now.sessions = r.sessions
		now.scope = r.want
		now.later = r.later
		return err
	})
	if err != nil {
		return nil, a.databaseProblem(ctx, path, info, err)
	}
	for _, f := range now.sessions {
		f.files = []string{path}
	}
	a.databases.Put(path, now)
	return now.sessions, now.problem(path)
}

// statDatabase returns nil for a database that can't be read. The error is nil too if the database was removed at this moment, or if OpenCode has not begun to
// write it.
func statDatabase(path string) (fs.FileInfo, error) {
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist), err == nil && info.Mode().IsRegular() && info.Size() == 0:
		return nil, nil
	case err != nil:
		return nil, adapters.AsProblem(path, err)
	}
	return info, nil
}

// databaseProblem returns the problem of a failed read, and nil for a database that
// OpenCode is still creating.
func (a *Adapter) databaseProblem(ctx context.Context, path string, info fs.FileInfo, err error) error {
	if errors.Is(err, sqlitero.ErrTables) && a.Now().Sub(info.ModTime()) < creationTime && info.Size() < 1<<20 {
		return nil
	}
	return sqlitero.Problem(ctx, path, err, "it is read again next time", "if the agent can't open it either, move it away")
}

// reading is one read of a database.
type reading struct {
	db       *sqlitero.DB
	want     scope
	was      *snapshot // of before; nil: none
	session  map[string]bool
	message  map[string]bool
	part     map[string]bool
	next     map[string]bool // columns of session_v2
	rows     map[string]bool // columns of session_message
	later    string          // a table or a migration of a version that is not known yet
	sessions map[string]*facts

	path  string
	saved *savedSessions
	known map[string]*facts // by session: what earlier found; nil: nothing
	costs map[string]int64  // by session: about how many bytes were read for its prompts and sums
}

// before returns what this process or another one read of a session earlier, or nil. The result is
// valid as long as the session's last message and the time of its update are the same.
func (r *reading) before(f *facts) *facts {
	old := r.earlier(f.id)
	if old == nil || old.id != f.id || old.last.ID != f.last.ID || old.last.updated != f.last.updated || old.updated != f.updated {
		return nil
	}
	return old
}

// earlier returns what was read of a session earlier, whether it has changed since or not; nil: nothing.
func (r *reading) earlier(id string) *facts {
	if r.was != nil && r.was.sessions[id] != nil {
		return r.was.sessions[id]
	}
	old, asked := r.known[id]
	if !asked {
		if saved, ok := r.saved.Load(r.path + "#" + id); ok {
			old = &saved
		}
		if r.known == nil {
			r.known = map[string]*facts{}
		}
		r.known[id] = old
	}
	return old
}

// save keeps those sessions of which more than the row was read.
func (r *reading) save() {
	for id, cost := range r.costs {
		if f := r.sessions[id]; f != nil {
			r.saved.Store(r.path+"#"+id, f, &f.ledger, cost)
		}
	}
}

func (r *reading) all(ctx context.Context) error {
	if err := r.tables(ctx); err != nil {
		return err
	}
	r.sessions = map[string]*facts{}
	for _, step := range []func(context.Context) error{r.list, r.lists, r.prompts, r.sums} {
		if err := step(ctx); err != nil {
			return err
		}
	}
	for _, f := range r.sessions {
		details := r.details
		if f.next != nil {
			details = r.detailsNext
		}
		if err := details(ctx, f); err != nil {
			return err
		}
		f.finish()
	}
	r.keepUsage()
	var err error
	if r.want.usage {
		err = r.usage(ctx)
	}
	r.save()
	return err
}

// lists reads the sessions of OpenCode 2. One that it has imported replaces that of 1.x.
func (r *reading) lists(ctx context.Context) error {
	if r.hasV1() && len(r.rows) > 0 {
		if err := r.listNext(ctx, "session", r.session); err != nil {
			return err
		}
	}
	if len(r.next) > 0 {
		return r.listNext(ctx, "session_v2", r.next)
	}
	return nil
}

// hasV1 reports whether the database has the tables of 1.x.
func (r *reading) hasV1() bool { return len(r.session) > 0 }

// tables learns which columns the database has. There are none in a database that
// OpenCode has just created; one that lacks what is needed is an error.
func (r *reading) tables(ctx context.Context) error {
	var err error
	for table, columns := range map[string]*map[string]bool{"session": &r.session, "message": &r.message, "part": &r.part,
		"session_v2": &r.next, "session_message": &r.rows} {
		*columns, err = r.db.Columns(ctx, table)
		if err != nil {
			return err
		}
	}
	if len(r.session) == 0 && len(r.message) == 0 && len(r.next) == 0 {
		if empty, err := r.empty(ctx); empty || err != nil {
			return err
		}
		return sqlitero.ErrTables
	}
	if r.hasV1() || len(r.message) > 0 {
		if !has(r.session, "id", "directory", "time_created", "time_updated") ||
			!has(r.message, "id", "session_id", "time_created", "data") || !has(r.part, "id", "message_id", "data") {
			return sqlitero.ErrTables
		}
	}
	return r.tablesNext(ctx)
}

// tablesNext checks the tables of OpenCode 2, and looks for those of a later version.
func (r *reading) tablesNext(ctx context.Context) error {
	needed := []string{"id", "session_id", "type", "seq", "time_created", "time_updated", "data"}
	if len(r.next) > 0 && (!has(r.next, "id", "directory", "time_created", "time_updated", "time_suspended") || !has(r.rows, needed...)) {
		return sqlitero.ErrTables
	}
	if !has(r.rows, needed...) {
		r.rows = nil // it was another table before (1.14)
	}
	scanName := func(scan func(...any) error) error { return scan(&r.later) }
	err := r.db.Each(ctx, `SELECT name FROM sqlite_schema WHERE type = 'table' AND name GLOB 'session_v[0-9]*' AND name <> 'session_v2'`, nil, scanName)
	if kv, _ := r.db.Columns(ctx, "kv"); err == nil && has(kv, "key") {
		err = r.db.Each(ctx, `SELECT key FROM kv WHERE key GLOB 'migration.v[0-9]*' AND key <> 'migration.v1-v2'`, nil, scanName)
	}
	return err
}

// empty reports whether the database has no table at all: OpenCode has just created it.
func (r *reading) empty(ctx context.Context) (bool, error) {
	n := 0
	err := r.db.Each(ctx, "SELECT count(*) FROM sqlite_schema", nil, func(scan func(...any) error) error { return scan(&n) })
	return n == 0, err
}

func has(columns map[string]bool, names ...string) bool {
	return !slices.ContainsFunc(names, func(n string) bool { return !columns[n] })
}

// columnOf returns the SQL for a column of the session s, or otherwise for a table that lacks it.
func columnOf(columns map[string]bool, name, otherwise string) string {
	if !columns[name] {
		return otherwise
	}
	return "coalesce(s." + name + ", " + otherwise + ")"
}

// where returns the condition that restricts a query over sessions, called s, to the
// wanted ones, with its arguments.
func (r *reading) where() (string, []any) {
	if r.want.only != nil {
		marks, args := idList(slices.Collect(maps.Keys(r.want.only)))
		return "s.id IN " + marks, args
	}
	if r.want.since <= 0 {
		return "1", nil
	}
	marks, args := idList(slices.Collect(maps.Keys(r.want.also)))
	return "(s.id IN " + marks + " OR s.time_updated >= ?)", append(args, int64(r.want.since))
}

// idList returns the SQL for a list of ids, with its arguments.
func idList(ids []string) (marks string, args []any) {
	for _, id := range ids {
		args = append(args, id)
	}
	return "(" + strings.TrimSuffix(strings.Repeat("?,", len(ids)), ",") + ")", args
}

// listLimit is the largest number of ids in the list of one statement.
const listLimit = 200
