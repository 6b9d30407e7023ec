package copilot

import (
	"fmt"
	"strings"
	"testing"

	"rollcall/adapters"
	"rollcall/internal/must"
)

// The input that Copilot states includes what was read from a cache and written to it, whatever states it: a record for each answer, or the sum at the end.
func TestCacheIsNoInput(t *testing.T) {
	want := adapters.Tokens{Input: 3, CacheRead: 5000, CacheWrite: 2000, Output: 12}
	const usage = `"inputTokens":%d,"outputTokens":12,"cacheReadTokens":5000,"cacheWriteTokens":2000`
	const details = `"tokenDetails":{"input":{"tokenCount":3},"cache_read":{"tokenCount":5000},"cache_write":{"tokenCount":2000},"output":{"tokenCount":12}}`
	const priced = `"copilotUsage":{"tokenDetails":[{"tokenType":"cache_read","tokenCount":5000},{"tokenType":"input","tokenCount":3}]}`
	record := func(more string, input int) string {
		return `{"type":"session.usage_record","id":"r","timestamp":"2026-06-08T01:51:49Z","data":{"usage":{"model":"claude-sonnet-4.6",` + fmt.Sprintf(usage, input) + more + `}}}`
	}
	sum := func(more string, input int) string {
		return `{"type":"assistant.message","id":"m","data":{"model":"claude-sonnet-4.6","content":"Hello.","outputTokens":12}}` + "\n" +
			`{"type":"session.shutdown","data":{"modelMetrics":{"claude-sonnet-4.6":{"usage":{` + fmt.Sprintf(usage, input) + `}` + more + `}}}}`
	}
	for name, lines := range map[string]string{
		"a record": record("", 7003), "a record with details": record(","+details, 7003), "a record with a price": record(","+priced, 7003),
		"details that say otherwise": record(","+details, 9000), "input without the cache": record("", 3),
		"a sum": sum("", 7003), "a sum with details": sum(","+details, 9000),
	} {
		var f facts
		for line := range strings.Lines(lines) {
			must.Do(t, f.Line([]byte(line)))
		}
		if got := f.tokens(); got == nil || *got != want {
			t.Errorf("%s: %+v, want %+v", name, got, want)
		}
	}
}

// What the summary of a compaction used counts: its own record states it, and no record of an answer (1.0.102).
func TestCompactionCounts(t *testing.T) {
	const answered = `{"type":"session.usage_record","id":"r","timestamp":"2026-06-08T01:51:49Z","data":{"usage":{"model":"claude-sonnet-4.6","inputTokens":10,"outputTokens":3}}}`
	const compacted = `{"type":"session.compaction_complete","id":"c","timestamp":"2026-06-08T01:52:49Z","data":{"success":true,"compactionTokensUsed":{"requestCount":1,` +
		`"model":"claude-haiku-4.5","inputTokens":1107,"outputTokens":20,"cacheReadTokens":1000,"cacheWriteTokens":7}}}`
	var f facts
	for _, line := range []string{answered, compacted, `{"type":"session.compaction_complete","id":"d","data":{"success":false}}`} {
		must.Do(t, f.Line([]byte(line)))
	}
	if got := f.tokens(); got == nil || *got != (adapters.Tokens{Input: 110, Output: 23, CacheRead: 1000, CacheWrite: 7}) {
		t.Errorf("%+v", got)
	}
}
