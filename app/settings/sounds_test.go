package settings

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"rollcall/internal/must"
)

// TestSounds: sounds are named by kind or agent, and doctor learns which of them are not there.
func TestSounds(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "ding.oga")
	must.Do(t, os.WriteFile(file, nil, 0o600))
	s, err := Load(write(t, "[notifications]\nreply = \"sound\"\n[notifications.sounds]\nreply = \"bell\"\ncodex = '"+file+"'\nfailed = '"+file+"x'\nended = \"no-such\"\n"))
	must.Do(t, err)
	if got := s.Notifications.SoundFiles(); got["codex"] != file || got["reply"] != "bell" || len(got) != 4 {
		t.Errorf("%v", got)
	}
	missing := "notifications.sounds.failed: " + file + "x is no file that can be read"
	if got := s.Notifications.SoundProblems([]string{dir}); !slices.Equal(got, []string{missing}) {
		t.Errorf("without a theme: %q", got)
	}
	theme := filepath.Join(dir, "sounds", "freedesktop", "stereo")
	must.Do(t, os.MkdirAll(theme, 0o700))
	must.Do(t, os.WriteFile(filepath.Join(theme, "bell.oga"), nil, 0o600))
	if got := s.Notifications.SoundProblems([]string{filepath.Join(dir, "none"), dir}); !slices.Equal(got, []string{"notifications.sounds.ended: no sound theme has \"no-such\"", missing}) {
		t.Errorf("with a theme: %q", got)
	}
	s, err = Load(write(t, "[notifications.sounds]\nreplies = \"bell\"\nreply = \"a/b.oga\"\n"))
	if err == nil || len(s.Notifications.Sounds) != 0 || !strings.Contains(err.Error(), "line 2: notifications.sounds.replies is ignored: it is one of permission,") ||
		!strings.Contains(err.Error(), `line 3: notifications.sounds.reply is ignored: "a/b.oga" is neither a file`) {
		t.Errorf("%v %v", err, s.Notifications.Sounds)
	}
}
