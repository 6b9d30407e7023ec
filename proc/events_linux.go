package proc

import (
	"fmt"
	"sync"

	"golang.org/x/sys/unix"
)

// pidfds waits for the end of processes with one epoll descriptor over a pidfd
// each. A pidfd turns readable when the last thread of its process has ended,
// reaped or not.
type pidfds struct {
	table *Table
	epoll int
	wake  int // an eventfd: close

	mu     sync.Mutex
	last   uint64
	tokens map[Identity]uint64
	open   map[uint64]pidfd
}

type pidfd struct {
	id Identity
	fd int
}

// wakeToken marks the eventfd. Tokens, unlike descriptor numbers, are never used again,
// so that an event that was already read can't be mistaken for one of a later process.
const wakeToken = 0

// hasEvents reports whether the processes of the table are of this pid namespace, now.
func (t *Table) hasEvents() bool { return t.ownNamespace }

func newExitEvents(table *Table) (exitEvents, error) {
	epoll, err := unix.EpollCreate1(unix.EPOLL_CLOEXEC)
	if err != nil {
		return nil, fmt.Errorf("epoll: %w", err)
	}
	wake, err := unix.Eventfd(0, unix.EFD_CLOEXEC|unix.EFD_NONBLOCK)
	if err != nil {
		unix.Close(epoll)
		return nil, fmt.Errorf("eventfd: %w", err)
	}
	p := &pidfds{table: table, epoll: epoll, wake: wake, tokens: make(map[Identity]uint64), open: make(map[uint64]pidfd)}
	if err := p.register(wake, wakeToken); err != nil {
		p.free()
		return nil, fmt.Errorf("epoll: %w", err)
	}
	return p, nil
}

func (p *pidfds) register(fd int, token uint64) error {
	event := unix.EpollEvent{Events: unix.EPOLLIN, Fd: int32(uint32(token)), Pad: int32(uint32(token >> 32))}
	return unix.EpollCtl(p.epoll, unix.EPOLL_CTL_ADD, fd, &event)
}

func (p *pidfds) add(id Identity) error {
	fd, err := openPidfd(p.table, id)
	if err != nil {
		return err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.last++
	if err := p.register(fd, p.last); err != nil {
		unix.Close(fd)
		return fmt.Errorf("epoll: %w", err)
	}
	p.tokens[id] = p.last
	p.open[p.last] = pidfd{id: id, fd: fd}
	return nil
}

func (p *pidfds) remove(id Identity) {
	p.mu.Lock()
	defer p.mu.Unlock()
	token, ok := p.tokens[id]
	if !ok {
		return
	}
	p.drop(p.open[token].fd)
	delete(p.open, token)
	delete(p.tokens, id)
}

// drop takes a descriptor off the epoll before it is closed: a child between
// fork and exec may hold a copy, which would keep it there.
func (p *pidfds) drop(fd int) {
	_ = unix.EpollCtl(p.epoll, unix.EPOLL_CTL_DEL, fd, nil)
	_ = unix.Close(fd)
}

func (p *pidfds) wait() ([]Identity, bool) {
	var events [64]unix.EpollEvent
	n, err := unix.EpollWait(p.epoll, events[:], -1)
	for err == unix.EINTR {
		n, err = unix.EpollWait(p.epoll, events[:], -1)
	}
	if err != nil {
		return nil, false // an error can't happen, since no other code uses the descriptor
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	var ids []Identity
	for _, event := range events[:n] {
		token := uint64(uint32(event.Fd)) | uint64(uint32(event.Pad))<<32
		if token == wakeToken {
			return nil, false
		}
		if ended, ok := p.open[token]; ok {
			ids = append(ids, ended.id)
		}
	}
	return ids, true
}

func (p *pidfds) close() {
	_, _ = unix.Write(p.wake, []byte{1, 0, 0, 0, 0, 0, 0, 0})
}

func (p *pidfds) free() {
	for _, open := range p.open {
		p.drop(open.fd)
	}
	unix.Close(p.wake)
	unix.Close(p.epoll)
}
