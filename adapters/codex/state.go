package codex

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"rollcall/adapters"
	"rollcall/adapters/internal/kit"
	"rollcall/adapters/internal/sqlitero"
)

// thread holds what Codex's state database adds to a rollout. The rollout decides; the
// database only helps.
type thread struct {
	name, branch, model, version, parent string
}

// states keeps what was read of each state database, by path, until that changes.
type states struct{ kit.Memo[string, state] }

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
	path = newestState(dirs)
	if path == "" {
		return nil, "", nil
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

// newestState returns the path of state_N.sqlite with the highest N, in the first folder that
// has one; empty: there is none.
func newestState(dirs []string) string {
	for _, dir := range dirs {
		entries, _ := os.ReadDir(dir) // a missing folder has none
		best, newest := -1, ""
		for _, e := range entries {
			name, isState := strings.CutPrefix(e.Name(), "state_")
			number, isDatabase := strings.CutSuffix(name, ".sqlite")
			if n, err := strconv.Atoi(number); isState && isDatabase && err == nil && n > best {
				best, newest = n, filepath.Join(dir, e.Name())
			}
		}
		if newest != "" {
			return newest
		}
	}
	return ""
}

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
	threads := map[string]thread{}
	return threads, db.Each(ctx, query, args, func(scan func(...any) error) error {
		var id, title, message string
		var t thread
		err := scan(&id, &t.name, &title, &message, &t.branch, &t.model, &t.version, &t.parent)
		t.name = cmp.Or(t.name, ownTitle(title, message))
		if t.branch == adapters.NoBranch {
			t.branch = ""
		}
		threads[id] = t
		return err
	})
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

// isSubset reports whether all ids are among at most maxIDs others.
func isSubset(ids, of []string) bool {
	return !slices.ContainsFunc(ids, func(id string) bool { return !slices.Contains(of, id) })
}
