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

// order is one action on the desktop: it shows a notification, which replaces an earlier one with the same key,
// or withdraws it.
type order struct {
	key     string
	kind    Kind
	session string // id of the session that a click opens
	agent   adapters.Name
	// waitingFor is what the session waits for, with kind Waiting.
	waitingFor adapters.WaitingFor
	text       Text
	ask        *ask        // the request that the notification shows; nil: none
	ended      []app.Event // with kind Ended, the ended sessions
	taken      func()      // called once the desktop has accepted the order; may be nil
	members    []member    // the waits, if the notification has or had several
	replaces   string      // key of the notification that this one replaces on the screen
	sound      bool
	soundName  string // with sound: a file, or a name of the sound theme
	withdraw   bool
	// opensRequest reports that a click opens the request of the session, as for a wait.
	opensRequest bool
	onlyShown    bool // carried out only if the notification is still on the screen
	stands       bool // the notification was shown before: carried out only if it is no longer on the screen
	tries        int
}

// needsUser reports whether the notification is about a session that waits for the user.
func (o *order) needsUser() bool { return o.kind == Permission || o.kind == Question }

// outbox is an unbounded queue: put never blocks, and no order is lost. A new order replaces an older one with its key.
type outbox struct {
	mu     sync.Mutex
	queue  []order
	taken  int        // orders that were taken, and were neither completed nor returned
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

// putLocked queues an order. If a newer order replaces an order that is to replace another notification, the newer one
// keeps the older one's place in the queue: later orders may have the key of the replaced notification.
func (b *outbox) putLocked(o order) {
	i := slices.IndexFunc(b.queue, func(q order) bool { return q.key == o.key || o.replaces != "" && q.key == o.replaces })
	if i < 0 {
		b.queue = append(b.queue, o)
		return
	}
	q := b.queue[i]
	if !q.withdraw && !q.onlyShown {
		o.onlyShown = false // the notification that it corrects is not on the screen yet
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
	b.again(o)
	b.done()
}

// again queues an order that was completed before, unless the queue has a newer one with its key.
func (b *outbox) again(o order) {
	b.mu.Lock()
	if !slices.ContainsFunc(b.queue, func(q order) bool { return q.key == o.key || q.replaces == o.key }) {
		b.queue = slices.Insert(b.queue, 0, o)
	}
	b.mu.Unlock()
	b.signal.Set()
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

// open returns the number of orders that are not completed.
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
