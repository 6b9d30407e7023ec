// Package notices stores the last notifications that the tray showed, so that the window can list what the user missed. It stores what was told, never what a session
// does now: what became of it is asked of the sessions when the list is read.
package notices

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"time"

	"rollcall/adapters"
	"rollcall/app"
	"rollcall/app/store"
)

// Most is how many notifications are kept, and kept for how long: their texts are of agents.
const (
	Most = 50
	kept = 7 * 24 * time.Hour
)

// Notice is a notification that was shown.
type Notice struct {
	At      time.Time     `json:"at"`
	Key     string        `json:"key"` // of the notification on the screen, which a later one with the same key may have replaced
	Waits   bool          `json:"waits,omitempty"`
	Agent   adapters.Name `json:"agent,omitempty"`
	Session string        `json:"session,omitempty"` // empty: it was about several
	Title   string        `json:"title"`
	Body    string        `json:"body,omitempty"`
}

// Notices are the notifications on disk, the newest last. One process, the tray, adds to them.
type Notices struct{ folder store.Folder }

// file is the content of the file.
type file struct {
	Notices []Notice `json:"notices"`
}

const name = "told"

// In returns the notifications in Rollcall's state folder.
func In(state string) *Notices { return &Notices{store.Below(state, store.Notifications)} }

// Last returns the notifications, the newest first.
func (n *Notices) Last() ([]Notice, error) {
	list, err := n.read()
	slices.Reverse(list)
	return list, err
}

func (n *Notices) read() ([]Notice, error) {
	var f file
	err := n.folder.Read(name, &f)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("the last notifications: %w", err)
	}
	return slices.DeleteFunc(f.Notices, func(x Notice) bool { return time.Since(x.At) > kept }), nil
}

// Add adds a notification, and forgets those before the last Most. One that replaces another on the screen takes its place, with its time. What is damaged was set
// aside by the reader and is begun again.
func (n *Notices) Add(x Notice, replaces bool) error {
	list, err := n.read()
	if _, damaged := errors.AsType[*store.DamagedError](err); err != nil && !damaged {
		return err
	}
	at := -1
	for i := range list {
		if list[i].Key == x.Key {
			at = i
		}
	}
	if replaces && at >= 0 {
		x.At = list[at].At
		list[at] = x
	} else {
		list = append(list, x)
	}
	return n.folder.Write(name, file{list[max(len(list)-Most, 0):]})
}

// Became returns in words what became of what a notification told, as the sessions are now. later are the notifications after it, and complete reports whether all
// sessions are known. An empty text: nothing was to become of it.
func (x *Notice) Became(s *app.Session, later []Notice, complete bool) string {
	again := slices.ContainsFunc(later, func(y Notice) bool { return y.Session == x.Session && y.Agent == x.Agent && x.Session != "" })
	switch {
	case x.Session == "":
		return ""
	case s == nil && !complete:
		return "not known: not every agent has been read"
	case s == nil:
		return "no longer listed"
	case s.Stale != nil:
		return "not known: " + cmp.Or(s.Stale.Reason, "its agent does not answer")
	case x.Waits && s.Status == adapters.Waiting && !again:
		return "still waits"
	case x.Waits && s.Status == adapters.Unknown:
		return "not known"
	case x.Waits && s.Status == adapters.Stopped && !again:
		return "ended" // with the request, if it had no answer
	case x.Waits:
		return "answered, or withdrawn by its agent"
	case again:
		return "went on"
	case s.Status == adapters.Stopped:
		return "has ended"
	case s.Status == adapters.Waiting:
		return "waits for you now"
	case s.Status == adapters.Working:
		return "works again"
	}
	return ""
}
