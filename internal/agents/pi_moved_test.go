//go:build agents && linux

package agents

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"rollcall/adapters"
	"rollcall/app"
	"rollcall/internal/must"
)

// A session that /new begins in a process whose home was moved meanwhile, with a link in
// its place, is the one that ends with the process.
func TestPiNewAfterHomeMoved(t *testing.T) {
	nightly(t)
	s := NewSandbox(t)
	f := follow(s)
	terminal, agent := openPi(s, PiNewest)
	terminal.PromptUntil("before the move", "Mock answer to: before the move")
	s.Becomes(byPrompt("before the move"), time.Now(), soon, "idle", "idle/completed")
	home := filepath.Join(s.Home, ".pi")
	must.Do(t, os.Rename(home, home+"-moved"))
	must.Do(t, os.Symlink(home+"-moved", home))
	terminal.Enter("/new")
	terminal.Shows("New session started")
	terminal.PromptUntil("after the move", "Mock answer to: after the move")
	err := poll(soon, func() bool {
		return slices.ContainsFunc(f.core.Snapshot().Sessions(), func(x app.Session) bool {
			return x.FirstPrompt == "after the move" && x.Status == adapters.Idle && x.Process.PID == agent.PID
		})
	})
	if err != nil {
		t.Errorf("the new session is not shown: %v: %+v", err, f.core.Snapshot().Sessions())
	}
	terminal.Leave("/quit", agent)
	f.tells(app.Ended, "after the move")
	if n := f.count(app.Ended, "before the move"); n != 0 {
		t.Errorf("the session before was told %d times", n)
	}
}
