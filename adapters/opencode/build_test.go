package opencode

import (
	"database/sql"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	_ "modernc.org/sqlite" // the driver

	"rollcall/internal/must"
)

// tables are those of 1.18.33 that hold sessions, as a real one made them.
const tables = `
CREATE TABLE session (id text PRIMARY KEY, project_id text NOT NULL, parent_id text, slug text NOT NULL, directory text NOT NULL, path text,
	title text NOT NULL, version text NOT NULL, summary_diffs text, cost real DEFAULT 0 NOT NULL, tokens_input integer DEFAULT 0 NOT NULL,
	tokens_output integer DEFAULT 0 NOT NULL, tokens_reasoning integer DEFAULT 0 NOT NULL, tokens_cache_read integer DEFAULT 0 NOT NULL,
	tokens_cache_write integer DEFAULT 0 NOT NULL, permission text, agent text, model text, time_created integer NOT NULL,
	time_updated integer NOT NULL, time_archived integer);
CREATE TABLE message (id text PRIMARY KEY, session_id text NOT NULL, time_created integer NOT NULL, time_updated integer NOT NULL, data text NOT NULL);
CREATE TABLE part (id text PRIMARY KEY, message_id text NOT NULL, session_id text NOT NULL, time_created integer NOT NULL, time_updated integer NOT NULL, data text NOT NULL);
CREATE INDEX message_session_time_created_id_idx ON message (session_id, time_created, id);
CREATE INDEX part_message_id_id_idx ON part (message_id, id);
CREATE INDEX part_session_idx ON part (session_id);`

// oldTables are those of 1.2.27: they keep no sums and no model.
const oldTables = `
CREATE TABLE session (id text PRIMARY KEY, project_id text NOT NULL, parent_id text, slug text NOT NULL, directory text NOT NULL,
	title text NOT NULL, version text NOT NULL, permission text, time_created integer NOT NULL, time_updated integer NOT NULL, time_archived integer);
CREATE TABLE message (id text PRIMARY KEY, session_id text NOT NULL, time_created integer NOT NULL, time_updated integer NOT NULL, data text NOT NULL);
CREATE TABLE part (id text PRIMARY KEY, message_id text NOT NULL, session_id text NOT NULL, time_created integer NOT NULL, time_updated integer NOT NULL, data text NOT NULL);
CREATE INDEX message_session_time_created_id_idx ON message (session_id, time_created, id);
CREATE INDEX part_message_id_id_idx ON part (message_id, id);`

// store is OpenCode's data folder, with a database that stays open for writing.
type store struct {
	testing.TB
	home, data string
	db         *sql.DB
	n          int
}

// newHome makes an empty home.
func newHome(t testing.TB) *store {
	t.Helper()
	home, err := filepath.EvalSymlinks(t.TempDir())
	must.Do(t, err)
	s := &store{TB: t, home: home, data: filepath.Join(home, ".local", "share", "opencode")}
	must.Do(t, os.MkdirAll(s.data, 0o755))
	return s
}

// newStore makes a home with a database in WAL mode.
func newStore(t testing.TB, schema string) *store {
	t.Helper()
	s := newHome(t)
	db, err := sql.Open("sqlite", "file:"+filepath.Join(s.data, "opencode.db")+"?_pragma=journal_mode(WAL)&_pragma=busy_timeout(5000)")
	must.Do(t, err)
	db.SetMaxOpenConns(1)
	t.Cleanup(func() { db.Close() })
	s.db = db
	s.exec(schema)
	return s
}

func (s *store) exec(query string, args ...any) {
	s.Helper()
	must.Get(s.db.Exec(query, args...))(s)
}

// id makes an id that ascends.
func (s *store) id(kind string) string {
	s.n++
	return fmt.Sprintf("%s_%012xAbCdEfGhIjKlMn", kind, 0x200000000000+s.n)
}

// session adds a session without messages.
func (s *store) session(at int64) string {
	id := s.id("ses")
	s.exec(`INSERT INTO session (id, project_id, slug, directory, title, version, time_created, time_updated)
		VALUES (?, 'p', 'quiet-fox', '/home/dev/p', 'New session - 2026-11-21T04:40:05.875Z', '1.18.33', ?, ?)`, id, at, at)
	return id
}

// message adds a message with parts. %d in data stands for the time.
func (s *store) message(session string, at int64, data string, parts ...string) string {
	id := s.id("msg")
	s.exec("INSERT INTO message VALUES (?, ?, ?, ?, ?)", id, session, at, at, strings.ReplaceAll(data, "%d", fmt.Sprint(at)))
	for _, p := range parts {
		s.exec("INSERT INTO part VALUES (?, ?, ?, ?, ?, ?)", s.id("prt"), id, session, at, at, strings.ReplaceAll(p, "%d", fmt.Sprint(at)))
	}
	return id
}

const (
	userData = `{"role":"user","time":{"created":%d},"agent":"build","model":{"providerID":"mock","modelID":"mock-1"}}`
	doneData = `{"role":"assistant","mode":"build","path":{"cwd":"/home/dev/p","root":"/"},"cost":0.5,"tokens":{"total":150,"input":20,"output":30,"reasoning":0,` +
		`"cache":{"read":100,"write":0}},"modelID":"mock-1","providerID":"mock","time":{"created":%d,"completed":%d},"finish":"stop"}`
	openData = `{"role":"assistant","cost":0,"tokens":{"input":0,"output":0,"reasoning":0,"cache":{"read":0,"write":0}},"modelID":"mock-1","providerID":"mock","time":{"created":%d}}`
	textPart = `{"type":"text","text":"do it"}`
)

// write makes a file below the data folder.
func (s *store) write(name, content string) string {
	s.Helper()
	path := filepath.Join(s.data, filepath.FromSlash(name))
	must.Do(s, os.MkdirAll(filepath.Dir(path), 0o755))
	must.Do(s, os.WriteFile(path, []byte(content), 0o644))
	return path
}
