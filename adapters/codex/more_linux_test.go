package codex

import (
	"bytes"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/klauspost/compress/zstd"

	"rollcall/adapters"
	"rollcall/internal/adaptertest"
	"rollcall/internal/must"
)

// stateDB makes a state database like Codex's, and keeps it open: its rows stay in
// the log.
func stateDB(t testing.TB, path, columns string, rows ...string) *sql.DB {
	t.Helper()
	must.Do(t, os.MkdirAll(filepath.Dir(path), 0o755))
	db, err := sql.Open("sqlite", "file:"+path+"?_pragma=journal_mode(wal)&_pragma=wal_autocheckpoint(0)")
	must.Do(t, err)
	t.Cleanup(func() { db.Close() })
	for _, s := range append([]string{`CREATE TABLE threads (` + columns + `)`}, rows...) {
		must.Get(db.Exec(s))(t)
	}
	return db
}

const threadColumns = `id TEXT, title TEXT, first_user_message TEXT, git_branch TEXT, name TEXT`

func insert(id, title, name string) string {
	return fmt.Sprintf(`INSERT INTO threads VALUES ('%s', '%s', 'hello there', 'db-branch', %s)`, id, title, name)
}

// What the state database adds, where it can lie, and which of several counts.
func TestStateDatabase(t *testing.T) {
	places := map[string]func(home string) string{
		"in the home":       func(home string) string { return filepath.Join(home, ".codex", "state_5.sqlite") },
		"the desktop app's": func(home string) string { return filepath.Join(home, ".codex", "sqlite", "state_7.sqlite") },
		"CODEX_SQLITE_HOME": func(home string) string { return filepath.Join(home, "el[se]where", "state_12.sqlite") },
	}
	for name, place := range places {
		t.Run(name, func(t *testing.T) {
			home := home(t)
			for _, id := range []string{threadA, threadB, threadC} {
				write(t, rolloutPath(home, id), newScript(id, "0.142.5").turn("a", "hello there").text())
			}
			path := place(home)
			must.Do(t, os.MkdirAll(filepath.Dir(path), 0o755))
			write(t, filepath.Join(filepath.Dir(path), "state_4.sqlite"), "an older one that must not be read")
			db := stateDB(t, path, threadColumns, insert(threadA, "hello there", "'A name'"),
				insert(threadB, "hello…", "NULL"), insert(threadC, "A title", "NULL"))
			adaptertest.Untouched(t, home)
			a := New(adapters.Config{Home: home, Env: func(k string) string {
				if k == "CODEX_SQLITE_HOME" && name == k {
					return filepath.Dir(path)
				}
				return ""
			}, Table: adaptertest.NewOwnTable(os.Getpid())})
			check := func(title string) {
				t.Helper()
				for id, title := range map[string]string{threadA: title, threadB: "", threadC: "A title"} {
					s := look(t, a, home, adapters.Query{})[id]
					if s.Title != title || s.Branch != "db-branch" {
						t.Errorf("%s: title %q, branch %q; want %q, db-branch", id, s.Title, s.Branch, title)
					}
				}
			}
			check("A name")
			_ = db
		})
	}
}

// A name given while we look is seen.
func TestStateDatabaseChanges(t *testing.T) {
	home := home(t)
	write(t, rolloutPath(home, threadA), newScript(threadA, "0.142.5").turn("a", "hello there").text())
	db := stateDB(t, filepath.Join(home, ".codex", "state_5.sqlite"), threadColumns, insert(threadA, "x", "'One'"))
	a := atNow(home)
	for _, name := range []string{"One", "Two", "Three"} {
		must.Get(db.Exec(`UPDATE threads SET name = ?`, name))(t)
		if s := look(t, a, home, adapters.Query{})[threadA]; s.Title != name {
			t.Errorf("title %q, want %q", s.Title, name)
		}
	}
}

// A process of another home, without a thread so far, has its own database open.
func TestAnothersDatabase(t *testing.T) {
	home, other := home(t), home(t)
	write(t, rolloutPath(home, threadA), newScript(threadA, "0.169.0").turn("a", "hello there").text())
	stateDB(t, filepath.Join(home, ".codex", "state_5.sqlite"), threadColumns, insert(threadA, "x", "'Mine'"))
	theirs := filepath.Join(other, ".codex", "state_5.sqlite")
	stateDB(t, theirs, threadColumns, insert(threadA, "x", "'Theirs'"))
	startCodex(t, "codex", []string{"HOME=" + other}).do("open", theirs)
	if s := look(t, atNow(home), home, adapters.Query{})[threadA]; s.Title != "Mine" {
		t.Errorf("title %q, want Mine", s.Title)
	}
}

// A broken database is a problem that names it; the sessions come from rollouts.
func TestBrokenStateDatabase(t *testing.T) {
	for name, test := range map[string]struct {
		make func(t *testing.T, path string)
		kind error
	}{
		"no database":  {func(t *testing.T, path string) { write(t, path, strings.Repeat("garbage ", 1000)) }, adapters.ErrFormat},
		"empty":        {func(t *testing.T, path string) { write(t, path, "") }, adapters.ErrFormat},
		"other tables": {func(t *testing.T, path string) { stateDB(t, path, `number INTEGER`) }, adapters.ErrFormat},
		"a folder":     {func(t *testing.T, path string) { must.Do(t, os.Mkdir(path, 0o755)) }, adapters.ErrFormat},
		"few columns":  {func(t *testing.T, path string) { stateDB(t, path, `id TEXT, title TEXT`) }, nil},
	} {
		t.Run(name, func(t *testing.T) {
			r := adaptertest.Replay(t, filepath.Join(recordings, "codex-0.169.0-oneshot"))
			path := filepath.Join(r.Home, ".codex", "state_5.sqlite")
			for _, suffix := range []string{"", "-wal", "-shm"} {
				os.Remove(path + suffix)
			}
			test.make(t, path)
			adaptertest.Untouched(t, r.Home)
			roll, err := New(r.Config()).Discover(t.Context(), adapters.Query{})
			if !errors.Is(err, test.kind) || test.kind != nil && !strings.Contains(err.Error(), path) {
				t.Errorf("%v, want %v naming %s", err, test.kind, path)
			}
			adaptertest.Check(t, roll.Sessions, r.Expect)
		})
	}
}

// Parents come from the table of edges where rollouts don't tell.
func TestSpawnEdges(t *testing.T) {
	home := home(t)
	for _, id := range []string{threadA, threadB} {
		write(t, rolloutPath(home, id), newScript(id, "0.142.5").turn("a", "x").text())
	}
	db := stateDB(t, filepath.Join(home, ".codex", "state_5.sqlite"), threadColumns, insert(threadA, "", "NULL"), insert(threadB, "", "NULL"))
	for _, s := range []string{`CREATE TABLE thread_spawn_edges (parent_thread_id TEXT, child_thread_id TEXT PRIMARY KEY)`,
		fmt.Sprintf(`INSERT INTO thread_spawn_edges VALUES ('%s', '%s')`, threadA, threadB)} {
		must.Get(db.Exec(s))(t)
	}
	sessions := look(t, atNow(home), home, adapters.Query{})
	if sessions[threadB].Parent != threadA || sessions[threadA].Parent != "" {
		t.Errorf("parents %q and %q", sessions[threadB].Parent, sessions[threadA].Parent)
	}
}

// Names of the index: the last one counts, broken lines don't.
func TestIndex(t *testing.T) {
	home := home(t)
	write(t, rolloutPath(home, threadA), newScript(threadA, "0.142.5").turn("a", "x").text())
	index := filepath.Join(home, ".codex", "session_index.jsonl")
	write(t, index, `{"id":"`+threadA+`","thread_name":"First"}`+"\n"+`{"id":`+"\n\x00\n"+`{"id":"`+threadA+`","thread_name":" Second "}`+"\n")
	a := atNow(home)
	for _, want := range []string{"Second", "Third"} {
		if s := look(t, a, home, adapters.Query{})[threadA]; s.Title != want {
			t.Errorf("title %q, want %q", s.Title, want)
		}
		appendTo(t, index, `{"id":"`+threadA+`","thread_name":"Third"}`+"\n"+`{"id":"`+threadA+`","thread_name":"half`)
	}
}

// Archived and packed rollouts; of two of one thread the unpacked one counts.
func TestArchivedAndPacked(t *testing.T) {
	pack := func(s string) string {
		var b bytes.Buffer
		w, err := zstd.NewWriter(&b)
		must.Do(t, err)
		_, err = w.Write([]byte(s))
		must.Do(t, err)
		must.Do(t, w.Close())
		return b.String()
	}
	home := home(t)
	archived := filepath.Join(home, ".codex", "archived_sessions")
	big := newScript(threadB, "0.169.0").turn("a", "packed")
	big.lines = append(big.lines, strings.TrimSuffix(huge("function_call_output", 3<<20), "\n"))
	big.start("b").prompt("again").event(`{"type":"turn_aborted","turn_id":"b","reason":"interrupted"}`)
	write(t, filepath.Join(archived, filepath.Base(rolloutPath("", threadA))), newScript(threadA, "0.169.0").turn("a", "archived").text())
	write(t, rolloutPath(home, threadB)+".zst", pack(big.text()))
	write(t, rolloutPath(home, threadC)+".zst", pack(newScript(threadC, "0.169.0").turn("a", "old").text()))
	write(t, rolloutPath(home, threadC), newScript(threadC, "0.169.0").turn("a", "new").text())
	a := atNow(home)
	for range 2 {
		sessions := look(t, a, home, adapters.Query{})
		want(t, sessions[threadA], adapters.Stopped, adapters.Completed, 0)
		want(t, sessions[threadB], adapters.Stopped, adapters.Interrupted, 0)
		got := []string{sessions[threadA].FirstPrompt, sessions[threadB].FirstPrompt, sessions[threadB].LastPrompt, sessions[threadC].FirstPrompt}
		if diff := cmp.Diff([]string{"archived", "packed", "again", "new"}, got); diff != "" {
			t.Error(diff)
		}
		if diff := cmp.Diff(&adapters.Tokens{Input: 60, CacheRead: 40, Output: 10}, sessions[threadB].Tokens); diff != "" {
			t.Error(diff)
		}
	}
}

// A packed rollout that would take too much memory is not unpacked to be shown.
func TestLargePacked(t *testing.T) {
	path := filepath.Join(t.TempDir(), "rollout.jsonl.zst")
	w, err := zstd.NewWriter(nil)
	must.Do(t, err)
	must.Do(t, os.WriteFile(path, w.EncodeAll(make([]byte, wholeLimit+1), nil), 0o600))
	f, err := os.Open(path)
	must.Do(t, err)
	defer f.Close()
	if _, _, err := contentOf(f, 0); !errors.Is(err, errTooLarge) {
		t.Error(err)
	}
}

// The folders to watch are few, exist, and catch the next session and its turns.
func TestWatchPaths(t *testing.T) {
	r := adaptertest.Replay(t, filepath.Join(recordings, daemonRecording))
	a := New(r.Config())
	if got := a.WatchPaths(); len(got) != 0 {
		t.Errorf("before the first look: %v", got)
	}
	must.Get(a.Discover(t.Context(), adapters.Query{}))(t)
	codex := filepath.Join(r.Home, ".codex")
	got := a.WatchPaths()
	slices.Sort(got)
	want := []string{codex, codex + "/sessions", codex + "/sessions/2026", codex + "/sessions/2026/11", codex + "/sessions/2026/11/21", codex + "/" + lockFolder}
	if diff := cmp.Diff(want, got); diff != "" { // the home itself, since one of them waits
		t.Error(diff)
	}
	empty := home(t)
	must.Do(t, os.RemoveAll(filepath.Join(empty, ".codex", "sessions")))
	b := New(adapters.Config{Home: empty, Env: func(string) string { return "" }, Table: r.Table, Now: time.Now})
	must.Get(b.Discover(t.Context(), adapters.Query{}))(t)
	if !slices.Contains(b.WatchPaths(), filepath.Join(empty, ".codex")) {
		t.Errorf("never used: %v", b.WatchPaths())
	}
}
