package openclaw

import (
	"context"
	"maps"
	"slices"
	"time"

	"rollcall/adapters/internal/kit"
)

const (
	foldersLimit = time.Second
	foldersFor   = time.Minute
)

// workspaceCache remembers the agents' folders of each gateway, so that a late answer
// does not lose them.
type workspaceCache struct {
	kit.Memo[string, workspaces]
}

type workspaces struct {
	at    time.Time
	agent map[string]string
}

// fill returns the agents' folders. It asks the gateway for them when a row lacks its
// folder. The folders in the settings have priority: 2026.2.26 reports none.
func (f *workspaceCache) fill(ctx context.Context, t *target, c *client, rows []row, now time.Time) map[string]string {
	if !slices.ContainsFunc(rows, func(r row) bool { return r.cwd() == "" }) {
		return nil
	}
	was, _ := f.Get(t.id)
	if age := now.Sub(was.at); age >= 0 && age < foldersFor {
		return was.agent
	}
	found := maps.Clone(t.workspaces)
	if found == nil {
		found = map[string]string{}
	}
	if err := c.workspaces(ctx, found); err != nil {
		if was.agent != nil {
			return was.agent
		}
		return found
	}
	f.Put(t.id, workspaces{now, found})
	return found
}

// workspaces adds the folders that the gateway reports to the known ones.
func (c *client) workspaces(ctx context.Context, found map[string]string) error {
	if !c.hello.has("agents.list") {
		return nil
	}
	limited, cancel := context.WithTimeout(ctx, foldersLimit)
	defer cancel()
	var list struct {
		DefaultID string `json:"defaultId"`
		Agents    []struct {
			ID        string `json:"id"`
			Workspace string `json:"workspace"`
		} `json:"agents"`
	}
	if err := c.call(limited, "agents.list", struct{}{}, &list); err != nil {
		return err
	}
	for _, agent := range list.Agents {
		if agent.Workspace != "" {
			found[agent.ID] = agent.Workspace
		}
	}
	if dir := found[""]; dir != "" && list.DefaultID != "" && found[list.DefaultID] == "" {
		found[list.DefaultID] = dir
	}
	return nil
}
