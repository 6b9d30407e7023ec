package kit

import (
	"maps"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"
	"time"

	"rollcall/adapters"
)

var noon = time.Date(2026, 11, 3, 12, 0, 0, 0, time.UTC)

func in(n int64) adapters.Tokens { return adapters.Tokens{Input: n} }

// total returns what counts for a session in all.
func total(a *Account) (u adapters.Usage) {
	for i := range a.Usage {
		u.Add(&a.Usage[i])
	}
	return u
}

// settled returns what one session with the ledger used.
func settled(l *Ledger, last time.Time) *Account {
	a := &Account{ID: "one", Ledgers: []*Ledger{l}, Last: last}
	Settle([]*Account{a})
	return a
}

func TestSteps(t *testing.T) {
	var l Ledger
	l.Prompt()
	l.Add(Entry{Tokens: in(1)}) // before any time is known
	l.Prompt()
	l.Answer(Entry{At: noon.Add(time.Minute)})
	l.Add(Entry{At: noon.Add(14 * time.Minute), Tokens: in(2), CostUSD: 0.5})
	l.Add(Entry{At: noon.Add(13 * time.Minute), Tokens: in(4), Model: "m"})
	l.Answer(Entry{At: noon.Add(16 * time.Minute), Tokens: in(3)})
	l.Add(Entry{At: noon.Add(-time.Hour), Tokens: in(8)}) // out of order
	l.Prompt()
	a := settled(&l, noon)
	want := []adapters.Usage{
		{At: noon.Add(-time.Hour), Answers: 2, Tokens: in(9)},
		{At: noon, Answers: 1, Tokens: in(2), CostUSD: 0.5, Turns: 1},
		{At: noon, Answers: 1, Tokens: in(4), Model: "m"},
		{At: noon.Add(15 * time.Minute), Answers: 1, Tokens: in(3)},
	}
	if !slices.Equal(a.Usage, want) || l.Tokens() != in(18) || a.Copies != 0 {
		t.Errorf("%+v", a)
	}
}

func TestLatePrompt(t *testing.T) {
	var l Ledger
	l.LatePrompt()
	l.Answer(Entry{At: noon, Tokens: in(1)})
	l.LatePrompt()
	l.Prompt()
	l.Answer(Entry{At: noon.Add(time.Hour), Tokens: in(1)})
	if got := settled(&l, noon).Usage; len(got) != 2 || got[0].Turns != 1 || got[1].Turns != 1 {
		t.Errorf("%+v", got)
	}
}

// What an agent states beyond its records counts at the end; if the records hold more, the whole counts there.
func TestKnownTotals(t *testing.T) {
	var l Ledger
	l.Prompt()
	l.Answer(Entry{ID: 1, At: noon, Tokens: in(5)})
	end := noon.Add(time.Hour)
	for known, want := range map[int64][]adapters.Usage{
		5: {{At: noon, Answers: 1, Turns: 1, Tokens: in(5)}},
		7: {{At: noon, Answers: 1, Turns: 1, Tokens: in(5)}, {At: end, Tokens: in(2)}},
		3: {{At: end, Answers: 1, Turns: 1, Tokens: in(3)}},
	} {
		a := &Account{Ledgers: []*Ledger{&l}, Last: end, Known: &Known{Tokens: in(known)}}
		if Settle([]*Account{a}); !slices.Equal(a.Usage, want) {
			t.Errorf("%d: %+v", known, a)
		}
	}
}

// A cost that is stated for a whole session includes that of the session from which it was forked.
func TestCostOfAFork(t *testing.T) {
	parent, fork := Ledger{}, Ledger{}
	for id, usd := range []float64{1, 0.5} {
		parent.Answer(Entry{ID: uint64(id + 1), At: noon, Tokens: in(10)})
		parent.Add(Entry{At: noon, Model: "m", CostUSD: usd})
		fork.Answer(Entry{ID: uint64(id + 1), Copied: true, At: noon, Tokens: in(10)})
	}
	parent.Answer(Entry{ID: 9, At: noon, Tokens: in(10)}) // after the fork
	parent.Add(Entry{At: noon, Model: "m", CostUSD: 4})
	fork.Answer(Entry{ID: 3, At: noon, Tokens: in(10)})
	fork.Add(Entry{At: noon, Model: "m", CostUSD: 3.5})
	a := &Account{ID: "a", Ledgers: []*Ledger{&parent}, Last: noon.Add(time.Hour)}
	b := &Account{ID: "b", Ledgers: []*Ledger{&fork}, Last: noon}
	if Settle([]*Account{b, a}); total(a).CostUSD != 5.5 || total(b).CostUSD != 2 || b.Copies != 2 || total(b).Tokens != in(10) || fork.Tokens() != in(30) {
		t.Errorf("%+v\n%+v", a, b)
	}
}

// Whatever histories are forked, continued, repeated and cut, each answer counts once, for the session in which it was given if that exists, and the steps of
// all sessions add up to what a plain count says.
func TestSettleIsAPlainCount(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	type answer struct {
		e      Entry
		blocks int
	}
	for round := range 2000 {
		var histories [][]answer
		next := uint64(1)
		for range 1 + rng.IntN(6) {
			var h []answer
			if len(histories) > 0 && rng.IntN(2) == 0 { // a fork, or a session that continues another one
				of := histories[rng.IntN(len(histories))]
				h = slices.Clone(of[:rng.IntN(len(of)+1)])
				for i := range h {
					h[i].e.Copied = true
				}
			}
			for range 1 + rng.IntN(8) {
				e := Entry{ID: next, At: noon.Add(time.Duration(rng.IntN(5000)) * time.Minute), Tokens: in(1 + rng.Int64N(100)), Model: string(rune('a' + rng.IntN(2)))}
				if rng.IntN(10) == 0 {
					e.At = time.Time{}
				}
				h = append(h, answer{e, 1 + rng.IntN(3)})
				next++
			}
			histories = append(histories, h)
		}
		if rng.IntN(2) == 0 { // its copies are all that is left
			histories = slices.Delete(histories, 0, 1)
		}
		want, models := map[uint64]int64{}, map[string]int64{}
		var accounts []*Account
		for i, h := range histories {
			var l Ledger
			for _, a := range h {
				for block := range a.blocks {
					part := a.e
					part.Tokens.Input -= int64(min(a.blocks-1-block, int(part.Tokens.Input)-1))
					l.Answer(part)
				}
				if rng.IntN(8) == 0 && len(h) > 0 { // an earlier line again
					l.Answer(h[0].e)
				}
				if want[a.e.ID] == 0 {
					models[a.e.Model] += a.e.Tokens.Input
				}
				want[a.e.ID] = a.e.Tokens.Input
			}
			clone := l.Clone()
			clone.Add(Entry{ID: 1 << 40, Tokens: in(1e9)})
			l.Add(Entry{})
			accounts = append(accounts, &Account{ID: string(rune('a' + i)), Ledgers: []*Ledger{&l}, Last: noon.Add(time.Duration(i) * time.Hour)})
		}
		Settle(accounts)
		var sum, tokens int64
		got := map[string]int64{}
		for i, a := range accounts {
			for j, u := range a.Usage {
				got[u.Model] += u.Tokens.Input
				sum += u.Tokens.Input
				if j > 0 && (u.At.Before(a.Usage[j-1].At) || u.IsAt(&a.Usage[j-1])) {
					t.Fatalf("round %d: %+v after %+v", round, u, a.Usage[j-1])
				}
			}
			tokens += total(a).Tokens.Input
			for _, h := range histories[i] {
				if !h.e.Copied && total(a).Tokens.Input < h.e.Tokens.Input {
					t.Fatalf("round %d: an answer counts elsewhere", round)
				}
			}
		}
		var all int64
		for n := range maps.Values(want) {
			all += n
		}
		if sum != all || tokens != all || !reflect.DeepEqual(got, models) {
			t.Fatalf("round %d: %d, %d, %v, want %d, %v", round, sum, tokens, got, all, models)
		}
	}
}
