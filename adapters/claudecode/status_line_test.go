package claudecode

import (
	"errors"
	"path/filepath"
	"testing"
	"time"

	"rollcall/adapters"
	"rollcall/adapters/internal/agentproc"
	"rollcall/internal/must"
)

// TestStatusLine: the limits are those of the home in which the session's transcript is; a window without a share is left out, and what is no such object is
// refused.
func TestStatusLine(t *testing.T) {
	home := t.TempDir()
	work := filepath.Join(t.TempDir(), "work")
	now := time.Now()
	a := New(adapters.Config{Home: home, Env: func(string) string { return "" }, Now: func() time.Time { return now }})
	transcript := filepath.ToSlash(filepath.Join(work, "projects", "-home-me-shop", "x.jsonl"))
	line, err := a.StatusLine([]byte(`{"session_id":"x","transcript_path":"` + transcript + `","cwd":"/home/me/shop","model":{"id":"m","display_name":"Opus"},
		"rate_limits":{"five_hour":{"used_percentage":23.5,"resets_at":1738425600},"seven_day":{"used_percentage":141.2},"seven_day_opus":{"used_percentage":-1},"other":{}}}`))
	must.Do(t, err)
	if line.Model != "Opus" || line.Folder != "/home/me/shop" || len(line.Limits) != 2 {
		t.Fatalf("%+v", line)
	}
	if l := line.Limits[0]; l.Home != agentproc.RealPath(work) || l.Window != 5*time.Hour || l.Used != 23.5 || !l.ResetsAt.Equal(time.Unix(1738425600, 0)) || !l.At.Equal(now) {
		t.Errorf("%+v", l)
	}
	if l := line.Limits[1]; l.Window != 7*24*time.Hour || l.Used != 100 || !l.ResetsAt.IsZero() {
		t.Errorf("%+v", l)
	}
	line, err = a.StatusLine([]byte(`{"transcript_path":"x.jsonl","rate_limits":{"five_hour":{"used_percentage":1}}}`))
	must.Do(t, err)
	if len(line.Limits) != 1 || line.Limits[0].Home != agentproc.RealPath(filepath.Join(home, ".claude")) {
		t.Errorf("%+v", line)
	}
	for _, input := range []string{"", "x", "[]", `{"a":1}`, `{"transcript_path":"x.jsonl"`} {
		if _, err := a.StatusLine([]byte(input)); !errors.Is(err, adapters.ErrNotStatusLine) {
			t.Errorf("%q: %v", input, err)
		}
	}
}
