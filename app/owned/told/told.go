// Package told stores the limits that agents told Rollcall's status line: no file of theirs has them. Each home of an agent has one file.
package told

import (
	"fmt"
	"slices"
	"time"

	"rollcall/adapters"
	"rollcall/app/store"
)

// Limits are the limits on disk. Their methods are safe for concurrent use by any process.
type Limits struct {
	folder store.Folder
	read   store.Cache[told]
}

// told is the content of a file.
type told struct {
	Agent  adapters.Name    `json:"agent"`
	Home   string           `json:"home"`
	Limits []adapters.Limit `json:"limits"`
}

// Check reports a file whose name is not that of its home.
func (t *told) Check(file string) error {
	if fileOf(t.Agent, t.Home) != file {
		return fmt.Errorf("it is not the file of the limits of %s", t.Home)
	}
	return nil
}

func fileOf(agent adapters.Name, home string) string {
	return store.NameOf(string(agent) + "\n" + home)
}

// In returns the limits in Rollcall's state folder.
func In(state string) *Limits { return &Limits{folder: store.Below(state, store.Limits)} }

// Of returns what was told of an agent's limits. What can't be read was not told: it is told again with the next answer.
func (l *Limits) Of(agent adapters.Name) (list []adapters.Limit) {
	all, _ := l.read.All(l.folder)
	for _, t := range all {
		if t.Agent == agent {
			list = append(list, t.Limits...)
		}
	}
	return list
}

// again is how long the same limits are not written again: a status line runs several times a second.
const again = time.Minute

// Keep stores limits, all of them of one home, in place of those that were told before.
func (l *Limits) Keep(agent adapters.Name, limits []adapters.Limit) error {
	if len(limits) == 0 {
		return nil
	}
	home := limits[0].Home
	var before told
	if err := l.folder.Read(fileOf(agent, home), &before); err == nil && slices.EqualFunc(before.Limits, limits, same) {
		return nil
	}
	if err := l.folder.Write(fileOf(agent, home), told{Agent: agent, Home: home, Limits: limits}); err != nil {
		return fmt.Errorf("limits of %s: %w", home, err)
	}
	return nil
}

// same reports whether b says the same as a, and not much later.
func same(a, b adapters.Limit) bool {
	return a.Name == b.Name && a.Window == b.Window && a.Used == b.Used && a.ResetsAt.Equal(b.ResetsAt) && b.At.Sub(a.At).Abs() < again
}
