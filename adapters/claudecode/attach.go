package claudecode

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"regexp"

	"rollcall/adapters"
	"rollcall/adapters/internal/jsonl"
)

// jobName matches the short id of a background session, which `claude --bg` prints.
var jobName = regexp.MustCompile(`^[0-9A-Za-z]{4,40}$`)

// Attach implements adapters.Attacher for sessions of `claude --bg`: `claude attach ID` (2.1.329). Those of another folder of settings
// than Rollcall's own environment names are left out, since the command would not find them.
func (a *Adapter) Attach(_ context.Context, program string, s adapters.Session) (adapters.Command, error) {
	if !background(&s) {
		return adapters.Command{}, fmt.Errorf("%w: only sessions of claude --bg can", adapters.ErrNoAttach)
	}
	for _, path := range s.Files {
		if !entryName.MatchString(filepath.Base(path)) {
			continue
		}
		own := cmp.Or(a.env("CLAUDE_CONFIG_DIR"), filepath.Join(a.home, ".claude"))
		if filepath.Dir(filepath.Dir(path)) != filepath.Clean(own) {
			return adapters.Command{}, fmt.Errorf("%w: it has its own settings in %s", adapters.ErrNoAttach, filepath.Dir(filepath.Dir(path)))
		}
		id := s.ID[:min(len(s.ID), 8)]
		if data, err := os.ReadFile(path); err == nil && len(data) <= entryLimit {
			if job := text(jsonl.Get(data, "jobId")); jobName.MatchString(job) {
				id = job
			}
		}
		return adapters.Command{Path: program, Args: []string{"attach", id}, Session: s.ID}, nil
	}
	return adapters.Command{}, adapters.ErrNoAttach
}
