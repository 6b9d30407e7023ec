package opencode

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"rollcall/adapters"
	"rollcall/internal/must"
	"rollcall/textmatch"
)

// nextTables are those of 2.0.12 that hold sessions, from its source.
const nextTables = `
CREATE TABLE kv (key text PRIMARY KEY, value text NOT NULL);
CREATE TABLE session_v2 (id text PRIMARY KEY, parent_id text, directory text NOT NULL, title text, version text NOT NULL, cost real DEFAULT 0 NOT NULL,
	tokens_input integer DEFAULT 0 NOT NULL, tokens_output integer DEFAULT 0 NOT NULL, tokens_reasoning integer DEFAULT 0 NOT NULL,
	tokens_cache_read integer DEFAULT 0 NOT NULL, tokens_cache_write integer DEFAULT 0 NOT NULL, permission text, model text,
	time_created integer NOT NULL, time_updated integer NOT NULL, time_suspended integer, time_idle integer, idle_outcome text);` + messageTable

const messageTable = `
CREATE TABLE session_message (id text PRIMARY KEY, session_id text NOT NULL, type text NOT NULL, seq integer NOT NULL,
	time_created integer NOT NULL, time_updated integer NOT NULL, data text NOT NULL);
CREATE UNIQUE INDEX session_message_session_seq_idx ON session_message (session_id, seq);`

// sessionNext adds a session of 2.0 with a prompt.
func (s *store) sessionNext(id string, at int64, prompt string) {
	s.exec(`INSERT INTO session_v2 (id, directory, version, tokens_input, tokens_output, model, time_created, time_updated)
		VALUES (?, '/home/dev/p', '2.0.12', 20, 30, '{"id":"mock-1","providerID":"mock"}', ?, ?)`, id, at, at)
	s.row(id, "user", at, fmt.Sprintf(`{"text":%q,"time":{"created":%d}}`, prompt, at))
}

// row adds a row of session_message.
func (s *store) row(session, kind string, at int64, data string) {
	s.n++
	s.exec("INSERT INTO session_message VALUES (?, ?, ?, ?, ?, ?, ?)", s.id("msg"), session, kind, s.n, at, at, data)
}

const (
	nextDone = `{"time":{"created":%d,"completed":%d},"model":{"id":"mock-1","providerID":"mock"},"content":[{"type":"text","text":"well met"},` +
		`{"type":"tool","id":"c1","name":"shell","state":{"status":"completed","input":{"command":"echo needle"},"metadata":{}},"time":{"created":%d}}],` +
		`"finish":"stop","cost":0.5,"tokens":{"input":20,"output":30,"reasoning":0,"cache":{"read":100,"write":0}}}`
	nextOpen = `{"time":{"created":%d},"model":{"id":"mock-1","providerID":"mock"},"content":[]}`
)

func at3(data string, at int64) string { return strings.ReplaceAll(data, "%d", fmt.Sprint(at)) }

// A store that 2.0 has made, and one that it has upgraded: nothing is missing and nothing listed
// twice. What 1.x has written since the only import is there as well.
func TestStoresOfOpenCode2(t *testing.T) {
	for name, schema := range map[string]string{"fresh": nextTables, "upgraded": tables + nextTables} {
		t.Run(name, func(t *testing.T) {
			s := newStore(t, schema)
			begin := nowMillis() - 60_000
			want := map[string]string{sesA: "stopped/completed", sesB: "stopped/died"}
			s.sessionNext(sesA, begin, "hello two")
			s.row(sesA, "assistant", begin+1, at3(nextDone, begin+1))
			s.row(sesA, "idle", begin+2, `{"outcome":"succeeded"}`)
			s.exec("UPDATE session_v2 SET time_idle = ?, idle_outcome = 'succeeded' WHERE id = ?", begin+2, sesA)
			s.sessionNext(sesB, begin, "never ended")
			s.row(sesB, "assistant", begin+1, at3(nextOpen, begin+1))
			s.exec("UPDATE session_v2 SET time_suspended = ? WHERE id = ?", begin, sesB)
			if name == "upgraded" {
				s.exec("INSERT INTO kv VALUES ('migration.v1-v2', '{}')")
				s.exec(`INSERT INTO session (id, project_id, slug, directory, title, version, time_created, time_updated) VALUES (?, 'p', '', '/', 'frozen', '1.18.30', 1, 1)`, sesA)
				s.message(sesA, begin-5, userData, `{"type":"text","text":"hello two"}`)
				later := s.session(begin)
				s.message(later, begin, userData, textPart)
				s.message(later, begin+1, doneData)
				want[later] = "stopped/completed"
			}
			a := alone(s)
			for _, q := range []adapters.Query{{}, {Since: time.UnixMilli(begin)}, {IDs: []string{sesA}}, {Totals: true, Usage: true}} {
				sessions, roll, err := asked(t, a, q)
				if err != nil || len(roll.Skipped) > 0 || len(q.IDs) == 0 && len(sessions) != len(want) || len(roll.Sessions) != len(sessions) {
					t.Fatalf("%v, skipped %v: %v", err, roll.Skipped, roll.Sessions)
				}
				for id, s := range sessions {
					if is := string(s.Status) + "/" + string(s.Outcome); is != want[id] {
						t.Errorf("%s is %s (%s), want %s", id, is, s.Evidence, want[id])
					}
				}
				got := sessions[sesA]
				if got.FirstPrompt != "hello two" || got.Title != "" || got.Model != "mock/mock-1" || got.Tokens == nil || got.Tokens.Output != 30 ||
					got.Context.Used != 150 || got.Version != "2.0.12" || got.CWD != "/home/dev/p" {
					t.Errorf("%+v", got)
				}
				if turns, ok := got.Turns(); q.Usage && (!ok || turns != 1) {
					t.Errorf("%d turns, %v", turns, ok)
				}
			}
			sessions, _, _ := asked(t, a, adapters.Query{})
			messages, err := a.Peek(t.Context(), sessions[sesA], 10)
			if err != nil || len(messages) != 3 || messages[0].Text != "hello two" || messages[1].Text != "well met" || messages[2].Text != "echo needle" {
				t.Errorf("%v, %v", messages, err)
			}
			for text, hits := range map[string]int{"hello two": 1, "well met": 1, "echo needle": 1, "absent": 0} {
				if found := hitsOf(t, a, text); len(found) != hits {
					t.Errorf("%q: %v", text, found)
				}
			}
		})
	}
}

// TestPeekBehindNothing: rows that show nothing hide nothing that was said before them.
func TestPeekBehindNothing(t *testing.T) {
	s := newStore(t, tables+messageTable)
	begin := nowMillis() - 3_600_000
	id := s.session(begin)
	s.row(id, "user", begin, `{"text":"hello preview"}`)
	for i := range int64(40) {
		s.row(id, "assistant", begin+1+i, at3(`{"time":{"created":%d,"completed":%d},"content":[]}`, begin+1+i))
	}
	a := alone(s)
	sessions, _, err := asked(t, a, adapters.Query{})
	must.Do(t, err)
	if got, err := a.Peek(t.Context(), sessions[id], 1); err != nil || len(got) != 1 || got[0].Text != "hello preview" {
		t.Errorf("%+v, %v", got, err)
	}
}

// The preview stores its sessions in the table of 1.x, with sums and a time of change that stay as they were.
func TestPreview(t *testing.T) {
	s := newStore(t, tables+messageTable)
	begin := nowMillis() - 3_600_000
	id := s.session(begin)
	s.row(id, "user", begin+3_000_000, `{"text":"hello preview"}`)
	s.row(id, "assistant", begin+3_000_001, at3(nextDone, begin+3_000_001))
	for _, q := range []adapters.Query{{}, {Since: time.UnixMilli(begin + 1_000_000)}} {
		sessions, _, err := asked(t, alone(s), q)
		got := sessions[id]
		if err != nil || got.Outcome != adapters.Completed || got.FirstPrompt != "hello preview" || got.Tokens == nil || got.Tokens.CacheRead != 100 || got.CostUSD != 0.5 ||
			!got.LastActivityAt.Equal(time.UnixMilli(begin+3_000_001)) {
			t.Errorf("%+v, %v", got, err)
		}
	}
}

// Tables of a version that is not known are a format that is not recognised, never an empty list.
func TestLaterOpenCode(t *testing.T) {
	for name, test := range map[string]struct {
		schema   string
		sessions int
	}{
		"another table beside":     {nextTables + "CREATE TABLE session_v3 (id text)", 1},
		"another migration":        {nextTables + "INSERT INTO kv VALUES ('migration.v2-v3', '{}')", 1},
		"another table":            {"CREATE TABLE session_v3 (id text)", 0},
		"no messages":              {strings.ReplaceAll(nextTables, "session_message", "session_entry"), 0},
		"without the claims":       {strings.Replace(nextTables, "time_suspended", "time_claimed", 1), 0},
		"messages of another form": {strings.Replace(nextTables, "seq integer", "place integer", 1), 0},
	} {
		t.Run(name, func(t *testing.T) {
			schema := test.schema
			if strings.Contains(schema, "place integer") {
				schema = strings.Replace(schema, "(session_id, seq)", "(session_id, place)", 1)
			}
			s := newStore(t, schema)
			if test.sessions > 0 {
				s.sessionNext(sesA, nowMillis(), "hello")
			}
			old := time.Now().Add(-time.Hour)
			must.Do(t, os.Chtimes(filepath.Join(s.data, "opencode.db"), old, old))
			a := alone(s)
			for range 2 {
				sessions, _, err := asked(t, a, adapters.Query{})
				if len(sessions) != test.sessions || !errors.Is(err, adapters.ErrFormat) {
					t.Errorf("%v, %v", sessions, err)
				}
			}
		})
	}
}

// hitsOf returns the messages in which a search with tools finds a text.
func hitsOf(t *testing.T, a *Adapter, text string) (hits []adapters.Hit) {
	t.Helper()
	pattern, err := textmatch.Text(text)
	must.Do(t, err)
	list, err := a.Conversations(t.Context(), time.Time{})
	must.Do(t, err)
	for _, c := range list {
		skipped, err := c.Search(t.Context(), &adapters.SearchQuery{Pattern: pattern, Tools: true}, func(h adapters.Hit) error {
			hits = append(hits, h)
			return nil
		})
		if err != nil || len(skipped) > 0 {
			t.Errorf("%v, skipped %v", err, skipped)
		}
	}
	return hits
}

// A session that the user has put away is marked, in the tables of 1.x and of 2.0.
func TestArchived(t *testing.T) {
	s := newStore(t, tables+strings.Replace(nextTables, "time_suspended integer", "time_archived integer, time_suspended integer", 1))
	begin := nowMillis() - 60_000
	old := s.session(begin)
	s.message(old, begin, userData, textPart)
	s.sessionNext(sesA, begin, "hello")
	a := alone(s)
	for _, at := range []any{nil, begin + 5} {
		s.exec("UPDATE session SET time_archived = ?", at)
		s.exec("UPDATE session_v2 SET time_archived = ?", at)
		sessions, _, err := asked(t, a, adapters.Query{})
		if err != nil || len(sessions) != 2 || sessions[old].Archived != (at != nil) || sessions[sesA].Archived != (at != nil) {
			t.Errorf("archived at %v: %v, %v", at, sessions, err)
		}
	}
}
