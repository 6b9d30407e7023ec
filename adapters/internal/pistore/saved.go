package pistore

import "rollcall/adapters/internal/incremental"

// factsFormat is the version of the facts of sessions. It must be raised when the same fields get
// another meaning. Both agents read the same files and share what is kept of them.
const (
	factsFormat = 1
	factsName   = "pi"
)

// savedTranscript is what is kept of a session's file between processes.
type savedTranscript struct {
	state incremental.State
	facts facts
	whole bool
}

// load takes what an earlier process read, if this one has read nothing yet. The caller checks it
// against the file.
func (t *transcript) load() {
	if t.loaded {
		return
	}
	t.loaded = true
	if known, ok := t.saved.Load(t.Path); ok {
		t.State, t.facts, t.now, t.whole = known.state, known.facts, known.facts, known.whole
		t.now.log = t.facts.log.Clone()
	}
}

// save keeps what was read for other processes; read is the number of bytes that were read for
// it. An unfinished last line is not kept: such a file is read again.
func (t *transcript) save(read int64) {
	if !t.unfinished {
		t.saved.Store(t.Path, &savedTranscript{t.State, t.facts, t.whole}, read)
	}
}
