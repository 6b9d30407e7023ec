package webhook

import (
	"errors"
	"io/fs"
	"strings"
	"time"

	"rollcall/adapters"
	"rollcall/app/store"
	"rollcall/proc"
)

// The limits of what waits for a server.
const (
	Keep        = 24 * time.Hour // a message that is older is dropped
	maxMessages = 1000
	maxBytes    = 4 << 20
	maxSessions = 2000
	maxDone     = 200
)

// prefix begins the names of the files of messages.
const prefix = "d-"

// list is the name of the file with the sessions whose end is to be sent.
const list = "sessions"

// message is a message that has not been delivered, as stored on disk.
type message struct {
	ID      string    `json:"id"`
	At      time.Time `json:"at"`
	Payload Payload   `json:"payload"`

	tries   int
	next    time.Time
	size    int
	sending bool
	stored  bool
	last    bool // the message is not stored, and there is no time for another attempt
}

// Check implements store.Checker.
func (m *message) Check(name string) error {
	if m.ID != name {
		return errors.New("the file's name and the message's id do not match")
	}
	return nil
}

func newID() string { return store.NewID(prefix, 8) }

// Session is a session that ran when it was last seen. It contains no status.
type Session struct {
	// Delivery is the id that the message about the end will have.
	Delivery string        `json:"delivery"`
	Agent    adapters.Name `json:"agent"`
	ID       string        `json:"id"`
	Launch   string        `json:"launch,omitempty"`
	CWD      string        `json:"cwd,omitempty"`
	Process  proc.Identity `json:"process,omitzero"`

	state    sessionState
	goneFrom time.Time
}

// sessionState is how far this process has handled a Session.
type sessionState int

const (
	inherited sessionState = iota // not seen live by this process since there has been a webhook
	seenLive
	ending // the message about its end is being made
)

// sessions is the content of the file with the sessions whose end is to be sent. A keeper reads it to find the ends that
// were not noticed because the previous keeper was killed.
type sessions struct {
	At       time.Time `json:"at"`
	Sessions []Session `json:"sessions"`
	// Done are the latest launches whose message was made, while their records may not have ended yet.
	Done []string `json:"done,omitempty"`
}

// Waiting returns the number of messages on disk that have not been delivered.
func Waiting(folder store.Folder) (int, error) {
	names, err := messageNames(folder)
	return len(names), err
}

func messageNames(folder store.Folder) (out []string, err error) {
	names, err := folder.Names()
	for _, name := range names {
		if strings.HasPrefix(name, prefix) {
			out = append(out, name)
		}
	}
	return out, err
}

// readMessages reads the messages on disk. With an error it returns those that could be read.
func readMessages(folder store.Folder) (out []*message, err error) {
	names, err := messageNames(folder)
	for _, name := range names {
		m := &message{}
		switch readErr := folder.Read(name, m); {
		case errors.Is(readErr, fs.ErrNotExist):
		case readErr != nil:
			err = errors.Join(err, readErr)
		default:
			m.stored = true
			out = append(out, m)
		}
	}
	return out, err
}
