// Package marks stores what the user notes about sessions: a name, that it comes first in its list, or that it is folded away. The notes are Rollcall's own: no
// agent's file has them. Each session with a note has one file, so that processes that write at once lose nothing.
package marks

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io/fs"
	"os"
	"strings"
	"sync"

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

	mu   sync.Mutex
	read map[string]note // as they were read last, by the name of their file
}

// note is the content of a file.
type note struct {
	Agent   adapters.Name `json:"agent"`
	Session string        `json:"session"`
	app.Mark
	info fs.FileInfo
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
	m.mu.Lock()
	defer m.mu.Unlock()
	files, err := m.folder.ReadAll(func(file string, now fs.FileInfo) bool {
		was, ok := m.read[file]
		return ok && was.info.ModTime().Equal(now.ModTime()) && was.info.Size() == now.Size() && os.SameFile(was.info, now)
	})
	if err != nil {
		return nil, fmt.Errorf("names of sessions: %w", err)
	}
	read, of := make(map[string]note, len(files)), map[string]app.Mark{}
	for file, raw := range files {
		n := m.read[file]
		if !raw.Same {
			n = note{}
			if failed := m.folder.Decode(file, raw, &n); failed != nil {
				err = fmt.Errorf("names of sessions: %w", failed)
				continue
			}
			n.info = raw.Info
		}
		if read[file] = n; n.Agent == agent {
			of[n.Session] = n.Mark
		}
	}
	m.read = read
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
