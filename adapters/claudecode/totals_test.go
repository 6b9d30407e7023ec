package claudecode

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"rollcall/internal/must"
)

// The ids of an old transcript are forgotten; when it grows all the same, no
// message counts twice.
func TestOldTranscriptGrows(t *testing.T) {
	path := filepath.Join(t.TempDir(), "t.jsonl")
	content := promptLine("hi") + doneLine("m1") + doneLine("m2")
	for round := range 3 {
		must.Do(t, os.WriteFile(path, []byte(content), 0o644))
		must.Do(t, os.Chtimes(path, time.Time{}, time.Now().Add(time.Duration(round-200)*time.Hour)))
		tr := newTranscript(path)
		readNow(t, tr)
		before := ledgerOf(t, tr).Tokens().Output
		must.Do(t, os.WriteFile(path, []byte(content+doneLine("m1")+doneLine("m3")), 0o644))
		readNow(t, tr)
		if after := ledgerOf(t, tr).Tokens().Output; before != 8 || after != 12 {
			t.Errorf("%d, then %d", before, after)
		}
	}
}

// Usage repeats on each block's line, and grows on some.
func TestTokensOncePerMessage(t *testing.T) {
	var sums totals
	line := func(message string, output int) {
		l := strings.Replace(doneLine(message), `"output_tokens":4`, fmt.Sprintf(`"output_tokens":%d`, output), 1)
		sums.add([]byte(strings.TrimSpace(l)))
	}
	line("a", 1)
	line("a", 7)
	line("b", 5)
	line("a", 7) // a copy farther on
	sums.add([]byte(strings.TrimSpace(strings.Replace(doneLine("c"), `"input_tokens":10`, `"input_tokens":-9e99`, 1))))
	if got := sums.ledger.Tokens(); got.Output != 7+5+4 || got.Input != 20 || got.CacheRead != 600 || got.CacheWrite != 9 {
		t.Errorf("%+v", got)
	}
}

// Costs are cumulative; a second process may append zeros.
func TestCostIsTheMaximum(t *testing.T) {
	var sums totals
	var f facts
	var p parser
	for _, usd := range []float64{0.5, 1.25, 0} {
		line := fmt.Appendf(nil, `{"type":"cost-state","totalCostUSD":%g}`, usd)
		sums.add(line)
		r, err := p.parse(line)
		must.Do(t, err)
		f.add(&r)
	}
	if sums.cost != 1.25 || f.cost != 1.25 {
		t.Errorf("%g, %g", sums.cost, f.cost)
	}
}

// A sum that is broken off goes on where it stopped.
func TestSumsGoOn(t *testing.T) {
	path := filepath.Join(t.TempDir(), "t.jsonl")
	content := wholeConversation(rand.New(rand.NewPCG(7, 8)), 4<<20)
	must.Do(t, os.WriteFile(path, []byte(content), 0o644))
	tr := newTranscript(path)
	readNow(t, tr)
	var rounds int
	for last := int64(-1); ; rounds++ {
		ctx := &countdown{Context: t.Context(), left: 4}
		sums, err := tr.exact(ctx, true)
		if err == nil {
			if want := ledgerOf(t, tr).Tokens(); sums.ledger.Tokens() != want || rounds < 3 {
				t.Errorf("after %d rounds %+v, want %+v", rounds, sums.ledger.Tokens(), want)
			}
			break
		}
		if !errors.Is(err, context.Canceled) || tr.sums.next <= last {
			t.Fatalf("%v at %d after %d", err, tr.sums.next, last)
		}
		last = tr.sums.next
	}
	fresh := newTranscript(path)
	readNow(t, fresh)
	if got, want := sumsOf(t, tr), sumsOf(t, fresh); !reflect.DeepEqual(got, want) {
		t.Errorf("%+v, want %+v", got, want)
	}
}

// countdown is a context that is done after it was asked some times.
type countdown struct {
	context.Context
	left int
}

func (c *countdown) Err() error {
	if c.left--; c.left < 0 {
		return context.Canceled
	}
	return nil
}
