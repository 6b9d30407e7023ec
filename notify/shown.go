package notify

import (
	"errors"
	"io/fs"
	"slices"
	"strings"
	"sync"
	"time"

	"rollcall/adapters"
	"rollcall/app"
	"rollcall/app/store"
)

// shownFile is the name of the value in Options.State.
const shownFile = "shown"

// shownWaits are the notifications of waits that are on the screen, or were until their service ended. They are stored
// for the case that the process is killed. The file exists only while there is such a notification. A notification is
// not stored if the process is killed in the few milliseconds between the daemon's answer and the write.
type shownWaits struct {
	Server server `json:"server"`
	Waits  []wait `json:"waits"`
}

// server identifies the notification service that numbered the notifications. A bus never reuses a unique name, and each
// bus has its own id.
type server struct {
	Bus   string `json:"bus"`   // id of the bus
	Owner string `json:"owner"` // unique bus name
}

// wait is the notification of one or several waits.
type wait struct {
	member
	ID uint32 `json:"id"` // number of the notification; 0: its service has ended
	// Members are the waits of a notification that has, or had, several. The embedded member is then the first of them.
	Members []member `json:"members,omitempty"`
}

// all returns the waits of the notification.
func (w *wait) all() []member {
	if len(w.Members) > 0 {
		return w.Members
	}
	return []member{w.member}
}

func (w wait) equal(o wait) bool {
	return w.member == o.member && w.ID == o.ID && slices.Equal(w.Members, o.Members)
}

// memory stores shownWaits in a folder. The zero value stores nothing.
type memory struct {
	folder store.Folder
	on     bool
}

func newMemory(folder string) memory {
	return memory{folder: store.In(folder), on: folder != ""}
}

// read returns the stored waits, or none with an error.
func (m memory) read() (s shownWaits, err error) {
	if !m.on {
		return s, nil
	}
	err = m.folder.Read(shownFile, &s)
	if errors.Is(err, fs.ErrNotExist) {
		err = nil
	}
	if err != nil {
		s = shownWaits{}
	}
	return s, err
}

// write stores s, or removes the file if there are no waits.
func (m memory) write(s shownWaits) error {
	switch {
	case !m.on:
		return nil
	case len(s.Waits) == 0:
		return m.folder.Remove(shownFile)
	}
	return m.folder.Write(shownFile, s)
}

// takeOver takes over or withdraws the notifications of waits that an earlier process left on the screen. It decides on
// each once the agent has listed all sessions. cancel stops the decisions.
func (n *Notifier) takeOver() (cancel func()) {
	left, err := newMemory(n.opts.State).read()
	if err != nil {
		n.opts.Log.Warn("outdated notifications may stay on the screen", "error", err)
	}
	if len(left.Waits) == 0 || n.opts.Sessions == nil {
		return func() {}
	}
	var mu sync.Mutex
	look := func(snap *app.Snapshot) (decided bool) {
		mu.Lock()
		defer mu.Unlock()
		left.Waits = slices.DeleteFunc(left.Waits, func(w wait) bool {
			for _, m := range w.all() {
				if !answered(snap, m.Agent) || machinePending(snap, m.Key) {
					return false
				}
			}
			n.policyMu.Lock()
			defer n.policyMu.Unlock()
			n.box.put(n.policy.takeOver(w, snap.Sessions(), time.Now())...)
			return true
		})
		return len(left.Waits) == 0
	}
	done := make(chan struct{})
	finish := sync.OnceFunc(func() { close(done) })
	unsubscribe := n.opts.Sessions.Subscribe(func(snap *app.Snapshot) {
		if look(snap) {
			finish()
		}
	})
	if look(n.opts.Sessions.Snapshot()) {
		finish()
	}
	go func() {
		<-done
		unsubscribe()
	}()
	return finish
}

// machinePending reports whether the wait with this key may belong to a machine that has not answered yet.
func machinePending(snap *app.Snapshot, key string) bool {
	return slices.ContainsFunc(snap.Machines, func(m app.MachineHealth) bool {
		return m.State == app.Pending && strings.Contains(key, " "+app.MachineID(m.Name, ""))
	})
}

// answered reports whether all sessions of an agent are known.
func answered(snap *app.Snapshot, agent adapters.Name) bool {
	state := snap.Health(agent).State
	return state == app.OK || state == app.Absent || state == "" && !snap.At.IsZero() && len(snap.Adapters) > 0
}
