package proc

import (
	"os"
	"path/filepath"
	"testing"

	"rollcall/internal/must"
)

// Restart Manager names who has a file open, or its answer is an error: never that nobody has.
func TestHolders(t *testing.T) {
	path := filepath.Join(t.TempDir(), "rollout.jsonl")
	file := must.Get(os.Create(path))(t)
	defer file.Close()
	holders, err := Open().Holders(path)
	if err == nil && len(holders) > 0 {
		t.Errorf("nobody else has it open: %v", holders)
	}
	t.Logf("%v, %v", holders, err)
	if _, err := Open().Holders(path + "x"); err == nil {
		t.Error("a file that is not there is held by nobody, without an error")
	}
}
