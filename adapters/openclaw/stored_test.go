package openclaw_test

import (
	"database/sql"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/klauspost/compress/zstd"
	_ "modernc.org/sqlite" // the driver

	"rollcall/adapters"
	"rollcall/internal/gatewaytest"
	"rollcall/internal/must"
)

// agentTables are those of 2026.9.6 that hold sessions, without their checks and most of their columns.
const agentTables = `
CREATE TABLE schema_meta (meta_key TEXT NOT NULL PRIMARY KEY, role TEXT NOT NULL, schema_version INTEGER NOT NULL, agent_id TEXT, app_version TEXT);
INSERT INTO schema_meta VALUES ('primary', 'agent', 23, 'main', '2026.9.6');
CREATE TABLE session_nodes (session_key TEXT NOT NULL PRIMARY KEY, current_session_id TEXT NOT NULL, entry_json TEXT NOT NULL, updated_at INTEGER NOT NULL, archived_at INTEGER) STRICT;
CREATE TABLE transcript_events (session_id TEXT NOT NULL, seq INTEGER NOT NULL, event_json TEXT, created_at INTEGER NOT NULL, event_zstd BLOB, PRIMARY KEY (session_id, seq)) STRICT;`

// kept is the database of an agent whose gateway does not run.
type kept struct {
	*fixture
	db *sql.DB
	at int64
}

func newKept(t *testing.T) *kept {
	t.Helper()
	k := &kept{fixture: newFixture(t), at: time.Now().Add(-time.Hour).UnixMilli()}
	k.write(".openclaw/openclaw.json", `{"gateway":{"port":1,"auth":{"token":"`+secret+`"}}}`)
	dir := filepath.Join(k.home, ".openclaw", "agents", "main", "agent")
	must.Do(t, os.MkdirAll(dir, 0o700))
	k.db = must.Get(sql.Open("sqlite", "file:"+filepath.Join(dir, "openclaw-agent.sqlite")+"?_pragma=journal_mode(WAL)"))(t)
	k.db.SetMaxOpenConns(1)
	t.Cleanup(func() { k.db.Close() })
	k.exec(agentTables)
	return k
}

func (k *kept) exec(query string, args ...any) {
	k.t.Helper()
	must.Get(k.db.Exec(query, args...))(k.t)
}

// session adds a session with what its entry says of its last run, and the records of its transcript.
func (k *kept) session(id, entry string, records ...string) {
	k.t.Helper()
	k.exec("INSERT INTO session_nodes VALUES (?, ?, ?, ?, NULL)", "agent:main:"+id, id, fmt.Sprintf(`{"sessionId":%q,"createdAt":%d,"updatedAt":%d,"model":"mock-1"%s,"skillsSnapshot":{"prompt":"long"}}`, id, k.at, k.at, entry), k.at)
	for i, r := range append([]string{`{"type":"session","version":4,"id":"` + id + `","cwd":"/home/dev/proj"}`}, records...) {
		k.exec("INSERT INTO transcript_events VALUES (?, ?, ?, ?, NULL)", id, i, r, k.at+int64(i))
	}
}

const (
	storedPrompt = `{"type":"message","id":"m1","message":{"role":"user","content":"where is the otter","timestamp":1}}`
	storedBeat   = `{"type":"message","id":"m2","message":{"role":"user","content":"[OpenClaw heartbeat] anything?","timestamp":2}}`
	storedAnswer = `{"type":"message","id":"m3","message":{"role":"assistant","content":[{"type":"text","text":"the otter sleeps, ` + secret + `"}],"usage":{"input":60,"output":20,"cacheRead":40,"cacheWrite":0,"cost":{"total":0.25}},"stopReason":"stop"}}`
	storedLast   = `{"type":"message","id":"m4","message":{"role":"user","content":[{"type":"text","text":"and now"}]}}`
)

// The sessions of a gateway that does not run have stopped, with their conversations and what they used.
func TestStoredSessions(t *testing.T) {
	k := newKept(t)
	k.session("done", `,"status":"done"`, storedPrompt, storedAnswer, storedLast, storedAnswer, storedBeat)
	k.session("failed", `,"status":"failed"`, storedPrompt)
	k.session("running", `,"status":"running"`, storedPrompt)
	k.session("killed", `,"status":"killed","label":"mine"`)
	k.session("none", "")
	k.session("child", `,"spawnedBy":"agent:main:done"`)
	k.exec("UPDATE session_nodes SET archived_at = 5 WHERE session_key = 'agent:main:failed'")
	k.exec("INSERT INTO session_nodes VALUES ('agent:main:odd', 'odd', '{}', 1, NULL)")
	a := k.adapter()
	for range 2 {
		roll, err := discover(t, a, adapters.Query{Totals: true})
		if err != nil || len(roll.Sessions) != 6 || len(roll.Skipped) != 1 {
			t.Fatalf("%d sessions, %v, skipped %v", len(roll.Sessions), err, roll.Skipped)
		}
		want := map[string]adapters.Outcome{"done": adapters.Completed, "failed": adapters.Failed, "running": adapters.Died, "killed": adapters.Interrupted}
		for _, s := range roll.Sessions {
			if s.Status != adapters.Stopped || s.Outcome != want[s.ID] || s.Version != "2026.9.6" || !strings.Contains(s.Evidence, "it does not run") ||
				(s.Parent != "") != (s.ID == "child") || s.Archived != (s.ID == "failed") || s.CWD != "/home/dev/proj" {
				t.Errorf("%+v", s)
			}
			if s.ID == "done" && (s.FirstPrompt != "where is the otter" || s.LastPrompt != "and now" || s.CostUSD != 0.5 || *s.Tokens != adapters.Tokens{Input: 120, Output: 40, CacheRead: 80}) {
				t.Errorf("%q, %q, %v, %v", s.FirstPrompt, s.LastPrompt, s.Tokens, s.CostUSD)
			}
		}
	}
	if roll, err := discover(t, a, adapters.Query{Since: time.Now()}); err != nil || len(roll.Sessions) != 0 {
		t.Errorf("since now: %v, %v", roll.Sessions, err)
	}
}

// A conversation of such a session can be read and searched, also its compressed records; secrets are replaced.
func TestStoredConversation(t *testing.T) {
	k := newKept(t)
	k.session("s", `,"status":"done"`, storedPrompt)
	packer, err := zstd.NewWriter(nil)
	must.Do(t, err)
	k.exec("INSERT INTO transcript_events VALUES ('s', 7, NULL, 7, ?)", packer.EncodeAll([]byte(storedAnswer), nil))
	k.exec("INSERT INTO transcript_events VALUES ('s', 8, NULL, 7, ?)", []byte("damaged"))
	a := k.adapter()
	s := one(t, a)
	if s.Tokens != nil {
		t.Errorf("the sum without a compressed record: %v", s.Tokens)
	}
	messages, err := a.Peek(t.Context(), s, 5)
	if err != nil || len(messages) != 2 || messages[0].Text != "where is the otter" || !strings.HasPrefix(messages[1].Text, "the otter sleeps") || strings.Contains(messages[1].Text, secret) {
		t.Errorf("%+v, %v", messages, err)
	}
	if hits := searchAll(t, a, "otter", false); !slices.Equal(hits, []string{"m1 user otter", "m3 assistant otter"}) {
		t.Errorf("%q", hits)
	}
}

// The same of a store with a sessions.json, which a later version moves into its database.
func TestStoredFiles(t *testing.T) {
	w := newFixture(t)
	w.write(".openclaw/openclaw.json", `{"gateway":{"port":1}}`)
	const sessions = ".openclaw/agents/main/sessions/"
	w.write(sessions+"sessions.json", fmt.Sprintf(`{"agent:main:main": {"sessionId": "s", "updatedAt": %d, "status": "done"}, "odd": 7}`, time.Now().UnixMilli()))
	w.write(sessions+"s.jsonl", `{"type":"session","cwd":"/home/dev/proj"}`+"\n"+storedPrompt+"\n"+storedAnswer+"\n")
	a := w.adapter()
	roll, err := discover(t, a, adapters.Query{Totals: true})
	if err != nil || len(roll.Sessions) != 1 || roll.Skipped["session in sessions.json without an id"] != 1 {
		t.Fatalf("%v, %v, %v", roll.Sessions, err, roll.Skipped)
	}
	s := roll.Sessions[0]
	if s.Status != adapters.Stopped || s.Outcome != adapters.Completed || s.FirstPrompt != "where is the otter" || s.CWD != "/home/dev/proj" || s.Tokens.Input != 60 || s.CostUSD != 0.25 {
		t.Errorf("%+v", s)
	}
	if hits := searchAll(t, a, "otter", false); !slices.Equal(hits, []string{"m1 user otter", "m3 assistant otter"}) {
		t.Errorf("%q", hits)
	}
	w.write(sessions+"sessions.json", "{")
	if _, err := discover(t, a, adapters.Query{}); err == nil {
		t.Error("a broken sessions.json is no problem")
	}
}

// A gateway that runs and grants nothing: what its folder has is listed, and its sessions are unknown.
func TestStoredBesideRefusal(t *testing.T) {
	k := newKept(t)
	g := k.running(gatewaytest.Options{NoScopes: true})
	k.session("s", `,"status":"done"`, storedPrompt)
	if s := one(t, k.adapter()); s.Status != adapters.Unknown || s.Remote != g.URL() || !strings.Contains(s.Evidence, "doesn't grant") {
		t.Errorf("%+v", s)
	}
}

// A database of another form is named, and never an empty list.
func TestStoredInAnotherForm(t *testing.T) {
	k := newKept(t)
	k.exec("ALTER TABLE session_nodes RENAME COLUMN entry_json TO entry")
	_, err := discover(t, k.adapter(), adapters.Query{})
	onlyProblem(t, err, adapters.ErrFormat, "openclaw-agent.sqlite")
}

// Conversations in a state folder without an openclaw.json are listed and found, and the answer says what is missing. Where another gateway is known, it may
// be theirs: they are named only.
func TestStoredWithoutSettings(t *testing.T) {
	w := newFixture(t)
	const sessions = ".openclaw/agents/main/sessions/"
	w.write(sessions+"sessions.json", fmt.Sprintf(`{"agent:main:main": {"sessionId": "s", "updatedAt": %d, "status": "done"}}`, time.Now().UnixMilli()))
	w.write(sessions+"s.jsonl", `{"type":"session","cwd":"/home/dev/proj"}`+"\n"+storedPrompt+"\n"+storedAnswer+"\n")
	a := w.adapter()
	roll, err := discover(t, a, adapters.Query{Totals: true})
	onlyProblem(t, err, adapters.ErrUnreadable, "it has the conversations of main, and "+filepath.Join(w.home, ".openclaw", "openclaw.json")+" does not exist")
	if len(roll.Sessions) != 1 || roll.Sessions[0].Status != adapters.Unknown || roll.Sessions[0].FirstPrompt != "where is the otter" {
		t.Fatalf("%+v", roll.Sessions)
	}
	found, err := a.Conversations(t.Context(), time.Time{})
	onlyProblem(t, err, adapters.ErrUnreadable, "it has the conversations of main")
	messages, peekErr := a.Peek(t.Context(), roll.Sessions[0], 5)
	if len(found) != 1 || peekErr != nil || len(messages) != 2 {
		t.Errorf("%d conversations, %+v, %v", len(found), messages, peekErr)
	}
	w.write(".openclaw-work/openclaw.json", `{"gateway":{"port":1}}`)
	roll, err = discover(t, w.adapter(), adapters.Query{})
	onlyProblem(t, err, adapters.ErrUnreadable, "it has the conversations of main")
	if len(roll.Sessions) != 0 {
		t.Errorf("beside another gateway: %+v", roll.Sessions)
	}
}
