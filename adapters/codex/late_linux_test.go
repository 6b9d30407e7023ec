package codex

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"rollcall/adapters"
	"rollcall/internal/adaptertest"
	"rollcall/internal/must"
)

// Whenever time runs out, the threads that were written last are listed, and the answer says how many are missing.
func TestTooManyRollouts(t *testing.T) {
	const n = 60
	home := home(t)
	var ids []string
	for i := range n {
		id, at := fmt.Sprintf("019aa4f0-0000-7000-8000-%012d", i), time.Now().Add(-time.Duration(i+1)*time.Hour)
		path := filepath.Join(home, ".codex", "sessions", at.Format("2006/01/02"), "rollout-"+at.Format("2006-01-02T15-04-05-")+id+".jsonl")
		write(t, path, newScript(id, "0.169.0").turn("a", "x").text())
		must.Do(t, os.Chtimes(path, at, at))
		ids = append(ids, id)
	}
	adaptertest.CutShort(t, func() adapters.Adapter { return atNow(home) }, ids, "rollouts", func(*adapters.Roll, error) {})
}
