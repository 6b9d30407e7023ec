package openclaw_test

import (
	"fmt"
	"os"
	"testing"
	"time"

	"rollcall/adapters"
	"rollcall/adapters/openclaw"
	"rollcall/internal/gatewaytest"
)

// TestMay asks a gateway that grants its scopes to one kind of client alone and
// knows no offset, as 2026.5.18 does.
func TestMay(t *testing.T) {
	w := newFixture(t)
	g := w.running(gatewaytest.Options{Version: "2026.5.18", BackendOnly: true, NoOffset: true})
	list := make([]gatewaytest.Session, many)
	for i := range list {
		list[i] = gatewaytest.Session{Key: fmt.Sprintf("agent:main:%d", i), SessionID: fmt.Sprintf("id-%d", i), Status: "done",
			UpdatedAt: time.Now().Add(-time.Duration(i) * time.Second)}
	}
	g.Set(list)
	roll, err := discover(t, w.adapter(), adapters.Query{})
	if err != nil || len(roll.Sessions) != many {
		t.Errorf("%d sessions, want %d; %v", len(roll.Sessions), many, err)
	}
}

// TestTimeoutOrAbort: 2026.5.18 says timeout of what the user aborted as well.
func TestTimeoutOrAbort(t *testing.T) {
	w := newFixture(t)
	g := w.running(gatewaytest.Options{Version: "2026.5.18", BackendOnly: true, NoOffset: true})
	a := w.adapter()
	for runID, want := range map[string]adapters.Outcome{"": "", "run-1": adapters.Failed} {
		g.Set([]gatewaytest.Session{{Key: "agent:main:main", SessionID: "s", Status: "timeout", RunID: runID, UpdatedAt: time.Now()}})
		if s := one(t, a); s.Status != adapters.Idle || s.Outcome != want {
			t.Errorf("run %q: %s %s (%s), want %q", runID, s.Status, s.Outcome, s.Evidence, want)
		}
	}
}

// TestApril: what a gateway that grants nothing keeps in its state folder tells
// which of its sessions have a run. The records are of 2026.4.15.
func TestApril(t *testing.T) {
	w := newFixture(t)
	g := w.running(gatewaytest.Options{Version: "2026.4.15", MaxProtocol: 3, NoScopes: true})
	const sessions = ".openclaw/agents/main/sessions/"
	w.write(sessions+"sessions.json", fmt.Sprintf(`{
		"agent:main:done": {"sessionId": "s-done", "updatedAt": %[1]d, "model": "mock-1", "status": "running", "skillsSnapshot": {"prompt": "x"}},
		"agent:main:works": {"sessionId": "s-works", "updatedAt": %[1]d, "status": "done"},
		"agent:main:died": {"sessionId": "s-died", "updatedAt": %[1]d, "status": "running"},
		"agent:main:subagent:x": {"sessionId": "s-child", "spawnedBy": "agent:main:works", "label": "kid", "updatedAt": %[1]d},
		"odd": 7}`, time.Now().UnixMilli()))
	const began = `{"type":"session","version":3,"id":"x","timestamp":"2026-11-22T01:29:53.225Z","cwd":"/home/dev/proj"}
{"type":"message","id":"a","parentId":null,"timestamp":"2026-11-22T01:29:53.282Z","message":{"role":"user","content":[{"type":"text","text":"[Sun 2026-11-22 01:29 UTC] first job"}],"timestamp":1795310993259}}
`
	const answered = `{"type":"message","id":"b","parentId":"a","timestamp":"2026-11-22T01:30:33.371Z","message":{"role":"assistant","content":[{"type":"text","text":"Done."}],"stopReason":"stop"}}
`
	w.write(sessions+"s-done.jsonl", began+answered)
	w.write(sessions+"s-works.jsonl", began+answered+began)
	w.write(sessions+"s-works.jsonl.lock", fmt.Sprintf(`{"pid":%d,"createdAt":%q}`, os.Getpid(), time.Now().UTC().Format(time.RFC3339)))
	w.write(sessions+"s-died.jsonl", began)
	w.write(sessions+"s-died.jsonl.lock", `{"pid":4194000,"createdAt":"2026-11-22T01:29:53.225Z"}`)
	a := w.adapter()
	roll, err := discover(t, a, adapters.Query{})
	if err != nil || roll.Skipped["session in sessions.json without an id"] != 1 {
		t.Errorf("%v, skipped %v", err, roll.Skipped)
	}
	want := map[string]struct {
		status  adapters.Status
		outcome adapters.Outcome
		parent  string
		prompt  string
	}{
		"s-done":  {adapters.Idle, adapters.Completed, "", "first job"},
		"s-works": {adapters.Working, "", "", "first job"},
		"s-died":  {adapters.Idle, "", "", "first job"},
		"s-child": {adapters.Unknown, "", "s-works", ""},
	}
	if len(roll.Sessions) != len(want) {
		t.Errorf("%d sessions, want %d", len(roll.Sessions), len(want))
	}
	for _, s := range roll.Sessions {
		x := want[s.ID]
		if s.Status != x.status || s.Outcome != x.outcome || s.Parent != x.parent || s.FirstPrompt != x.prompt ||
			x.prompt != "" && s.CWD != "/home/dev/proj" || s.Remote != g.URL() {
			t.Errorf("%s is %s %s of %q, %q on %s (%s)", s.ID, s.Status, s.Outcome, s.Parent, s.FirstPrompt, s.Remote, s.Evidence)
		}
	}
	w.write(sessions+"sessions.json", "{")
	if _, err = discover(t, a, adapters.Query{}); err == nil {
		t.Error("a broken sessions.json is no problem")
	}
	if g.Close(); len(a.WatchPaths()) < 2 {
		t.Errorf("watched: %v", a.WatchPaths())
	}
}

// TestNothingGranted: where the folder isn't here, the refusal is shown.
func TestNothingGranted(t *testing.T) {
	w := newFixture(t)
	g := w.gateway(gatewaytest.Options{NoScopes: true})
	w.cfg.Gateways = []openclaw.Gateway{{URL: g.URL(), Token: g.Token()}}
	_, err := discover(t, w.adapter(), adapters.Query{})
	onlyProblem(t, err, adapters.ErrUnreadable, "does not grant Rollcall the scope operator.read", "update it")
}
