package report

import "sync"

// maxMemo is the largest number of values that a Memo keeps.
const maxMemo = 200_000

// Memo keeps values between calls: facts, never a status. When there are too many, it
// drops all of them. The zero value is empty. It is safe for concurrent use; the values
// must not be changed.
type Memo[K comparable, V any] struct {
	mu     sync.Mutex
	values map[K]V
}

// Get returns the value for a key. ok is false where there is none.
func (m *Memo[K, V]) Get(key K) (value V, ok bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	value, ok = m.values[key]
	return value, ok
}

// Put keeps a value.
func (m *Memo[K, V]) Put(key K, value V) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.values == nil || len(m.values) >= maxMemo {
		m.values = map[K]V{}
	}
	m.values[key] = value
}

// Forget drops all values.
func (m *Memo[K, V]) Forget() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.values = nil
}
