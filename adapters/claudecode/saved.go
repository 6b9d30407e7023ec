package claudecode

import (
	"rollcall/adapters/internal/agentfile"
	"rollcall/adapters/internal/factcache"
)

// factsFormat is the version of the facts of transcripts. It must be raised when the same fields
// get another meaning.
const factsFormat = 4

// savedTranscript is what is kept of a transcript between processes.
type savedTranscript struct {
	state agentfile.State
	facts facts
	sums  totals
}

type savedTranscripts = factcache.Facts[savedTranscript]

// load takes what an earlier process read, if this one has read nothing yet. The caller checks it
// against the file.
func (t *transcript) load() {
	if t.loaded || t.saved == nil {
		return
	}
	t.loaded = true
	if !t.Stamp.IsZero() {
		return
	}
	if known, ok := t.saved.Load(t.Path); ok {
		t.State, t.facts, t.now, t.sums = known.state, known.facts, known.facts, known.sums
	}
}

// save keeps what was read for other processes; read is the number of bytes that were read for
// it. An unfinished last line, a text that no list shows, is not kept: such a transcript is read again.
func (t *transcript) save(read int64) {
	if t.saved == nil || t.rest != nil {
		return
	}
	t.saved.Store(t.Path, &savedTranscript{t.State, t.facts, t.sums}, read)
}
