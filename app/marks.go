package app

import "rollcall/adapters"

// Mark is what the user noted about a session. The zero value is no note.
type Mark struct {
	// Name is the user's own name for it, which is shown instead of the agent's title.
	Name string `json:"name,omitempty"`
	// Pinned sessions come first in their group of the window's list.
	Pinned bool `json:"pinned,omitempty"`
	// Hidden sessions are folded away in the window's list, except while they wait for the user.
	Hidden bool `json:"hidden,omitempty"`
}

// Marks provides what the user noted about sessions.
type Marks interface {
	// Of returns the notes about an agent's sessions, by id. With an error, it returns those that could be read. Any goroutine may call it. It must return quickly.
	Of(agent adapters.Name) (map[string]Mark, error)
}

// addMarks sets what the user noted about sessions of an agent.
func (c *Core) addMarks(agent adapters.Name, rows []Session) {
	if c.cfg.Marks == nil {
		return
	}
	marks, err := c.cfg.Marks.Of(agent)
	if err != nil {
		c.cfg.Log.Warn("names of sessions are not shown", "error", err)
	}
	for i := range rows {
		mark := marks[rows[i].ID]
		rows[i].Name = mark.Name
		rows[i].Pinned = mark.Pinned
		rows[i].Hidden = mark.Hidden
	}
}
