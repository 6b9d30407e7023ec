package gemini

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"rollcall/adapters"
	"rollcall/adapters/internal/kit"
)

// shells returns the commands that the process of a session runs in the background: what such a child prints goes into tmp/background-processes/background-PID.log from
// the moment at which it is one (0.61.0). An older file is of another process that had its pid. By default no turn begins when one ends.
func (d *discovery) shells(s *session) (list []adapters.Background) {
	for _, c := range s.owner.Children {
		info, err := os.Lstat(filepath.Join(s.project.home, "tmp", "background-processes", fmt.Sprintf("background-%d.log", c.PID)))
		if err != nil || info.ModTime().Add(kit.StartSlack).Before(c.Started) {
			continue
		}
		args, _ := d.Table.Args(c.Identity)
		list = append(list, adapters.Background{Kind: adapters.Running, What: adapters.CutTo(commandOf(args), adapters.MaxDoing), Since: c.Started})
	}
	slices.SortFunc(list, func(a, b adapters.Background) int { return a.Since.Compare(b.Since) })
	return list
}

// What Gemini CLI (0.61.0) puts around a command.
const (
	beforeCommand = "' EXIT\n"
	afterCommand  = "\n)\n__code=$?"
)

// commandOf returns the command in the script that Gemini CLI hands to a shell.
func commandOf(args []string) string {
	if len(args) == 0 {
		return ""
	}
	script := args[len(args)-1]
	_, command, found := strings.Cut(script, beforeCommand)
	end := strings.LastIndex(command, afterCommand)
	if !found || end < 0 {
		return strings.TrimSpace(script)
	}
	return strings.TrimSpace(command[:end])
}
