package quiet

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"rollcall/internal/must"
)

func TestQuiet(t *testing.T) {
	state := filepath.Join(t.TempDir(), "rollcall")
	q := In(state)
	now := time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)
	if s, err := q.Get(); err != nil || s.Active(now) {
		t.Errorf("%+v, %v without a file", s, err)
	}
	if err := q.Off(); err != nil {
		t.Error(err)
	}
	changes := must.Get(q.Changes(t.Context()))(t)
	if _, err := q.On(now, now.Add(time.Hour)); err != nil {
		t.Fatal(err)
	}
	<-changes
	s, err := In(state).Get()
	if err != nil || !s.Active(now) || !s.Active(now.Add(time.Hour-1)) || s.Active(now.Add(time.Hour)) {
		t.Errorf("%+v, %v", s, err)
	}
	if _, err := q.On(now, now); err == nil {
		t.Error("a time that is over was taken")
	}
	if _, err := q.On(now, time.Time{}); err != nil {
		t.Fatal(err)
	}
	if s, _ := q.Get(); !s.Active(now.AddDate(10, 0, 0)) {
		t.Errorf("%+v", s)
	}
	must.Do(t, q.Off())
	if s, err := q.Get(); err != nil || s.Active(now) {
		t.Errorf("%+v, %v after off", s, err)
	}
}

// A damaged file is off, with an error.
func TestDamaged(t *testing.T) {
	state := t.TempDir()
	q := In(state)
	if _, err := q.On(time.Now(), time.Time{}); err != nil {
		t.Fatal(err)
	}
	must.Do(t, os.WriteFile(q.folder.File(name), []byte("{"), 0o600))
	if s, err := q.Get(); err == nil || s.On {
		t.Errorf("%+v, %v", s, err)
	}
}

func TestParseUntil(t *testing.T) {
	now := time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)
	for text, want := range map[string]string{
		"18:00": "2026-11-21 18:00", "12:00": "2026-11-22 12:00", "9:05": "2026-11-22 09:05", "2026-11-24 09:00": "2026-11-24 09:00",
		"": "", "25:00": "", "tomorrow": "",
	} {
		got, err := ParseUntil(text, now)
		if text := got.Format("2006-01-02 15:04"); want != "" && (err != nil || text != want) || want == "" && err == nil {
			t.Errorf("%q: %s, %v; want %s", text, got, err, want)
		}
	}
}
