package claudecode

import (
	"rollcall/adapters/internal/agentfile"
	"rollcall/adapters/internal/kit"
)

// factsFormat is the version of the facts of transcripts. It must be raised when the same fields
// get another meaning.
const factsFormat = 8

// savedTranscript is what is kept of a transcript between processes.
type savedTranscript struct {
	state agentfile.State
	facts facts
	sums  totals
}

type savedTranscripts = kit.Saved[savedTranscript]

// load takes what an earlier process read, if this one has read nothing yet. The caller checks it
// against the file.
func (t *transcript) load() {
	if t.loaded {
		return
	}
	t.loaded = true
	if !t.Stamp.IsZero() {
		return
	}
	if known, ok := t.saved.Load(t.Path); ok {
		t.State = known.state
		t.facts = known.facts
		t.now = known.facts
		t.sums = known.sums
	}
}

// save keeps what was read for other processes; read is the number of bytes that were read for
// it. An unfinished last line, a text that no list shows, is not kept: it alone is read again.
func (t *transcript) save(read int64) {
	state := t.State
	if t.rest != nil {
		state = t.Complete()
	}
	if t.sums.tokensAt != t.sums.next {
		t.sums.count()
	}
	known := savedTranscript{state, t.facts, t.sums}
	t.saved.Store(t.Path, &known, &known.sums.ledger, read)
	t.sums.ledger = known.sums.ledger
}
