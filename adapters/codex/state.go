package codex

import (
	"context"
	"database/sql"
	"fmt"
	"path/filepath"
	"strconv"
	"strings"

	"rollcall/adapters/internal/report"
	"rollcall/adapters/internal/sqlitero"
)

// thread holds what Codex's state database adds to a rollout. The rollout decides; the
// database only helps, and versions up to 0.80 have none.
type thread struct {
	name, branch, model, version, parent string
}

// states keeps what was read of each state database, by path, until that changes.
type states struct{ report.Memo[string, state] }

type state struct {
	stamp   sqlitero.Stamp
	threads map[string]thread
	of      []string // the threads asked for; nil: all
}

// maxIDs is the largest number of threads that one query asks for by their ids.
const maxIDs = 64

// threads returns the rows of a root's newest state database, for the given
// threads or more. The map is not to be changed. path is empty when there is no
// database.
func (s *states) threads(ctx context.Context, dirs []string, ids []string) (threads map[string]thread, path string, err error) {
	path, err = newestState(dirs)
	if path == "" || err != nil {
		return nil, path, err
	}
	stamp, err := sqlitero.Look(path)
	if err != nil {
		return nil, path, problem(ctx, path, err)
	}
	was, _ := s.Get(path)
	if was.threads != nil && was.stamp == stamp && (was.of == nil || isSubset(ids, was.of)) {
		return was.threads, path, nil
	}
	if len(ids) > maxIDs {
		ids = nil
	}
	now := state{of: ids}
	now.stamp, err = sqlitero.Read(ctx, path, func(ctx context.Context, db *sqlitero.DB) error {
		now.threads, err = queryThreads(ctx, db, ids)
		return err
	})
	if err != nil {
		return was.threads, path, problem(ctx, path, err)
	}
	s.Put(path, now)
	return now.threads, path, nil
}

// newestState finds state_N.sqlite with the highest N, in the first folder that
// has one.
func newestState(dirs []string) (string, error) {
	for _, dir := range dirs {
		paths, err := filepath.Glob(filepath.Join(escapeGlob(dir), "state_*.sqlite"))
		if err != nil {
			return "", err
		}
		best, newest := -1, ""
		for _, p := range paths {
			n, err := strconv.Atoi(strings.TrimSuffix(strings.TrimPrefix(filepath.Base(p), "state_"), ".sqlite"))
			if err == nil && n > best {
				best, newest = n, p
			}
		}
		if newest != "" {
			return newest, nil
		}
	}
	return "", nil
}

var globEscapes = strings.NewReplacer(`*`, `[*]`, `?`, `[?]`, `[`, `[[]`)

func escapeGlob(path string) string { return globEscapes.Replace(path) }

func problem(ctx context.Context, path string, err error) error {
	return sqlitero.Problem(ctx, path, err, "it is read again next time; titles may be missing until then",
		"sessions are read from their rollouts; Codex creates the file again if it is removed")
}

// queryThreads asks for the columns that this version's table has.
func queryThreads(ctx context.Context, db *sqlitero.DB, ids []string) (map[string]thread, error) {
	has, err := db.Columns(ctx, "threads")
	if err != nil {
		return nil, err
	}
	if !has["id"] {
		return nil, sqlitero.ErrTables
	}
	column := func(name string) string {
		if !has[name] {
			return "''"
		}
		return "substr(coalesce(t." + name + ", ''), 1, " + strconv.Itoa(textLimit) + ")"
	}
	parent := "''"
	if edges, err := db.Columns(ctx, "thread_spawn_edges"); err != nil {
		return nil, err
	} else if edges["parent_thread_id"] && edges["child_thread_id"] {
		parent = "coalesce((SELECT e.parent_thread_id FROM thread_spawn_edges e WHERE e.child_thread_id = t.id), '')"
	}
	query := fmt.Sprintf("SELECT t.id, %s, %s, %s, %s, %s, %s, %s FROM threads t", column("name"), column("title"),
		column("first_user_message"), column("git_branch"), column("model"), column("cli_version"), parent)
	var args []any
	if ids != nil {
		query += " WHERE t.id IN (" + strings.TrimSuffix(strings.Repeat("?,", len(ids)), ",") + ")"
		for _, id := range ids {
			args = append(args, id)
		}
	}
	rows, err := db.Query(ctx, query, args...)
	if err != nil {
		return nil, err
	}
	return scanThreads(rows)
}

func scanThreads(rows *sql.Rows) (map[string]thread, error) {
	defer rows.Close()
	threads := map[string]thread{}
	for rows.Next() {
		var id, title, message string
		var t thread
		if err := rows.Scan(&id, &t.name, &title, &message, &t.branch, &t.model, &t.version, &t.parent); err != nil {
			return nil, err
		}
		if t.name == "" {
			t.name = ownTitle(title, message)
		}
		threads[id] = t
	}
	return threads, rows.Err()
}

// ownTitle drops a title that is only the first message or its beginning: before
// threads had names (0.142.5) that was the default.
func ownTitle(title, message string) string {
	title = strings.TrimSpace(title)
	begin := strings.TrimRight(strings.TrimSuffix(strings.TrimSuffix(title, "…"), "..."), " ")
	if strings.HasPrefix(strings.TrimSpace(message), begin) {
		return ""
	}
	return title
}

func isSubset(ids, of []string) bool {
	if ids == nil {
		return false
	}
	there := make(map[string]bool, len(of))
	for _, id := range of {
		there[id] = true
	}
	for _, id := range ids {
		if !there[id] {
			return false
		}
	}
	return true
}
