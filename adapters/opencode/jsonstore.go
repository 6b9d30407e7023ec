package opencode

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"rollcall/adapters"
	"rollcall/adapters/internal/agentfile"
	"rollcall/adapters/internal/kit"
	"rollcall/adapters/internal/sqlitero"
)

// notMoved is how doctor names the sessions that only a version before 1.2 can show.
const notMoved = "session in a JSON file of OpenCode before 1.2, which is not read: OpenCode 1.2 and later move it into their database"

// nameFiles counts the sessions of the JSON store of versions before 1.2 as skipped, unless a later
// version has imported them: it leaves the files. The newest sessions show that.
func (r *root) nameFiles(ctx context.Context, answer *kit.Answer) {
	ids, err := r.oldIDs(ctx)
	if answer.Problem(err); len(ids) == 0 {
		return
	}
	slices.Sort(ids) // the newest first: ids of sessions descend with time
	for _, database := range r.databases {
		if hasAny(ctx, database, ids[:min(len(ids), 20)]) {
			return
		}
	}
	answer.Skip(notMoved, len(ids))
	answer.LeaveOut(kit.NotRecognised, len(ids))
}

// oldIDs returns the ids of the sessions in the JSON store, in a part of the time.
func (r *root) oldIDs(ctx context.Context) (ids []string, err error) {
	ctx, cancel := kit.Part(ctx, 4)
	defer cancel()
	store := filepath.Join(r.path, "storage", "session")
	projects, err := agentfile.Entries(ctx, store)
	for i := 0; i < len(projects) && err == nil; i++ {
		var files []fs.DirEntry
		folder := filepath.Join(store, projects[i].Name())
		if projects[i].IsDir() {
			files, err = agentfile.Entries(ctx, folder)
		}
		for _, f := range files {
			if id, is := strings.CutSuffix(f.Name(), ".json"); is && strings.HasPrefix(id, "ses_") {
				ids = append(ids, id)
			}
		}
	}
	if err == nil || errors.Is(err, fs.ErrNotExist) {
		return ids, nil
	}
	return ids, adapters.AsProblem(store, err)
}

// hasAny reports whether a database has one of the sessions. It returns true for a database that
// can't be read, which is a problem of its own.
func hasAny(ctx context.Context, database string, ids []string) bool {
	if info, err := os.Stat(database); err == nil && info.Size() == 0 {
		return false
	}
	found := 0
	marks, args := idList(ids)
	_, err := sqlitero.Read(ctx, database, func(ctx context.Context, db *sqlitero.DB) error {
		return db.Each(ctx, "SELECT count(*) FROM session WHERE id IN "+marks, args, func(scan func(...any) error) error { return scan(&found) })
	})
	return found > 0 || err != nil
}
