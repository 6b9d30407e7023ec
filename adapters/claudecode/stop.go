package claudecode

import (
	"fmt"
	"io"
	"os"
	"path/filepath"

	"rollcall/adapters"
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
	for _, path := range s.Files {
		if !entryName.MatchString(filepath.Base(path)) { // its pid may be that of an inner namespace
			continue
		}
		f, err := os.Open(path)
		if err != nil {
			return false
		}
		data, err := io.ReadAll(io.LimitReader(f, entryLimit))
		_ = f.Close()
		return err == nil && text(jsonl.Get(data, "kind")) == "bg"
	}
	return false
}
