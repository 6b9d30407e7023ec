package openclaw

import (
	"encoding/json"
	"testing"

	"rollcall/internal/must"
)

// After a run that was aborted, and after a compaction, sessions.list states no tokens of a session, and a later time of its change than sessions.usage
// (2026.9.6): the count holds if it was made after the last run.
func TestTotalsAfterCompaction(t *testing.T) {
	var r row
	must.Do(t, json.Unmarshal([]byte(`{"key":"agent:main:w0","sessionId":"a5","status":"killed","startedAt":1795891536340,"endedAt":1795891536473,"updatedAt":1795891565720}`), &r))
	if !new(usages).wants(&target{}, &r) {
		t.Error("it is not asked for")
	}
	for text, want := range map[string]bool{
		`{"sessions":[{"key":"agent:main:w0","sessionId":"a5","updatedAt":1795891536476,"usage":{"input":2383}}]}`: true,
		`{"sessions":[{"key":"agent:main:w0","sessionId":"a5","updatedAt":1795891519712,"usage":{"input":17}}]}`:   false,
	} {
		var u usage
		must.Do(t, json.Unmarshal([]byte(text), &u))
		if found, ok := u.total(&r); ok != want || ok && found.tokens.Input != 2383 {
			t.Errorf("%s: %+v, %t", text, found, ok)
		}
	}
	if new(usages).wants(&target{}, &row{Key: "new"}) {
		t.Error("one without a run is asked for")
	}
}
