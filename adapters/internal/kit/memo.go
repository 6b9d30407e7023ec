package kit

import (
	"cmp"
	"maps"
	"regexp"
	"slices"
	"sync"
	"time"
	"unicode/utf8"

	"rollcall/adapters"
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
	mu    sync.Mutex
	used  map[string]time.Time
	last  []string             // the folders of the last call of Use
	saved map[string]time.Time // what places has, as far as it is known
	// places keeps the folders for other processes of Rollcall; nil: they are not kept.
	places adapters.Places
	agent  adapters.Name
}

// NewRecent returns a Recent that keeps the folders of an agent in places, unless it is nil.
func NewRecent(places adapters.Places, agent adapters.Name) *Recent {
	return &Recent{places: places, agent: agent}
}

const (
	// RecentTime is the time for which a Recent remembers a folder after its last use.
	RecentTime = 24 * time.Hour
	maxRecent  = 200
	// saveAfter is how old the time of a folder in use may be that is kept for other processes.
	saveAfter = 10 * time.Minute
)

// Use records that processes used folders at the given time, and returns all folders that were
// used in the 24 hours before, sorted. If there are too many, Use keeps those that were used
// last.
func (r *Recent) Use(folders []string, at time.Time) []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.used == nil {
		r.load(at)
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
	r.save(folders, at)
	return slices.Sorted(maps.Keys(r.used))
}

func (r *Recent) load(at time.Time) {
	r.used, r.saved = map[string]time.Time{}, map[string]time.Time{}
	if r.places == nil {
		return
	}
	for folder, last := range r.places.Load(string(r.agent)) {
		if last.After(at) { // the clock was set back since
			last = at
		}
		r.used[folder], r.saved[folder] = last, last
	}
}

// save keeps the folders in use for other processes, if these do not know of a use, or of the end of one.
func (r *Recent) save(folders []string, at time.Time) {
	now := map[string]time.Time{}
	for _, folder := range append(slices.Clone(folders), r.last...) {
		ended := !slices.Contains(folders, folder)
		if saved, known := r.saved[folder]; lasts(folder) && (!known || ended && saved.Before(r.used[folder]) || at.Sub(saved) > saveAfter && !ended) {
			now[folder] = r.used[folder]
		}
	}
	r.last = slices.Clone(folders)
	if len(now) > 0 && r.places != nil {
		r.places.Save(string(r.agent), now)
		maps.Copy(r.saved, now)
	}
}

var inProcess = regexp.MustCompile(`/[0-9]+/root(/|$)`)

// lasts reports whether a path outlives the process that uses it: the root of a container does not. A path with other bytes than
// text can't be kept.
func lasts(path string) bool { return utf8.ValidString(path) && !inProcess.MatchString(path) }
