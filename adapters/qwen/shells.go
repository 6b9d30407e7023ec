package qwen

import (
	"path/filepath"
	"slices"
	"time"

	"rollcall/adapters"
	"rollcall/adapters/internal/agentfile"
	"rollcall/adapters/internal/kit"
	"rollcall/proc"
)

// maxShell is the largest record of a command that is read, in bytes.
const maxShell = 64 << 10

// shells returns the commands that a session runs in the background: tmp/FOLDER/background-shells/SESSION/shell-ID.status has the pid of each, which is a child of the
// session's process, and is written when the command begins and when it ends (0.24.4). FOLDER is a hash of the working folder. Qwen Code begins a turn when one ends.
func (d *discovery) shells(s *session) (list []adapters.Background) {
	if len(s.owner.Children) == 0 {
		return nil
	}
	tmp := filepath.Join(s.Home, "tmp")
	folders, _ := agentfile.Entries(d.Ctx, tmp) // most homes have no such file
	for _, folder := range folders {
		dir := filepath.Join(tmp, folder.Name(), "background-shells", s.id)
		files, _ := agentfile.Entries(d.Ctx, dir)
		for _, f := range files {
			if b, ok := s.owner.shell(filepath.Join(dir, f.Name())); ok {
				list = append(list, b)
			}
		}
	}
	slices.SortFunc(list, func(a, b adapters.Background) int { return a.Since.Compare(b.Since) })
	return list
}

// shell returns what a file says of a command; false: it says of none that runs below the process. A process that began after the file was written has the pid of another
// one that has ended.
func (p *process) shell(path string) (b adapters.Background, runs bool) {
	if filepath.Ext(path) != ".status" {
		return b, false
	}
	text, _, err := agentfile.ReadSmall(path, maxShell)
	written, err2 := time.Parse(time.RFC3339Nano, kit.Short(agentfile.Get(text, "updatedAt")))
	pid := int(kit.Number(agentfile.Get(text, "pid")))
	i := slices.IndexFunc(p.Children, func(c proc.Process) bool { return c.PID == pid && !c.Started.After(written.Add(kit.StartSlack)) })
	if err != nil || err2 != nil || i < 0 || kit.Short(agentfile.Get(text, "status")) != "running" {
		return b, false
	}
	return adapters.Background{Kind: adapters.Running, What: adapters.CutTo(kit.Short(agentfile.Get(text, "command")), adapters.MaxDoing),
		Since: p.Children[i].Started, TurnFollows: true}, true
}
