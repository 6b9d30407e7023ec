// Package instance keeps Rollcall's processes single: at most one tray and one
// window process of a user at a time. What says so is a lock that the kernel
// holds for the process, so a dead owner never blocks a new one, and no pid is
// ever trusted. A second process hands its wish to the running one over a
// socket beside the lock.
package instance

import (
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/gofrs/flock"
)

// The names under which Rollcall's own processes claim their place.
const (
	Tray   = "tray"
	Window = "window"
)

// ErrRunning says that another process holds the claim.
var ErrRunning = errors.New("already running")

// ErrNotRunning says that there is nobody to send a message to.
var ErrNotRunning = errors.New("not running")

// The verbs of a Message.
const (
	Show   = "show"   // raise the window, at Session if that is set
	Launch = "launch" // raise the window at its launch page
)

// Message is what one process of Rollcall asks of another. Receivers ignore
// verbs that they don't know.
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
}

// Claim makes this process the one that name stands for, until Close or its
// end, whatever way it ends; processes that it starts don't inherit the claim.
// It returns ErrRunning if another process has it.
func Claim(name string) (*Instance, error) {
	if err := checkName(name); err != nil {
		return nil, err
	}
	dir, err := folder()
	if err != nil {
		return nil, fmt.Errorf("claim %s: %w", name, err)
	}
	lock := flock.New(filepath.Join(dir, name+".lock"), flock.SetPermissions(0o600))
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
	}
	i.handlers.Add(1)
	go i.serve()
	return i, nil
}

// Messages is where the wishes of other processes arrive, in the order of
// their arrival. A sender waits until its message is taken here. The channel is
// closed by Close.
func (i *Instance) Messages() <-chan Message { return i.messages }

// Close gives the claim up. It may be called more than once.
func (i *Instance) Close() error {
	var err error
	i.once.Do(func() {
		close(i.closed)
		// The socket goes before the lock: whoever gets the lock next must not
		// have its own socket removed.
		err = i.listener.Close()
		i.handlers.Wait()
		close(i.messages)
		err = errors.Join(err, i.lock.Close())
	})
	return err
}

// take tries for a moment: a Send that asks whether anybody holds the claim
// holds it shared for an instant itself.
func take(lock *flock.Flock) (bool, error) {
	for try := 0; ; try++ {
		held, err := lock.TryLock()
		if held || err != nil || try == 5 {
			return held, err
		}
		<-time.After(10 * time.Millisecond) // nothing tells when a lock is free
	}
}

// listen opens the socket of a claim that is held: a socket found there can
// only be the leftover of a dead owner.
func listen(dir, name string) (net.Listener, error) {
	path, err := socketPath(dir, name)
	if err != nil {
		return nil, err
	}
	if err := os.Remove(path); err != nil && !errors.Is(err, os.ErrNotExist) {
		return nil, fmt.Errorf("remove a dead owner's socket: %w", err)
	}
	l, err := net.Listen("unix", path)
	if err != nil {
		return nil, err
	}
	if err := os.Chmod(path, 0o600); err != nil {
		_ = l.Close()
		return nil, err
	}
	return l, nil
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
