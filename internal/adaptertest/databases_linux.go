package adaptertest

import (
	"bytes"
	"database/sql"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	_ "modernc.org/sqlite" // the driver "sqlite"
)

// rewriteDatabases translates the storage paths in SQLite files, for example
// Codex's threads.rollout_path: a column whose whole value is such a path.
func (r *Recording) rewriteDatabases(t testing.TB) {
	t.Helper()
	err := filepath.WalkDir(r.Home, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || !entry.Type().IsRegular() {
			return err
		}
		content, err := os.ReadFile(path)
		if err != nil || !bytes.HasPrefix(content, []byte("SQLite format 3\x00")) {
			return err
		}
		wal, _ := os.ReadFile(path + "-wal")
		needle := []byte(r.recordedHome + "/.")
		if bytes.Contains(wal, needle) {
			return fmt.Errorf("%s-wal has paths of the agent's storage: they can't be translated without ending the WAL", path)
		}
		if !bytes.Contains(content, needle) {
			return nil
		}
		return r.rewriteDatabase(path)
	})
	if err != nil {
		t.Fatalf("recording: %v", err)
	}
}

func (r *Recording) rewriteDatabase(path string) error {
	db, err := sql.Open("sqlite", "file:"+path)
	if err != nil {
		return err
	}
	defer db.Close()
	columns, err := textColumns(db)
	if err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	for _, c := range columns {
		// substr, not LIKE: a path may hold wildcards.
		query := fmt.Sprintf("UPDATE %[1]s SET %[2]s = ?1 || substr(%[2]s, length(?2)+1) WHERE substr(%[2]s, 1, length(?2)+2) = ?2 || '/.'", c.table, c.column)
		if _, err := db.Exec(query, r.Home, r.recordedHome); err != nil {
			return fmt.Errorf("%s: %s.%s: %w", path, c.table, c.column, err)
		}
	}
	return nil
}

type tableColumn struct{ table, column string }

// textColumns lists the quoted names of all text columns of ordinary tables.
func textColumns(db *sql.DB) ([]tableColumn, error) {
	rows, err := db.Query(`SELECT m.name, c.name FROM sqlite_master m, pragma_table_info(m.name) c
		WHERE m.type = 'table' AND m.sql NOT LIKE 'CREATE VIRTUAL%' AND upper(c.type) IN ('TEXT', 'VARCHAR', '')`)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var columns []tableColumn
	for rows.Next() {
		var table, column string
		if err := rows.Scan(&table, &column); err != nil {
			return nil, err
		}
		columns = append(columns, tableColumn{quoted(table), quoted(column)})
	}
	return columns, rows.Err()
}

func quoted(name string) string {
	return `"` + strings.ReplaceAll(name, `"`, `""`) + `"`
}
