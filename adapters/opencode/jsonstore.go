package opencode

import (
	"context"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"

	"rollcall/adapters/internal/kit"
	"rollcall/adapters/internal/sqlitero"
)

// notMoved is how doctor names the sessions that only a version before 1.2 can show.
const notMoved = "session in a JSON file of OpenCode before 1.2, which is not read: OpenCode 1.2 and later move it into their database"

// nameFiles counts the sessions of the JSON store of versions before 1.2 as skipped, unless a later
// version has imported them: it leaves the files. The newest sessions show that.
func (r *root) nameFiles(ctx context.Context, answer *kit.Answer) {
	files, err := fs.Glob(os.DirFS(r.path), "storage/session/*/ses_*.json")
	if err != nil || len(files) == 0 {
		return
	}
	ids := make([]string, len(files))
	for i, f := range files {
		ids[i] = strings.TrimSuffix(path.Base(f), ".json")
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
