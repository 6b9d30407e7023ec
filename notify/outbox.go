package notify

import (
	"slices"
	"sync"

	"rollcall/adapters"
	"rollcall/app"
)

// member is one wait of a notification.
type member struct {
	Key        string              `json:"key"`
	Agent      adapters.Name       `json:"agent"`
	Session    string              `json:"session"`
	WaitingFor adapters.WaitingFor `json:"waiting_for,omitempty"`
}

// order is one action of the desktop: to show a notification, in place of an earlier one with the same key, or to
// withdraw it.
type order struct {
	key     string
	kind    Kind
	session string // opened by a click
	agent   adapters.Name
	// waitingFor is what the session waits for, with kind Waiting.
	waitingFor adapters.WaitingFor
	text       Text
	ask        *ask        // what the session asks; nil: that is not shown
	ended      []app.Event // with kind Ended, the ended sessions
	taken      func()      // called once the desktop has accepted the order; may be nil
	members    []member    // the waits, if the notification has or had several
	replaces   string      // key of a notification whose place on the screen this one takes
	sound      bool
	withdraw   bool
	// opensRequest reports that a click opens what the session asks, as for a wait.
	opensRequest bool
	onlyShown    bool // carried out only if the notification is still on the screen
	stands       bool // shown before: carried out only if the notification is no longer on the screen
	tries        int
}

// outbox is an unbounded queue: put never blocks, and no order is lost. A new order replaces an older one with its key.
type outbox struct {
	mu     sync.Mutex
	queue  []order
	taken  int        // orders that were taken, and neither done nor returned
	signal app.Wakeup // set while there may be an order
}

func newOutbox() *outbox { return &outbox{signal: app.NewWakeup()} }

func (b *outbox) put(orders ...order) {
	if len(orders) == 0 {
		return
	}
	b.mu.Lock()
	for _, o := range orders {
		b.putLocked(o)
	}
	b.mu.Unlock()
	b.signal.Set()
}

// putLocked queues an order. An order that takes a place on the screen from another keeps its place in the queue when a
// newer order replaces it: later orders may have the key of the notification that lost its place.
func (b *outbox) putLocked(o order) {
	i := slices.IndexFunc(b.queue, func(q order) bool { return q.key == o.key || o.replaces != "" && q.key == o.replaces })
	if i < 0 {
		b.queue = append(b.queue, o)
		return
	}
	q := b.queue[i]
	if !q.withdraw && !q.onlyShown {
		o.onlyShown = false // what it corrects is not shown yet
	}
	if q.replaces != "" {
		o.replaces = q.replaces
		b.queue[i] = o
		return
	}
	b.queue = append(slices.Delete(b.queue, i, i+1), o)
}

// back returns an order that could not be carried out to the head of the queue, unless the queue has a newer one with
// its key.
func (b *outbox) back(o order) {
	b.mu.Lock()
	b.taken--
	b.firstLocked(o)
	b.mu.Unlock()
	b.signal.Set()
}

// again queues orders that were done before, except those for which the queue has a newer one with the same key.
func (b *outbox) again(orders ...order) {
	b.mu.Lock()
	for _, o := range orders {
		b.firstLocked(o)
	}
	b.mu.Unlock()
	b.signal.Set()
}

func (b *outbox) firstLocked(o order) {
	if !slices.ContainsFunc(b.queue, func(q order) bool { return q.key == o.key || q.replaces == o.key }) {
		b.queue = slices.Insert(b.queue, 0, o)
	}
}

func (b *outbox) done() {
	b.mu.Lock()
	b.taken--
	b.mu.Unlock()
}

// take returns the oldest order. The caller must call done or back.
func (b *outbox) take() (order, bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if len(b.queue) == 0 {
		return order{}, false
	}
	o := b.queue[0]
	b.queue = slices.Delete(b.queue, 0, 1)
	b.taken++
	return o, true
}

// open returns the number of orders that are not done.
func (b *outbox) open() int {
	b.mu.Lock()
	defer b.mu.Unlock()
	return len(b.queue) + b.taken
}

func (b *outbox) len() int {
	b.mu.Lock()
	defer b.mu.Unlock()
	return len(b.queue)
}
