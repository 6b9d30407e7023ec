package settings

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"rollcall/internal/must"
)

func TestNotifications(t *testing.T) {
	s, err := Load(write(t, strings.ReplaceAll(`theme = "dark"
[notifications]
permission = "sound"
reply = "off"
reply_after = "5m"
together = "0s"
mute = ["~/scratch", "DRIVE/work/*/tmp"]
`, "DRIVE", drive)))
	n := s.Notifications
	if err != nil || s.Theme != DarkTheme || n.Permission != WithSound || n.Reply != Off || n.Ended != "" || n.ReplyAfter.Or(0) != 5*time.Minute || n.Together.Or(time.Hour) != 0 ||
		n.Pause.Or(DefaultPause) != time.Minute {
		t.Errorf("%+v, %v", s, err)
	}
	home, _ := os.UserHomeDir()
	for folder, want := range map[string]bool{filepath.Join(home, "scratch"): true, filepath.Join(home, "scratch", "a", "b"): true, filepath.Join(home, "scratchy"): false,
		drive + "/work/x/tmp": true, drive + "/work/x/tmp/y": true, drive + "/work/x": false, drive + "/": false, "": false} {
		if n.IsMuted(folder) != want {
			t.Errorf("%q is muted: %v", folder, !want)
		}
	}
}

func TestNotificationMistakes(t *testing.T) {
	for text, want := range map[string]string{
		"[notifications]\nreply = \"loud\"":               `line 2: notifications.reply is ignored: it is one of`,
		"[notifications]\n\nreply_after = \"30\"":         `line 3: notifications.reply_after is ignored: "30" is not a time`,
		"[notifications]\npause = \"-1s\"":                `line 2: notifications.pause is ignored`,
		"[notifications]\nmute = [\"scratch\"]":           `line 2: notifications.mute: "scratch" is ignored`,
		"[notifications]\nmute = [\"" + drive + "/a/[\"]": `line 2: notifications.mute`,
		"theme = \"blue\"":                                `line 1: theme is ignored`,
		"[notifications]\nreply_afterr = \"30s\"":         `line 2: this version has no setting "notifications.reply_afterr"`,
	} {
		s, err := Load(write(t, text))
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %s", text, err, want)
		}
		if len(s.Notifications.Mute) > 0 || s.Notifications.Reply != "" || s.Notifications.ReplyAfter.Or(1) != 1 || s.Theme != "" {
			t.Errorf("%q: %+v", text, s.Notifications)
		}
	}
}

// TestWhenNothingRuns: the value is one of replies alone.
func TestWhenNothingRuns(t *testing.T) {
	s, err := Load(write(t, "[notifications]\nreply = \"when nothing runs\"\n"))
	if err != nil || s.Notifications.Reply != WhenNothingRuns {
		t.Errorf("%+v, %v", s.Notifications, err)
	}
	s, err = Load(write(t, "[notifications]\nended = \"when nothing runs\"\n"))
	if err == nil || s.Notifications.Ended != "" {
		t.Errorf("%+v, %v", s.Notifications, err)
	}
}

// changed waits until the settings have changed.
func changed(t *testing.T, c <-chan struct{}) {
	t.Helper()
	select {
	case <-c:
	case <-time.After(time.Minute):
		t.Fatal("no change was noticed")
	}
}

// TestLive: a change counts at once, one with a mistake does not, whichever way an editor writes the file.
func TestLive(t *testing.T) {
	path := filepath.Join(t.TempDir(), "none", "config.toml")
	l := NewLive(path, nil)
	c := l.Changes()
	go l.Watch(t.Context())
	put := func(text string) {
		t.Helper()
		must.Do(t, os.MkdirAll(filepath.Dir(path), 0o700))
		must.Do(t, os.WriteFile(path+"~", []byte(text), 0o600))
		must.Do(t, os.Rename(path+"~", path))
	}
	put("theme = \"dark\"\n")
	l.Read() // the folder may not be watched yet
	changed(t, c)
	if s, err := l.Get(); s.Theme != DarkTheme || err != nil {
		t.Fatalf("%+v, %v", s, err)
	}
	put("theme = \"dark\"\n\n[notifications]\nreply = \"loud\"\npermission = \"off\"\n")
	l.Read()
	changed(t, c)
	if s, err := l.Get(); s.Theme != DarkTheme || s.Notifications.Permission != "" || err == nil || !strings.Contains(err.Error(), "line 4") {
		t.Fatalf("%+v, %v: the last settings must stay in force", s, err)
	}
	if err := os.WriteFile(path, []byte("[notifications]\npermission = \"off\"\n"), 0o600); err != nil { // in place
		t.Fatal(err)
	}
	for s, err := l.Get(); s.Theme != "" || s.Notifications.Permission != Off || err != nil; s, err = l.Get() {
		changed(t, c) // the file is empty for a moment
	}
	must.Do(t, os.Remove(path))
	changed(t, c)
	if s, err := l.Get(); s.Notifications.Permission != "" || err != nil {
		t.Fatalf("%+v, %v", s, err)
	}
}
