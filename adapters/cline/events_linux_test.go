package cline

import (
	"database/sql"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"rollcall/adapters"
	"rollcall/internal/adaptertest"
	"rollcall/internal/must"
)

// event is one of the hub's events, as Cline 3.0.65 writes them.
type event struct{ name, session, payload string }

const (
	limitAsked    = `{"requestId":"capreq_1","targetClientId":"core-1","capabilityName":"mistake_limit.decide","payload":{"context":{"iteration":3,"consecutiveMistakes":3,"maxConsecutiveMistakes":3,"reason":"tool_execution_failed","details":"1 tool call(s) failed: [run_commands] rejected"}}}`
	limitResolved = `{"requestId":"capreq_1","capabilityName":"mistake_limit.decide","targetClientId":"core-1","ok":true}`
	otherAsked    = `{"requestId":"capreq_2","targetClientId":"core-1","capabilityName":"hook.onEvent","payload":{"text":"a user wrote \"capabilityName\":\"mistake_limit.decide\""}}`
)

// writeEvents writes the hub's database of a home.
func writeEvents(t *testing.T, home string, events ...event) {
	t.Helper()
	db, err := sql.Open("sqlite", "file:"+filepath.Join(home, ".cline", "data", "db", eventsName)+"?_pragma=journal_mode(WAL)")
	must.Do(t, err)
	t.Cleanup(func() { _ = db.Close() })
	_, err = db.Exec(`CREATE TABLE hub_events (sequence INTEGER PRIMARY KEY AUTOINCREMENT, event TEXT NOT NULL, session_id TEXT, envelope_json TEXT NOT NULL, created_at INTEGER NOT NULL)`)
	must.Do(t, err)
	for _, e := range events {
		envelope := fmt.Sprintf(`{"version":"v1","event":%q,"sessionId":%q,"timestamp":1795616198063,"payload":%s}`, e.name, e.session, e.payload)
		_, err := db.Exec("INSERT INTO hub_events (event, session_id, envelope_json, created_at) VALUES (?, ?, ?, 1795616198063)", e.name, e.session, envelope)
		must.Do(t, err)
	}
}

// A session whose terminal asks how to go on after several mistakes waits, which only the hub's events show.
func TestMistakes(t *testing.T) {
	started := event{"run.started", hosted, `{"requestId":"hubreq_1"}`}
	asked := event{"capability.requested", hosted, limitAsked}
	for name, tt := range map[string]struct {
		events []event
		want   adapters.Status
	}{
		"asked":                         {[]event{started, asked, {"capability.requested", hosted, otherAsked}, {"iteration.started", hosted, `{}`}}, adapters.Waiting},
		"answered":                      {[]event{started, asked, {"capability.resolved", hosted, limitResolved}}, adapters.Working},
		"asked in an earlier turn":      {[]event{started, asked, started}, adapters.Working},
		"asked of another session":      {[]event{started, {"capability.requested", "1795616190479_0si3b", limitAsked}}, adapters.Working},
		"the words are those of a user": {[]event{started, {"capability.requested", hosted, otherAsked}}, adapters.Working},
		"no events":                     {nil, adapters.Working},
	} {
		r := adaptertest.Replay(t, "testdata/recordings/cline-3.0.65-hub-hosted")
		writeEvents(t, r.Home, tt.events...)
		s := adaptertest.Discover(t, New(r.Config()), adapters.Query{IDs: []string{hosted}}).Sessions[0]
		if s.Status != tt.want {
			t.Errorf("%s: %s (%s), want %s", name, s.Status, s.Evidence, tt.want)
		}
		if tt.want == adapters.Waiting && (s.WaitingFor != adapters.ForQuestion || !strings.Contains(s.Doing, "continue after 3 mistakes") || !strings.Contains(s.Doing, "rejected")) {
			t.Errorf("%s: waits for %q, doing %q", name, s.WaitingFor, s.Doing)
		}
	}
}

// The prompt of an open turn, which the conversation has with the first answer only, is the last one.
func TestPromptOfATurn(t *testing.T) {
	first, last := event{"run.started", hosted, `{}`}, event{"run.started", hosted, `{}`}
	before := func(text string) event {
		return event{"capability.requested", hosted, `{"requestId":"capreq_3","capabilityName":"hook.beforeRun","payload":{"context":{"snapshot":{"messages":[` +
			`{"id":"a","role":"user","content":[{"type":"text","text":"an earlier one"}]},` +
			`{"id":"b","role":"user","content":[{"type":"text","text":"<user_input mode=\"act\">` + text + `</user_input>"}]}]}}}}`}
	}
	for name, tt := range map[string]struct {
		events []event
		want   string
	}{
		"of this turn":       {[]event{first, before("one"), last, before(`two \"quoted\"`)}, `two "quoted"`},
		"not yet said":       {[]event{first, before("one"), last}, "MOCK_DELAY=25 hub session"},
		"of another session": {[]event{first, {"capability.requested", "1795616190479_0si3b", before("theirs").payload}}, "MOCK_DELAY=25 hub session"},
	} {
		r := adaptertest.Replay(t, "testdata/recordings/cline-3.0.65-hub-hosted")
		writeEvents(t, r.Home, tt.events...)
		s := adaptertest.Discover(t, New(r.Config()), adapters.Query{IDs: []string{hosted}}).Sessions[0]
		if s.LastPrompt != tt.want || s.FirstPrompt != "MOCK_DELAY=25 hub session" {
			t.Errorf("%s: %q and %q, want %q", name, s.FirstPrompt, s.LastPrompt, tt.want)
		}
	}
}

// A database of events that can't be read leaves open whether the terminal asks.
func TestMistakesUnread(t *testing.T) {
	r := adaptertest.Replay(t, "testdata/recordings/cline-3.0.65-hub-hosted")
	must.Do(t, os.WriteFile(filepath.Join(r.Home, ".cline", "data", "db", eventsName), []byte("no database, but long enough to have the header of one, and more than that: "+strings.Repeat("x", 4096)), 0o600))
	s := adaptertest.Discover(t, New(r.Config()), adapters.Query{IDs: []string{hosted}}).Sessions[0]
	if s.Status != adapters.Unknown || !strings.Contains(s.Evidence, "the hub's events could not be read") {
		t.Errorf("%s: %s", s.Status, s.Evidence)
	}
}
