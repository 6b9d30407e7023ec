// Package marks stores what the user notes about sessions: a name, that it comes first in its list, or that it is folded away. The notes are Rollcall's own: no
// agent's file has them. Each session with a note has one file, so that processes that write at once lose nothing.
package marks

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strings"

	"rollcall/adapters"
	"rollcall/app"
	"rollcall/app/present"
	"rollcall/app/store"
)

// maxName is the width in cells of the longest name.
const maxName = 120

// Marks are the notes on disk. Their methods are safe for concurrent use by any process.
type Marks struct {
	folder store.Folder
	read   store.Cache[note]
}

// note is the content of a file.
type note struct {
	Agent   adapters.Name `json:"agent"`
	Session string        `json:"session"`
	app.Mark
}

// Check reports a file whose name is not that of its session.
func (n *note) Check(file string) error {
	if fileOf(n.Agent, n.Session) != file {
		return fmt.Errorf("it is not the note of session %s", n.Session)
	}
	return nil
}

func fileOf(agent adapters.Name, session string) string {
	sum := sha256.Sum256([]byte(string(agent) + "\n" + session))
	return hex.EncodeToString(sum[:16])
}

// In returns the notes in Rollcall's state folder.
func In(state string) *Marks { return &Marks{folder: store.Below(state, store.Marks)} }

// Of returns the notes about an agent's sessions, by id. Files that have not changed are not read again. With an error, it returns the notes that could be read.
func (m *Marks) Of(agent adapters.Name) (map[string]app.Mark, error) {
	all, err := m.read.All(m.folder)
	if err != nil {
		err = fmt.Errorf("names of sessions: %w", err)
	}
	of := map[string]app.Mark{}
	for _, n := range all {
		if n.Agent == agent {
			of[n.Session] = n.Mark
		}
	}
	return of, err
}

// Change changes the note about a session. A note that has become empty is removed.
func (m *Marks) Change(ctx context.Context, agent adapters.Name, session string, change func(*app.Mark)) error {
	unlock, err := m.folder.Lock(ctx)
	if err != nil {
		return fmt.Errorf("names of sessions: %w", err)
	}
	defer unlock()
	all, err := m.Of(agent)
	if err != nil {
		return err
	}
	mark := all[session]
	change(&mark)
	mark.Name = present.Cut(strings.TrimSpace(present.Line(mark.Name)), maxName)
	file := fileOf(agent, session)
	if mark == (app.Mark{}) {
		err = m.folder.Remove(file)
	} else {
		err = m.folder.Write(file, note{Agent: agent, Session: session, Mark: mark})
	}
	if err != nil {
		return fmt.Errorf("names of sessions: %w", err)
	}
	return nil
}
