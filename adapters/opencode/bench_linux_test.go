package opencode

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"rollcall/adapters"
	"rollcall/internal/adaptertest"
)

// crowd is a home with 2,000 sessions of 20 messages, about 250 MB, and no
// process.
func crowd(b *testing.B) *Adapter {
	b.Helper()
	s := newStore(b, tables)
	s.exec("BEGIN")
	output := `{"type":"tool","tool":"bash","callID":"c","state":{"status":"completed","input":{"command":"make"},"output":"` +
		strings.Repeat("some output ", 800) + `","metadata":{},"time":{"start":%d,"end":%d}}}`
	now := time.Now().UnixMilli()
	for i := range int64(2000) {
		at := now - (2000-i)*3_600_000
		id := s.session(at)
		s.message(id, at, userData, textPart)
		for n := range int64(12) {
			s.message(id, at+n+1, doneData, output)
		}
		s.exec("UPDATE session SET time_updated = ? WHERE id = ?", at+20, id)
	}
	s.exec("COMMIT")
	s.exec("PRAGMA wal_checkpoint(TRUNCATE)")
	r := adaptertest.Replay(b, "testdata/recordings/opencode-1.18.33-oneshot-resume-continue-fork")
	return New(adapters.Config{Home: s.home, Env: func(string) string { return "" }, Table: r.Table})
}

func BenchmarkDiscover(b *testing.B) {
	a := crowd(b)
	queries := map[string]adapters.Query{
		"all":      {},
		"7 days":   {Since: time.Now().Add(-7 * 24 * time.Hour)},
		"live":     {Since: time.Now()},
		"one":      {IDs: []string{fmt.Sprintf("ses_%012xAbCdEfGhIjKlMn", 0x200000000000+1)}},
		"all sums": {Totals: true},
	}
	for name, q := range queries {
		b.Run("cold/"+name, func(b *testing.B) {
			for b.Loop() {
				fresh := New(adapters.Config{Home: a.Home, Env: a.Env, Table: a.Table})
				if _, err := fresh.Discover(b.Context(), q); err != nil {
					b.Fatal(err)
				}
			}
		})
		b.Run("unchanged/"+name, func(b *testing.B) {
			for b.Loop() {
				if _, err := a.Discover(b.Context(), q); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
