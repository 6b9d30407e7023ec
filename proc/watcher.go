package proc

import (
	"errors"
	"fmt"
	"sync"
	"time"
)

// ErrClosed reports that the watcher was closed.
var ErrClosed = errors.New("exit watcher is closed")

// errNoEvent reports that the system has no exit event for a process, so that the
// process must be polled.
var errNoEvent = errors.New("no exit event for this process")

// pollInterval is the time between two looks at the processes without an exit event.
const pollInterval = time.Second

// Watcher reports the end of processes, its own children or not, as an event:
// by pidfd on Linux, kqueue on macOS, process handles on Windows. While nothing
// ends it uses no CPU, and one thread for all processes.
//
// Processes are polled once a second instead where the system gives no event:
// in a /proc tree other than this pid namespace's own (HOST_PROC), on Linux
// before 5.3 or under a seccomp filter without pidfd_open, when descriptors run
// out, and for processes that may not be opened. The macOS code was compiled, not
// run; that of Windows was run under Wine 8.
//
// A Watcher is safe for concurrent use.
type Watcher struct {
	table    *Table
	events   exitEvents // nil: poll all
	interval time.Duration
	stop     chan struct{} // closed by Close

	calling sync.Mutex // held while exited functions run: one at a time
	running sync.WaitGroup

	mu      sync.Mutex
	closed  bool
	polling bool // poll runs
	watched map[Identity]*watched
}

// watched is one process and the callers that wait for its end.
type watched struct {
	polled bool
	calls  []*exitCall
}

type exitCall struct {
	exited   func()
	canceled bool
}

// exitEvents is the interface to the exit events of an operating system. All methods but wait
// are called one at a time.
type exitEvents interface {
	// add begins to watch a process. Once add has returned nil, wait will report the
	// end of the process. add returns ErrGone when the process is no longer alive; any
	// other error means that its end can't be reported.
	add(id Identity) error
	// remove ends the watch of a process. wait may still report its end.
	remove(id Identity)
	// wait blocks until processes have ended. It returns false when the events are
	// closed.
	wait() ([]Identity, bool)
	// close makes wait return false.
	close()
	// free releases all resources. It is called last.
	free()
}

// NewWatcher returns a watcher for the processes of table. Close it after use.
func NewWatcher(table *Table) (*Watcher, error) {
	w := &Watcher{table: table, interval: pollInterval, stop: make(chan struct{}), watched: make(map[Identity]*watched)}
	if !table.hasEvents() {
		return w, nil
	}
	events, err := newExitEvents(table)
	if errors.Is(err, errNoEvent) {
		return w, nil
	}
	if err != nil {
		return nil, fmt.Errorf("exit watcher: %w", err)
	}
	w.events = events
	w.running.Go(w.loop)
	return w, nil
}

// Watch calls exited exactly once, when the process identified by id ends: it has
// become a zombie or left the table. Watch returns ErrGone when that is already so, or
// when another process has the pid. An exec keeps the process; so does the end of its
// first thread while others run.
//
// The exited functions of one watcher run one at a time on a goroutine of the watcher.
// They must return soon, may call Watch and any cancel, and must not call Close. The
// same process may be watched several times.
//
// cancel ends the watch. Calling it again, or after the end, does nothing. When cancel
// returns, exited will not be called any more, unless its call had begun before cancel
// was called. cancel doesn't wait for such a call, so it may be called while holding a
// lock that exited takes.
func (w *Watcher) Watch(id Identity, exited func()) (cancel func(), err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.closed {
		return nil, ErrClosed
	}
	entry := w.watched[id]
	if entry == nil {
		entry = new(watched)
		entry.polled, err = w.begin(id)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", id, err)
		}
		w.watched[id] = entry
	}
	call := &exitCall{exited: exited}
	entry.calls = append(entry.calls, call)
	return func() { w.cancel(id, entry, call) }, nil
}

// begin watches a process by event, or else by polling.
func (w *Watcher) begin(id Identity) (polled bool, err error) {
	if w.events != nil {
		err := w.events.add(id)
		if err == nil || errors.Is(err, ErrGone) {
			return false, err
		}
	}
	if !w.table.Alive(id) {
		return true, ErrGone
	}
	if !w.polling {
		w.polling = true
		w.running.Go(w.poll)
	}
	return true, nil
}

// end stops watching a process, in the way in which begin watched it.
func (w *Watcher) end(id Identity, entry *watched) {
	delete(w.watched, id)
	if !entry.polled {
		w.events.remove(id)
	}
}

func (w *Watcher) cancel(id Identity, entry *watched, call *exitCall) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if call.canceled {
		return
	}
	call.canceled = true
	if w.watched[id] != entry {
		return // it has ended meanwhile, or the watcher is closed
	}
	for _, other := range entry.calls {
		if !other.canceled {
			return
		}
	}
	w.end(id, entry)
}

// loop waits for events until the watcher is closed.
func (w *Watcher) loop() {
	for {
		ids, ok := w.events.wait()
		if !ok {
			return
		}
		for _, id := range ids {
			w.ended(id)
		}
	}
}

// poll checks at an interval which of the processes without an exit event are alive. It ends when there are none.
func (w *Watcher) poll() {
	ticker := time.NewTicker(w.interval)
	defer ticker.Stop()
	for {
		select {
		case <-w.stop:
			return
		case <-ticker.C:
		}
		ids := w.polled()
		if ids == nil {
			return
		}
		for _, id := range ids {
			if !w.table.Alive(id) {
				w.ended(id)
			}
		}
	}
}

// polled returns the processes without an exit event.
func (w *Watcher) polled() (ids []Identity) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for id, entry := range w.watched {
		if entry.polled {
			ids = append(ids, id)
		}
	}
	w.polling = ids != nil
	return ids
}

// ended calls the exited functions of all watches of id.
func (w *Watcher) ended(id Identity) {
	w.calling.Lock()
	defer w.calling.Unlock()
	w.mu.Lock()
	entry := w.watched[id]
	if entry == nil || w.closed {
		w.mu.Unlock()
		return
	}
	w.end(id, entry)
	w.mu.Unlock()
	for _, call := range entry.calls {
		if w.claim(call) {
			call.exited()
		}
	}
}

// claim reports whether call is still wanted, and marks it as done.
func (w *Watcher) claim(call *exitCall) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	wanted := !call.canceled && !w.closed
	call.canceled = true
	return wanted
}

// Close ends all watches without a call and frees their resources. When it returns, no
// exited function is running and none will be called. It may be called again.
func (w *Watcher) Close() error {
	w.mu.Lock()
	if w.closed {
		w.mu.Unlock()
		return nil
	}
	w.closed = true
	if w.events != nil {
		w.events.close()
	}
	close(w.stop)
	w.mu.Unlock()
	w.running.Wait()
	if w.events != nil {
		w.events.free()
	}
	return nil
}
