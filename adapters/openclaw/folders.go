package openclaw

import (
	"context"
	"errors"
	"maps"
	"slices"
)

// folders returns the agents' folders, if a row lacks its own. The folders in the settings have priority: 2026.2.26 reports none.
func (c *client) folders(ctx context.Context, t *target, rows []row) (map[string]string, error) {
	if !slices.ContainsFunc(rows, func(r row) bool { return r.cwd() == "" }) {
		return nil, nil
	}
	found := maps.Clone(t.workspaces)
	if found == nil {
		found = map[string]string{}
	}
	err := c.workspaces(ctx, found)
	var r *refusal
	if errors.As(err, &r) {
		err = nil
	}
	return found, err
}

// workspaces adds the folders that the gateway reports to the known ones.
func (c *client) workspaces(ctx context.Context, found map[string]string) error {
	if !c.hello.has("agents.list") {
		return nil
	}
	var list struct {
		DefaultID string `json:"defaultId"`
		Agents    []struct {
			ID        string `json:"id"`
			Workspace string `json:"workspace"`
		} `json:"agents"`
	}
	if err := c.call(ctx, "agents.list", struct{}{}, &list); err != nil {
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
