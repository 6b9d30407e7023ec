package claudecode

import (
	"fmt"

	"rollcall/adapters"
	"rollcall/adapters/internal/agentfile"
	"rollcall/adapters/internal/jsonl"
	"rollcall/proc"
)

// EndBy implements adapters.Ender. An interrupted Claude Code records the interruption
// and exits; Terminate leaves the turn open (2.1.329). A session of `claude --bg` is
// started again by its supervisor when it is signalled.
func (a *Adapter) EndBy(s adapters.Session) ([]proc.Signal, error) {
	if background(&s) {
		return nil, fmt.Errorf("its supervisor would start it again; use: claude stop %.8s", s.ID)
	}
	return []proc.Signal{proc.Interrupt, proc.Terminate}, nil
}

// background reports whether, by the registry, the session was started with --bg.
func background(s *adapters.Session) bool {
	path, _ := entryOf(s)
	data, _, err := agentfile.ReadSmall(path, entryLimit)
	return err == nil && text(jsonl.Get(data, "kind")) == "bg"
}
