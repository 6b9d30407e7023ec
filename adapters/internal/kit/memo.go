package kit

import (
	"cmp"
	"maps"
	"slices"
	"sync"
	"time"
)

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

// Recent remembers for 24 hours the folders that processes used, so that the
// sessions in a folder that only a process named stay listed after that process
// has ended. It is safe for concurrent use.
type Recent struct {
	mu   sync.Mutex
	used map[string]time.Time
}

const (
	// RecentTime is the time for which a Recent remembers a folder after its last use.
	RecentTime = 24 * time.Hour
	maxRecent  = 200
)

// Use records that processes used folders at the given time, and returns all folders that were
// used in the 24 hours before, sorted. If there are too many, Use keeps those that were used
// last.
func (r *Recent) Use(folders []string, at time.Time) []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.used == nil {
		r.used = map[string]time.Time{}
	}
	maps.DeleteFunc(r.used, func(_ string, last time.Time) bool { return at.Sub(last) > RecentTime })
	for _, folder := range folders {
		r.used[folder] = at
	}
	for len(r.used) > maxRecent {
		delete(r.used, slices.MinFunc(slices.Collect(maps.Keys(r.used)), func(a, b string) int {
			return cmp.Or(r.used[a].Compare(r.used[b]), cmp.Compare(a, b))
		}))
	}
	return slices.Sorted(maps.Keys(r.used))
}

// Forget removes a folder.
func (r *Recent) Forget(folder string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.used, folder)
}
