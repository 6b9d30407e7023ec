package kimi

import (
	"path/filepath"

	"rollcall/adapters"
	"rollcall/adapters/internal/agentfile"
	"rollcall/adapters/internal/kit"
)

// maxTask is the largest record of a task that is read, in bytes.
const maxTask = 64 << 10

// tasks returns the commands that a session runs in the background: agents/main/tasks/ID.json has the pid of each (2.1.0), which is a child of the session's
// process while the command runs. Kimi Code begins a turn when one ends.
func (d *discovery) tasks(s *session) (list []adapters.Background) {
	dir := filepath.Join(s.dir, "agents", mainAgent, "tasks")
	entries, _ := agentfile.Entries(d.Ctx, dir) // most sessions have none
	for _, e := range entries {
		text, _, err := agentfile.ReadSmall(filepath.Join(dir, e.Name()), maxTask)
		if err != nil || filepath.Ext(e.Name()) != ".json" || kit.Short(agentfile.Get(text, "status")) != "running" {
			continue
		}
		p, err := d.Table.Find(int(kit.Number(agentfile.Get(text, "pid"))))
		if err == nil && p.PPID == s.owner.PID {
			list = append(list, adapters.Background{Kind: adapters.Running, What: adapters.CutTo(kit.Short(agentfile.Get(text, "command")), adapters.MaxDoing),
				Since: p.Started, TurnFollows: true})
		}
	}
	return list
}
