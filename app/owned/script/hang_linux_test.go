package script

import (
	"os"
	"strings"
	"testing"
	"time"

	"rollcall/bounded"
	"rollcall/internal/testfs"
)

// A command for a folder that does not answer runs as one for a folder that is gone.
func TestFolderHangs(t *testing.T) {
	mount := testfs.Mount(t, t.TempDir())
	mount.Hang(t)
	defer mount.Answer(t)
	type ran struct{ result, output string }
	got, err := bounded.Within(t.Context(), time.Minute, func() (ran, error) {
		result, output := Run(t.Context(), "pwd", mount.Path, os.Environ(), time.Minute)
		return ran{result, output}, nil
	})
	if err != nil || !strings.HasPrefix(got.result, Succeeded) || !strings.Contains(got.result, "did not answer") || strings.Contains(got.output, mount.Path) {
		t.Errorf("%+v, %v", got, err)
	}
}
