package kit

import (
	"cmp"
	"encoding/binary"
	"math"
	"slices"
	"time"

	"rollcall/adapters"
)

// Entry is an answer of a model, as an agent's record states it, or a cost that the agent states apart from its answers.
type Entry struct {
	ID                 uint64 // of the answer, the same in each of its copies; 0: a copy of it can't be recognised
	Copied             bool   // the record shows that the answer was given in another session
	Final              bool   // the record shows that the answer had ended: what others state of it does not count
	At                 time.Time
	Model, CWD, Branch string // where the answer was given; empty: those of the session
	Tokens             adapters.Tokens
	CostUSD            float64
	Turns              int // prompts of the user that it answers
}

// Ledger lists the answers in one file of an agent, in the file's order. Its zero value is ready for use. A copy shares its
// entries: add to only one of the two, or Clone it.
type Ledger struct {
	packed   packed  // all entries but the last
	ids      []byte  // of the packed entries that have one, 8 bytes each
	sums     packed  // the same, with those in a row added up that are of one step and place
	sum      entry   // of the last of these rows, which is not in sums yet
	places   []place // that the entries name by number
	last     entry
	begun    bool // last is an entry
	prompted bool // a prompt has no answer yet
	answered bool // there is an answer
}

// place is what many answers have in common.
type place struct{ model, cwd, branch string }

// entry is an Entry as a ledger holds it, or the sum of several.
type entry struct {
	id      uint64
	copied  bool
	final   bool
	place   int
	step    int64 // of adapters.UsageStep since 1970; 0: not known
	tokens  adapters.Tokens
	usd     float64
	turns   int
	answers int // 0: a cost that is stated apart from answers
}

// Prompt records a prompt of the user.
func (l *Ledger) Prompt() { l.prompted = true }

// LatePrompt records a prompt of the user that was written after its answer.
func (l *Ledger) LatePrompt() {
	if l.answered {
		l.last.turns++
	}
}

// Answer adds an answer of the model. The first one after a prompt completes a turn.
func (l *Ledger) Answer(e Entry) {
	l.answered = true
	if l.prompted {
		l.prompted = false
		e.Turns++
	}
	l.Add(e)
}

// Add adds an entry. A record that repeats the id of the last entry is a later block of the same answer: what the final one states counts, and before that the
// larger counts are the more complete ones.
func (l *Ledger) Add(e Entry) {
	if e.Tokens == (adapters.Tokens{}) && e.CostUSD == 0 && e.Turns == 0 {
		return
	}
	n := entry{id: e.ID, copied: e.Copied, final: e.Final, place: l.place(place{e.Model, e.CWD, e.Branch}), tokens: e.Tokens, usd: e.CostUSD, turns: e.Turns, answers: answersIn(e.Tokens)}
	if !e.At.IsZero() {
		n.step = e.At.Unix() / int64(adapters.UsageStep/time.Second)
	}
	if l.begun && n.id != 0 && n.id == l.last.id {
		l.last.merge(&n)
		return
	}
	l.flush()
	l.last, l.begun = n, true
}

// answersIn returns 1 for what an answer used, and 0 for a cost that is stated apart from one.
func answersIn(t adapters.Tokens) int {
	if t == (adapters.Tokens{}) {
		return 0
	}
	return 1
}

// merge adds another record of the same answer.
func (e *entry) merge(o *entry) {
	switch {
	case e.final == o.final:
		e.tokens = e.tokens.Combine(o.tokens, func(a, b int64) int64 { return max(a, b) })
	case o.final:
		e.tokens, e.final = o.tokens, true
	}
	e.usd = max(e.usd, o.usd)
	e.turns = max(e.turns, o.turns)
	e.copied = e.copied && o.copied
	e.answers = max(e.answers, o.answers)
}

func (l *Ledger) place(p place) int {
	for i := len(l.places) - 1; i >= 0; i-- {
		if l.places[i] == p {
			return i
		}
	}
	l.places = append(l.places, p)
	return len(l.places) - 1
}

// MarkCopied marks all answers so far as copies, for an agent whose record of a fork follows what the fork has of another
// session.
func (l *Ledger) MarkCopied() {
	marked := Ledger{places: slices.Clip(l.places), prompted: l.prompted, answered: l.answered}
	l.each(func(e *entry) {
		marked.flush()
		marked.last, marked.begun = *e, true
		marked.last.copied = true
	})
	*l = marked
}

// SetModel sets the model of the answers that name none.
func (l *Ledger) SetModel(model string) {
	l.places = slices.Clone(l.places)
	for i := range l.places {
		l.places[i].model = cmp.Or(l.places[i].model, model)
	}
}

// Clone returns a ledger to which entries can be added without changing l.
func (l *Ledger) Clone() Ledger {
	c := *l
	c.packed.bytes, c.sums.bytes = slices.Clip(l.packed.bytes), slices.Clip(l.sums.bytes)
	c.ids, c.places = slices.Clip(l.ids), slices.Clip(l.places)
	return c
}

// flush packs the last entry: a machine can have millions of answers.
func (l *Ledger) flush() {
	if !l.begun {
		return
	}
	e := l.last
	l.begun = false
	if e.id != 0 {
		l.ids = binary.LittleEndian.AppendUint64(l.ids, e.id)
	}
	l.packed.add(&e)
	e.id = 0
	e.copied = false
	e.final = false
	switch {
	case l.sum == (entry{}):
		l.sum = e
	case l.sum.step == e.step && l.sum.place == e.place:
		l.sum.tokens.Add(e.tokens)
		l.sum.usd += e.usd
		l.sum.turns += e.turns
		l.sum.answers += e.answers
	default:
		l.sums.add(&l.sum)
		l.sum = e
	}
}

// eachID calls do with the id of every entry that has one, in the file's order. It reads no entries.
func (l *Ledger) eachID(do func(id uint64)) {
	for ids := l.ids; len(ids) >= 8; ids = ids[8:] {
		do(binary.LittleEndian.Uint64(ids))
	}
	if l.begun && l.last.id != 0 {
		do(l.last.id)
	}
}

// each calls do with every entry, in the file's order. do must not keep the entry.
func (l *Ledger) each(do func(e *entry)) {
	l.packed.each(l.ids, len(l.places), do)
	if l.begun {
		e := l.last
		do(&e)
	}
}

// eachSum calls do with entries that add up to all, in the file's order, of which only the last can have an id. It is much faster than each. do must not keep the entry.
func (l *Ledger) eachSum(do func(e *entry)) {
	l.sums.each(nil, len(l.places), do)
	if e := l.sum; e != (entry{}) {
		do(&e)
	}
	if e := l.last; l.begun {
		do(&e)
	}
}

// packed is a list of entries, without their ids.
type packed struct {
	bytes []byte
	step  int64 // of the last entry
}

// The bits that tell which fields of a packed entry follow.
const (
	hasID = 1 << iota
	isCopied
	hasCost
	hasTurns
	hasReasoning
	isSum
	isFinal
)

func (p *packed) add(e *entry) {
	to, flags := p.bytes, byte(0)
	for i, is := range []bool{e.id != 0, e.copied, e.usd != 0, e.turns != 0, e.tokens.Reasoning != 0, e.answers != answersIn(e.tokens), e.final} {
		if is {
			flags |= 1 << i
		}
	}
	to = binary.AppendUvarint(append(to, flags), uint64(e.place))
	to = binary.AppendVarint(to, e.step-p.step)
	for _, n := range []int64{e.tokens.Input, e.tokens.Output, e.tokens.CacheRead, e.tokens.CacheWrite} {
		to = binary.AppendVarint(to, n)
	}
	if flags&hasReasoning != 0 {
		to = binary.AppendVarint(to, e.tokens.Reasoning)
	}
	if flags&hasCost != 0 {
		to = binary.LittleEndian.AppendUint64(to, math.Float64bits(e.usd))
	}
	if flags&hasTurns != 0 {
		to = binary.AppendVarint(to, int64(e.turns))
	}
	if flags&isSum != 0 {
		to = binary.AppendVarint(to, int64(e.answers))
	}
	p.bytes, p.step = to, e.step
}

// each calls do with every entry. ids are those of the entries that have one, and places is the number of places.
func (p *packed) each(ids []byte, places int, do func(e *entry)) {
	from := packedBytes(p.bytes)
	var e entry
	for step := int64(0); len(from) > 0; do(&e) {
		flags := from[0]
		from, e = from[1:], entry{copied: flags&isCopied != 0, final: flags&isFinal != 0}
		if flags&hasID != 0 && len(ids) >= 8 {
			e.id, ids = binary.LittleEndian.Uint64(ids), ids[8:]
		}
		e.place = min(int(from.uvarint()), places-1)
		step += from.varint()
		e.step = step
		e.tokens.Input, e.tokens.Output = from.varint(), from.varint()
		e.tokens.CacheRead, e.tokens.CacheWrite = from.varint(), from.varint()
		if flags&hasReasoning != 0 {
			e.tokens.Reasoning = from.varint()
		}
		if flags&hasCost != 0 && len(from) >= 8 {
			e.usd, from = math.Float64frombits(binary.LittleEndian.Uint64(from)), from[8:]
		}
		if flags&hasTurns != 0 {
			e.turns = int(from.varint())
		}
		e.answers = answersIn(e.tokens)
		if flags&isSum != 0 {
			e.answers = int(from.varint())
		}
	}
}

// packedBytes are packed entries that are being read. What is missing at their end is 0.
type packedBytes []byte

func (p *packedBytes) uvarint() uint64 {
	n, size := binary.Uvarint(*p)
	*p = (*p)[max(size, 0):]
	return n
}

func (p *packedBytes) varint() int64 {
	n, size := binary.Varint(*p)
	*p = (*p)[max(size, 0):]
	return n
}

// Tokens returns what the answers used, each counted once.
func (l *Ledger) Tokens() adapters.Tokens { return TokensOf(l) }

// TokensOf returns what the answers in several ledgers used, each counted once.
func TokensOf(ledgers ...*Ledger) (sum adapters.Tokens) {
	var ids []uint64
	for _, l := range ledgers {
		l.eachID(func(id uint64) { ids = append(ids, id) })
	}
	n := len(ids)
	slices.Sort(ids)
	if len(slices.Compact(ids)) == n { // no answer is repeated: the sums do
		for _, l := range ledgers {
			l.eachSum(func(e *entry) { sum.Add(e.tokens) })
		}
		return sum
	}
	once := make(map[uint64]*entry)
	for _, l := range ledgers {
		l.each(func(e *entry) {
			switch first := once[e.id]; {
			case e.id == 0:
				sum.Add(e.tokens)
			case first == nil:
				one := *e
				once[e.id] = &one
			default:
				first.merge(e)
			}
		})
	}
	for _, e := range once {
		sum.Add(e.tokens)
	}
	return sum
}
