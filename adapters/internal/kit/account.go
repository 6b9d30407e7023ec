package kit

import (
	"cmp"
	"maps"
	"math"
	"math/bits"
	"slices"
	"strings"
	"time"

	"rollcall/adapters"
	"rollcall/adapters/internal/agentfile"
)

// Account is what one session used: the answers of its ledgers that no other session gave.
type Account struct {
	ID      string
	Ledgers []*Ledger // of its own files
	Agents  []*Ledger // of its sub-agents, whose prompts are not the user's
	Last    time.Time // of its newest record
	// Model, CWD and Branch stand for those that an answer does not name.
	Model, CWD, Branch string
	// Marked reports that every copy in the ledgers says that it is one: what does not was given here, whatever its id, which is made of what the
	// agent recorded of the answer.
	Marked bool
	// Known are totals that the agent states for the session, copies included. What no entry accounts for, such as answers that were removed
	// since, counts at Last. Nil: the ledgers hold everything.
	Known *Known

	Usage  []adapters.Usage // what counts for the session, as Settle sets it
	Copies int              // answers of the ledgers that count for other sessions, as Settle sets it
	alone  bool             // none of its ids is repeated
}

// Known are the totals that an agent states for a session.
type Known struct {
	Tokens  adapters.Tokens
	CostUSD float64
}

// owner is the account for which an answer counts.
type owner struct {
	account int32
	copied  bool // no account holds it as its own
	shared  bool // several entries have its id
}

// Steps returns what counts for the session, nil for a nil account.
func (a *Account) Steps() []adapters.Usage {
	if a == nil {
		return nil
	}
	return a.Usage
}

// Settle counts each answer of the accounts once. Of several accounts that hold an answer, the one counts in which it was given: the one whose
// record does not say that it is a copy, and of several of those the session that ended first, which a later one continued.
func Settle(accounts []*Account) {
	again := repeated(accounts)
	owners := map[uint64]owner{}
	for i, a := range accounts {
		a.alone = len(again) == 0 || !a.hasOneOf(again)
		if a.alone {
			continue
		}
		a.each(func(e *entry, _ *Ledger) {
			if again[e.id] == 0 {
				return
			}
			o, known := owners[e.id]
			switch {
			case !known:
				o = owner{account: int32(i), copied: e.copied}
			case o.copied && !e.copied, o.copied == e.copied && a.endedBefore(accounts[o.account]):
				o = owner{account: int32(i), copied: e.copied, shared: true}
			default:
				o.shared = true
			}
			owners[e.id] = o
		})
	}
	agentfile.Parallel(len(accounts), func(i int) { accounts[i].settle(int32(i), owners, accounts) })
}

// repeated returns the ids that several entries have, with the number of these. Nearly all ids are those of one entry, and a machine can have
// millions: a bit for each tells which can be repeated, and only these are counted.
func repeated(accounts []*Account) map[uint64]int {
	ids := 0
	for _, a := range accounts {
		for _, l := range a.all() {
			ids += len(l.ids)/8 + 1
		}
	}
	seen := make([]uint64, 1<<bits.Len(uint(ids*bitsForEach/64)))
	again := map[uint64]int{}
	for _, a := range accounts {
		a.eachID(func(id uint64) {
			word, bit := &seen[id>>7%uint64(len(seen))], uint64(1)<<(id>>1&63)
			if *word&bit != 0 {
				again[id] = 0
			}
			*word |= bit
		})
	}
	for _, a := range accounts {
		a.eachID(func(id uint64) {
			if n, is := again[id]; is {
				again[id] = n + 1
			}
		})
	}
	maps.DeleteFunc(again, func(_ uint64, n int) bool { return n == 1 })
	return again
}

// bitsForEach is the number of bits that repeated has for each id.
const bitsForEach = 16

func (a *Account) hasOneOf(ids map[uint64]int) (has bool) {
	a.eachID(func(id uint64) { has = has || ids[id] > 0 })
	return has
}

func (a *Account) all() []*Ledger { return slices.Concat(a.Ledgers, a.Agents) }

func (a *Account) eachID(do func(id uint64)) {
	for _, l := range a.all() {
		l.eachID(do)
	}
}

func (a *Account) endedBefore(b *Account) bool {
	return cmp.Or(a.Last.Compare(b.Last), cmp.Compare(a.ID, b.ID)) < 0
}

func (a *Account) each(do func(e *entry, in *Ledger)) {
	a.eachBy((*Ledger).each, do)
}

func (a *Account) eachSum(do func(e *entry, in *Ledger)) { a.eachBy((*Ledger).eachSum, do) }

func (a *Account) eachBy(each func(l *Ledger, do func(e *entry)), do func(e *entry, in *Ledger)) {
	for _, l := range a.Ledgers {
		each(l, func(e *entry) { do(e, l) })
	}
	for _, l := range a.Agents {
		each(l, func(e *entry) {
			e.turns = 0
			do(e, l)
		})
	}
}

// settle adds up the entries that count for the account with index i.
func (a *Account) settle(i int32, owners map[uint64]owner, accounts []*Account) {
	type answer struct {
		entry
		in *Ledger
	}
	shared := map[uint64]*answer{} // the answers that several entries state
	list, costs := []adapters.Usage{}, []adapters.Usage{}
	var last struct { // where and when the end of list was used
		in    *Ledger
		step  int64
		place int
	}
	each := a.each
	if a.alone {
		each = a.eachSum
	}
	each(func(e *entry, in *Ledger) {
		switch o, repeated := owners[e.id]; {
		case e.id == 0 && e.answers == 0 && e.usd != 0:
			costs = append(costs, a.usage(e, in))
			return
		case !repeated, a.Marked && !e.copied:
		case o.account != i:
			a.Copies++
			return
		case o.shared:
			if first := shared[e.id]; first != nil {
				first.merge(e)
			} else {
				shared[e.id] = &answer{*e, in}
			}
			return
		}
		if in == last.in && e.step == last.step && e.place == last.place {
			u := &list[len(list)-1]
			u.Add(&adapters.Usage{Tokens: e.tokens, CostUSD: e.usd, Answers: e.answers, Turns: e.turns})
		} else {
			list = append(list, a.usage(e, in))
		}
		last.in = in
		last.step = e.step
		last.place = e.place
	})
	for _, e := range shared {
		list = append(list, a.usage(&e.entry, e.in))
	}
	if a.Copies > 0 && len(costs) > 0 {
		deduct(costs, a.paidBefore(i, owners, accounts))
	}
	list = append(list, costs...)
	if a.Known != nil {
		list = a.addRest(list)
	}
	if len(list) == 0 && a.Copies == 0 { // it counts as a session
		list = append(list, adapters.Usage{Model: a.Model, CWD: a.CWD, Branch: a.Branch})
	}
	a.Usage = a.steps(list)
}

// deduct takes from the costs what other sessions had paid, by model.
func deduct(costs []adapters.Usage, paid map[string]float64) {
	for i := range costs {
		u := &costs[i]
		part := min(paid[u.Model], u.CostUSD)
		u.CostUSD -= part
		paid[u.Model] -= part
	}
}

// paidBefore returns what the sessions whose answers this one repeats had cost by then, by model: a cost that an agent states for a whole
// session includes it.
func (a *Account) paidBefore(i int32, owners map[uint64]owner, accounts []*Account) map[string]float64 {
	var repeated map[uint64]bool
	var of []int32
	a.each(func(e *entry, _ *Ledger) {
		if o, is := owners[e.id]; is && o.account != i {
			if repeated == nil {
				repeated = map[uint64]bool{}
			}
			repeated[e.id] = true
			if !slices.Contains(of, o.account) {
				of = append(of, o.account)
			}
		}
	})
	paid := map[string]float64{}
	for _, o := range of {
		isRepeated, all := false, map[string]float64{}
		accounts[o].each(func(e *entry, in *Ledger) {
			if e.id != 0 {
				isRepeated = repeated[e.id]
				return
			}
			model := cmp.Or(in.places[e.place].model, a.Model)
			all[model] += e.usd
			if isRepeated {
				paid[model] = max(paid[model], all[model])
			}
		})
	}
	return paid
}

// usage returns an entry as the answer of an adapter has it.
func (a *Account) usage(e *entry, in *Ledger) adapters.Usage {
	p := in.places[e.place]
	u := adapters.Usage{Model: cmp.Or(p.model, a.Model), CWD: cmp.Or(p.cwd, a.CWD), Branch: cmp.Or(p.branch, a.Branch),
		Tokens: e.tokens, CostUSD: e.usd, Turns: e.turns, Answers: e.answers}
	if e.step != 0 {
		u.At = time.Unix(e.step*int64(adapters.UsageStep/time.Second), 0).UTC()
	}
	return u
}

// steps adds up the answers that were given in one step at one place, by time.
func (a *Account) steps(list []adapters.Usage) []adapters.Usage {
	without := a.Last.UTC().Truncate(adapters.UsageStep) // the time of records without one: that of the first one with a time
	for i := range list {
		if at := list[i].At; !at.IsZero() && at.Before(without) {
			without = at
		}
	}
	for i := range list {
		if list[i].At.IsZero() && !a.Last.IsZero() {
			list[i].At = without
		}
	}
	slices.SortStableFunc(list, func(x, y adapters.Usage) int {
		return cmp.Or(x.At.Compare(y.At), strings.Compare(x.Model, y.Model), strings.Compare(x.CWD, y.CWD), strings.Compare(x.Branch, y.Branch))
	})
	steps := list[:0]
	for _, u := range list {
		if n := len(steps) - 1; n >= 0 && steps[n].IsAt(&u) {
			steps[n].Add(&u)
		} else {
			steps = append(steps, u)
		}
	}
	return steps
}

// addRest adds what the totals that the agent states hold beyond the entries. If the entries hold more, it is not known how much each of them used:
// then the totals count as one.
func (a *Account) addRest(list []adapters.Usage) []adapters.Usage {
	rest := adapters.Usage{At: a.Last.UTC().Truncate(adapters.UsageStep), Model: a.Model, CWD: a.CWD, Branch: a.Branch, Tokens: a.Known.Tokens, CostUSD: a.Known.CostUSD}
	whole := rest
	a.eachSum(func(e *entry, _ *Ledger) {
		rest.Tokens = rest.Tokens.Minus(e.tokens)
		rest.CostUSD -= e.usd
	})
	if math.Abs(rest.CostUSD) < 1e-9 {
		rest.CostUSD = 0
	}
	t := rest.Tokens
	if min(t.Input, t.Output, t.CacheRead, t.CacheWrite, t.Reasoning) >= 0 && rest.CostUSD >= 0 {
		if t != (adapters.Tokens{}) || rest.CostUSD != 0 {
			list = append(list, rest)
		}
		return list
	}
	for i := range list {
		whole.Turns, whole.Answers = whole.Turns+list[i].Turns, whole.Answers+list[i].Answers
	}
	return append(list[:0], whole)
}
