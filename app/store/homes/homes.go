// Package homes stores which folders the processes of agents used in the last 24 hours: their paths and the time, and nothing of what is in them. A
// command that starts after such a process has ended can so list its sessions.
package homes

import (
	"context"
	"errors"
	"io/fs"
	"log/slog"
	"maps"
	"sync"
	"time"

	"rollcall/app/store"
)

// name is the name of the value.
const name = "used"

// keptFor is how long a folder is kept after its last use, and lockLimit how long a process waits for another one's change.
const (
	keptFor   = 24 * time.Hour
	lockLimit = 2 * time.Second
)

// used is the value: by agent, the folders and when they were used last.
type used struct {
	Agents map[string]map[string]time.Time `json:"agents"`
}

// Homes is the state on disk. It implements adapters.Places. Its methods are safe for concurrent use by any process.
type Homes struct {
	folder store.Folder
	log    *slog.Logger
	once   sync.Once
}

// In returns the state in Rollcall's state folder. Nothing is created there until a folder is kept. The first failure is logged: without
// the file, the sessions of a folder are listed only as long as a process uses it.
func In(state string, log *slog.Logger) *Homes {
	return &Homes{folder: store.Below(state, store.Homes), log: log}
}

// Load returns the folders that processes of an agent used in the last 24 hours, and when they did so last.
func (h *Homes) Load(agent string) map[string]time.Time {
	return h.read().Agents[agent]
}

func (h *Homes) read() (u used) {
	if err := h.folder.Read(name, &u); err != nil && !errors.Is(err, fs.ErrNotExist) {
		h.failed(err)
		return used{}
	}
	return u
}

func (h *Homes) failed(err error) {
	h.once.Do(func() { h.log.Warn("the homes that agents used are not kept for other commands", "error", err) })
}

// Save adds folders and the times of their last use to those of an agent, and forgets those that were not used for 24 hours.
func (h *Homes) Save(agent string, folders map[string]time.Time) {
	ctx, cancel := context.WithTimeout(context.Background(), lockLimit)
	defer cancel()
	unlock, err := h.folder.Lock(ctx)
	if err != nil {
		h.failed(err)
		return
	}
	defer unlock()
	all := h.read()
	if all.Agents == nil {
		all.Agents = map[string]map[string]time.Time{}
	}
	own := all.Agents[agent]
	if own == nil {
		own = map[string]time.Time{}
		all.Agents[agent] = own
	}
	for folder, at := range folders {
		if at.After(own[folder]) {
			own[folder] = at
		}
	}
	for agent, list := range all.Agents {
		maps.DeleteFunc(list, func(_ string, at time.Time) bool { return time.Since(at) > keptFor })
		if len(list) == 0 {
			delete(all.Agents, agent)
		}
	}
	if err := h.folder.Write(name, all); err != nil {
		h.failed(err)
	}
}
