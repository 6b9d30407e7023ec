package openclaw

import (
	"encoding/json"
	"fmt"
	"runtime"
	"strings"
	"testing"

	"rollcall/internal/must"
)

// A page of 300,000 rows costs what the listed ones cost; the others are counted.
func TestHugePage(t *testing.T) {
	const many = 300_000
	var b strings.Builder
	b.WriteString(`{"totalCount":300000,"sessions":[`)
	for i := range many {
		if i > 0 {
			b.WriteByte(',')
		}
		fmt.Fprintf(&b, `{"key":"agent:main:%d","sessionId":"id-%d","updatedAt":%d}`, i, i, 1_795_000_000_000-i)
	}
	b.WriteString(`]}`)
	text := []byte(b.String())
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	var p page
	must.Do(t, json.Unmarshal(text, &p))
	rows := parseRows(p.Sessions.rows, map[string]int{})
	runtime.ReadMemStats(&after)
	if len(rows) != maxRows || p.Sessions.omitted != many-maxRows {
		t.Errorf("%d rows and %d left out, want %d and %d", len(rows), p.Sessions.omitted, maxRows, many-maxRows)
	}
	if allocated := after.TotalAlloc - before.TotalAlloc; allocated > 64<<20 {
		t.Errorf("%d MB allocated for a page of %d MB", allocated>>20, len(text)>>20)
	}
	for _, wrong := range []string{`{"sessions":{}}`, `{"sessions":7}`, `{"sessions":[1,`} {
		if err := json.Unmarshal([]byte(wrong), &page{}); err == nil {
			t.Errorf("%s is taken for a page", wrong)
		}
	}
}
