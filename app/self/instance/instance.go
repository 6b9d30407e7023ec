// Package instance allows at most one tray, one window and one keeper process of a user at a time. A process holds a
// kernel lock while it runs, so a dead owner never blocks a new one, and no pid is ever trusted. A second process
// sends its request to the running one over a socket next to the lock.
package instance

import (
	"errors"
	"fmt"
	"log/slog"
	"net"
	"path/filepath"
	"sync"
	"time"

	"github.com/gofrs/flock"

	"rollcall/app/store"
)

// The names that Rollcall's own processes claim.
const (
	Tray   = "tray"
	Window = "window"
	Keeper = "keep" // followed by the identification of the machine
)

// ErrRunning reports that another process holds the claim.
var ErrRunning = errors.New("already running")

// ErrNotRunning reports that no process holds the claim, so a message has no receiver.
var ErrNotRunning = errors.New("not running")

// The verbs of a Message.
const (
	Show   = "show"   // raise the window, at Session if that is set
	Launch = "launch" // raise the window at its launch page
	Queue  = "queue"  // raise the window at the waiting requests, at that of Session if that is set

	Settings = "settings" // raise the window at the settings
	Acted    = "acted"    // the user ends Session, or its turn
)

// verbs contains the verbs that a receiver accepts; it refuses others.
var verbs = []string{Show, Launch, Queue, Settings, Acted}

// Message is a request of one process of Rollcall to another.
type Message struct {
	Verb    string `json:"verb"`
	Session string `json:"session,omitempty"`
}

// Instance is a held claim. It is safe for concurrent use.
type Instance struct {
	lock     *flock.Flock
	listener net.Listener
	messages chan Message
	closed   chan struct{}
	once     sync.Once
	handlers sync.WaitGroup
	peers    peers
	refusals refusals
	name     string
	handle   func(*Request) // nil: messages are sent to the channel of Messages
}

// Claim claims name for this process, until Close or the end of the process, however it
// ends. Processes that it starts don't inherit the claim. Claim returns ErrRunning if
// another process has the claim. On Linux it refuses processes in a container or sandbox that this process is not in: see
// ErrOutside. It logs once that it did.
func Claim(name string, log *slog.Logger) (*Instance, error) { return claim(folder, name, log, nil) }

func claim(folder func() (string, error), name string, log *slog.Logger, handle func(*Request)) (*Instance, error) {
	if err := checkName(name); err != nil {
		return nil, err
	}
	dir, err := folder()
	if err != nil {
		return nil, fmt.Errorf("claim %s: %w", name, err)
	}
	lock := flock.New(filepath.Join(dir, name+".lock"), flock.SetPermissions(0o600), flock.SetFlag(store.LockFlags))
	held, err := take(lock)
	if err != nil {
		return nil, fmt.Errorf("claim %s: lock %s: %w", name, lock.Path(), err)
	}
	if !held {
		return nil, fmt.Errorf("%s: %w", name, ErrRunning)
	}
	listener, err := listen(dir, name)
	if err != nil {
		_ = lock.Close()
		return nil, fmt.Errorf("claim %s: %w", name, err)
	}
	i := &Instance{
		lock:     lock,
		listener: listener,
		messages: make(chan Message),
		closed:   make(chan struct{}),
		handle:   handle,
		refusals: refusals{log: log},
		name:     name,
	}
	i.handlers.Go(i.serve)
	return i, nil
}

// Messages returns a channel with the messages of other processes, in the order of their
// arrival. A sender waits until its message is received here. Close closes the channel.
func (i *Instance) Messages() <-chan Message { return i.messages }

// Close releases the claim. It may be called more than once.
func (i *Instance) Close() error {
	var err error
	i.once.Do(func() {
		close(i.closed)
		// The socket is removed before the lock is released: the next holder of the lock
		// must not lose its own socket.
		err = i.listener.Close()
		i.peers.dropAll()
		i.handlers.Wait()
		close(i.messages)
		err = errors.Join(err, i.lock.Close())
	})
	return err
}

// take tries to take the lock for a moment: a Send that checks whether a process holds the
// claim holds the lock shared for an instant.
func take(lock *flock.Flock) (bool, error) {
	for try := 0; ; try++ {
		held, err := lock.TryLock()
		if held || err != nil || try == 5 {
			return held, err
		}
		<-time.After(10 * time.Millisecond) // no event reports that a lock is free
	}
}

func checkName(name string) error {
	if name == "" {
		return errors.New("empty instance name")
	}
	for _, r := range name {
		if (r < 'a' || r > 'z') && r != '-' {
			return fmt.Errorf("instance name %q: only a-z and - are allowed", name)
		}
	}
	return nil
}
