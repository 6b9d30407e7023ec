package proc

import (
	"errors"
	"fmt"
	"sync"
	"time"

	"golang.org/x/sys/unix"
)

// eventMarks holds the variables whose addresses mark events: they distinguish an event
// of a pid's former process from one of its present process. The kernel returns the
// pointer, which must stay valid.
var eventMarks [1 << 16]byte

// settleLimit is the time that an ended process may take to leave the table: the kernel
// reports its exit a moment before it becomes a zombie.
const settleLimit = 200 * time.Millisecond

type queued struct {
	id   Identity
	mark *byte
}

// kernelQueue waits for the end of processes with one kqueue. This code was compiled and
// vetted, not run.
type kernelQueue struct {
	table *Table
	queue int

	mu     sync.Mutex
	byPID  map[int]queued
	last   int
	missed []Identity // ended before their pid was watched for another process
	closed bool
}

func newExitEvents(table *Table) (exitEvents, error) {
	queue, err := unix.Kqueue()
	if err != nil {
		return nil, fmt.Errorf("kqueue: %w", err)
	}
	unix.CloseOnExec(queue)
	k := &kernelQueue{table: table, queue: queue, byPID: make(map[int]queued)}
	if err := k.change(0, unix.EVFILT_USER, unix.EV_ADD|unix.EV_CLEAR, 0, nil); err != nil {
		unix.Close(queue)
		return nil, fmt.Errorf("kqueue: %w", err)
	}
	return k, nil
}

func (k *kernelQueue) change(ident, filter, flags int, fflags uint32, mark *byte) error {
	var event unix.Kevent_t
	unix.SetKevent(&event, ident, filter, flags)
	event.Fflags, event.Udata = fflags, mark
	_, err := unix.Kevent(k.queue, []unix.Kevent_t{event}, nil, nil)
	return err
}

// wake makes wait return.
func (k *kernelQueue) wake() { _ = k.change(0, unix.EVFILT_USER, 0, unix.NOTE_TRIGGER, nil) }

func (k *kernelQueue) add(id Identity) error {
	k.mu.Lock()
	defer k.mu.Unlock()
	if former, ok := k.byPID[id.PID]; ok && former.id != id {
		// The pid was reused while the exit event of its former process has not arrived
		// yet. Adding to that event would lose both.
		k.drop(former.id)
		k.missed = append(k.missed, former.id)
		k.wake()
	}
	k.last = (k.last + 1) % len(eventMarks)
	entry := queued{id: id, mark: &eventMarks[k.last]}
	err := k.change(id.PID, unix.EVFILT_PROC, unix.EV_ADD|unix.EV_ONESHOT, unix.NOTE_EXIT, entry.mark)
	if errors.Is(err, unix.ESRCH) {
		return ErrGone
	}
	if err != nil {
		return fmt.Errorf("kevent: %w", err)
	}
	k.byPID[id.PID] = entry
	// Only now is it certain which process the event will report.
	if err := k.table.check(id); err != nil {
		k.drop(id)
		return err
	}
	return nil
}

func (k *kernelQueue) remove(id Identity) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.byPID[id.PID].id == id {
		k.drop(id)
	}
}

func (k *kernelQueue) drop(id Identity) {
	delete(k.byPID, id.PID)
	_ = k.change(id.PID, unix.EVFILT_PROC, unix.EV_DELETE, 0, nil)
}

func (k *kernelQueue) wait() ([]Identity, bool) {
	var events [64]unix.Kevent_t
	n, err := unix.Kevent(k.queue, nil, events[:], nil)
	for err == unix.EINTR {
		n, err = unix.Kevent(k.queue, nil, events[:], nil)
	}
	if err != nil {
		return nil, false // an error can't happen, since no other code uses the descriptor
	}
	ended, ok := k.collect(events[:n])
	for _, id := range ended {
		k.settle(id)
	}
	return ended, ok
}

// collect returns the processes that ended, according to the events.
func (k *kernelQueue) collect(events []unix.Kevent_t) ([]Identity, bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.closed {
		return nil, false
	}
	ended := k.missed
	k.missed = nil
	for _, event := range events {
		entry, ok := k.byPID[int(event.Ident)]
		if event.Filter == unix.EVFILT_PROC && ok && entry.mark == event.Udata {
			ended = append(ended, entry.id)
		}
	}
	return ended, true
}

// settle waits until the table no longer lists an ended process, so that a caller who
// learns of its end doesn't still see it.
func (k *kernelQueue) settle(id Identity) {
	for end := time.Now().Add(settleLimit); time.Now().Before(end) && k.table.Alive(id); {
		time.Sleep(time.Millisecond) //nolint:forbidigo // the kernel has no event for it
	}
}

func (k *kernelQueue) close() {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.closed = true
	k.wake()
}

func (k *kernelQueue) free() { unix.Close(k.queue) }
