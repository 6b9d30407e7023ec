package notify

import (
	"slices"
	"sync"
)

// order is one thing for the desktop to do: show a notification, in the place of
// an earlier one with the same key, or withdraw it.
type order struct {
	key      string
	kind     Kind
	session  string // opened by a click
	text     Text
	withdraw bool
	tries    int
}

// outbox is a queue without a bound: whatever the desktop does, nobody who puts
// an order waits and no order is lost. Orders of one key supersede each other.
type outbox struct {
	mu     sync.Mutex
	queue  []order
	taken  int           // taken, and neither done nor back
	signal chan struct{} // holds a token while there may be an order
}

func newOutbox() *outbox { return &outbox{signal: make(chan struct{}, 1)} }

func (b *outbox) put(orders ...order) {
	if len(orders) == 0 {
		return
	}
	b.mu.Lock()
	for _, o := range orders {
		b.queue = slices.DeleteFunc(b.queue, func(q order) bool { return q.key == o.key })
		b.queue = append(b.queue, o)
	}
	b.mu.Unlock()
	b.poke()
}

// back returns an order that was taken and could not be carried out to the head
// of the queue, unless a newer one of its key is there.
func (b *outbox) back(o order) {
	b.mu.Lock()
	b.taken--
	if !slices.ContainsFunc(b.queue, func(q order) bool { return q.key == o.key }) {
		b.queue = slices.Insert(b.queue, 0, o)
	}
	b.mu.Unlock()
	b.poke()
}

// done says that an order that was taken needs nothing more.
func (b *outbox) done() {
	b.mu.Lock()
	b.taken--
	b.mu.Unlock()
}

// take returns the oldest order; back or done must follow.
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

// open is how many orders are not done.
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

func (b *outbox) poke() {
	select {
	case b.signal <- struct{}{}:
	default:
	}
}
