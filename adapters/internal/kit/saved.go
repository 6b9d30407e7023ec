package kit

import "rollcall/adapters/internal/factcache"

// Saved keeps facts of type T between processes, and the ledgers of the same files apart: these are most of what is kept, and most questions need none. A
// nil Saved keeps nothing.
type Saved[T any] struct {
	facts   *factcache.Facts[T]
	ledgers *factcache.Facts[Ledger]
}

// SavedLedger is a ledger in facts that a Saved keeps. The facts hold only the number of the ledger, which no ledger of another state of the file has.
type SavedLedger struct {
	Ledger `facts:"-"`
	sum    uint64 // of the ledger that is kept; 0: none is
	here   bool   `facts:"-"` // Ledger is the one that is kept; or it has grown since
}

// NewSaved returns what cache, which may be nil, keeps under a name. format must be raised when the same fields of T get another meaning.
func NewSaved[T any](cache *factcache.Cache, name string, format int) *Saved[T] {
	if cache == nil {
		return nil
	}
	return &Saved[T]{factcache.Of[T](cache, name, format), factcache.Of[Ledger](cache, name+"-usage", format)}
}

// Load returns the facts that were stored for a path, without ledgers: see Fetch.
func (s *Saved[T]) Load(path string) (facts T, ok bool) {
	if s == nil {
		return facts, false
	}
	return s.facts.Load(path)
}

// Store keeps the facts of a path, and l, the ledger in them, whose number it sets; nil: they have none. read is the number of bytes that were read for them.
func (s *Saved[T]) Store(path string, facts *T, l *SavedLedger, read int64) {
	if s == nil {
		return
	}
	if l != nil && (l.here || l.sum == 0 && (l.prompted || l.answered || l.begun)) {
		l.sum, l.here = s.ledgers.Store(path, &l.Ledger, read), true
	}
	s.facts.Store(path, facts, read)
}

// Fetch loads the ledger in facts of a path, unless it is there. It must be called before the ledger is read, and before anything is added to it. It
// returns false if the ledger is not kept any more: then what it is made of must be read again.
func (s *Saved[T]) Fetch(path string, l *SavedLedger) bool {
	if !l.here && l.sum != 0 {
		l.Ledger, l.here = s.ledgers.LoadSum(path, l.sum)
	}
	return l.here || l.sum == 0
}

// Flush must be called at the end of each question: see factcache.Facts.
func (s *Saved[T]) Flush(last bool) {
	if s != nil {
		s.facts.Flush(last)
		s.ledgers.Flush(last)
	}
}

// Clone returns a ledger to which entries can be added without changing l.
func (l *SavedLedger) Clone() SavedLedger { return SavedLedger{l.Ledger.Clone(), l.sum, l.here} }
