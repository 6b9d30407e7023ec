package opencode

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"rollcall/adapters"
	"rollcall/internal/adaptertest"
	"rollcall/internal/must"
)

// writes makes a process of a recording one that has written the log up to and
// with the last line that holds a word.
func writes(t *testing.T, r *adaptertest.Recording, pid, word string) {
	t.Helper()
	log := filepath.Join(r.Home, ".local/share/opencode/log", sharedName)
	text, err := os.ReadFile(log)
	must.Do(t, err)
	end := bytes.LastIndex(text, []byte(word))
	if end < 0 {
		t.Fatalf("no %q in the log", word)
	}
	end += bytes.IndexByte(text[end:], '\n') + 1
	folder := filepath.Join(r.ProcRoot, pid)
	// A terminal interface opens the log twice and writes through one of the two.
	for name, pos := range map[string]int{"19": 0, "23": end} {
		for _, dir := range []string{"fd", "fdinfo"} {
			must.Do(t, os.MkdirAll(filepath.Join(folder, dir), 0o755))
		}
		info := fmt.Sprintf("pos:\t%d\nflags:\t0102001\nmnt_id:\t88\nino:\t1312\n", pos)
		must.Do(t, os.WriteFile(filepath.Join(folder, "fdinfo", name), []byte(info), 0o644))
		must.Do(t, os.Symlink(log, filepath.Join(folder, "fd", name)))
	}
	must.Do(t, os.Symlink(filepath.Join(r.Home, ".local/share/opencode/opencode.db"), filepath.Join(folder, "fd", "25")))
}

// Of two terminal interfaces in one folder one is gone before anybody looked: what
// the other has written says which it is.
func TestOneOfTwoIsGone(t *testing.T) {
	for _, live := range []struct{ pid, session, gone, other string }{
		{"17428", otherOne, "17308", firstOne}, {"17308", firstOne, "17428", otherOne},
	} {
		r := adaptertest.Replay(t, twoInOne)
		writes(t, r, live.pid, live.session)
		end(t, r, live.gone)
		got := statuses(t, New(r.Config()))
		if s := got[live.session]; fmt.Sprint(s.Process.PID) != live.pid || !s.Live() {
			t.Errorf("the session of %s is %s: %s", live.pid, s.Status, s.Evidence)
		}
		if s := got[live.other]; s.Status != adapters.Stopped {
			t.Errorf("that of %s, which is gone, is %s: %s", live.gone, s.Status, s.Evidence)
		}
	}
}

// A busy machine takes a minute to start OpenCode, and a folder may be moved under
// it: neither ends a session whose process lives. Where nobody knows what the
// process has written, nobody says that it didn't write this.
func TestLateLog(t *testing.T) {
	for name, change := range map[string]func(*testing.T, *adaptertest.Recording){"late": makeLate, "moved": moveFolder} {
		t.Run(name, func(t *testing.T) {
			r := adaptertest.Replay(t, twoInOne)
			end(t, r, "17308")
			change(t, r)
			if name == "late" {
				for id, s := range statuses(t, New(r.Config())) {
					if s.Status != adapters.Unknown || !strings.Contains(s.Evidence, "17428") {
						t.Errorf("%s is %s: %s", id, s.Status, s.Evidence)
					}
				}
			}
			writes(t, r, "17428", otherOne)
			if s := statuses(t, New(r.Config()))[otherOne]; s.Status != adapters.Idle || s.Process.PID != 17428 {
				t.Errorf("with what it wrote it is %s: %s", s.Status, s.Evidence)
			}
		})
	}
}

// makeLate has the process begin a minute before it did: 6000 ticks.
func makeLate(t *testing.T, r *adaptertest.Recording) {
	t.Helper()
	path := filepath.Join(r.ProcRoot, "17428", "stat")
	text, err := os.ReadFile(path)
	must.Do(t, err)
	fields := strings.Fields(string(text))
	var start int
	must.Get(fmt.Sscan(fields[21], &start))(t)
	fields[21] = fmt.Sprint(start - 6000)
	must.Do(t, os.WriteFile(path, []byte(strings.Join(fields, " ")+"\n"), 0o644))
}

func moveFolder(t *testing.T, r *adaptertest.Recording) {
	t.Helper()
	path := filepath.Join(r.ProcRoot, "17428", "cwd")
	old, err := os.Readlink(path)
	must.Do(t, err)
	must.Do(t, os.Remove(path))
	must.Do(t, os.Symlink(old+"-moved", path))
}

// Only where a line ends, and only of descriptors for appending.
func TestRunBefore(t *testing.T) {
	long := "timestamp=2026-11-21T04:45:19.278Z level=INFO run=b0784ca1 message=" + strings.Repeat("x", 5000) + "\n"
	log := "timestamp=2026-11-21T04:45:18.278Z level=INFO run=ce1a3036 message=init\n" + long
	f := strings.NewReader(log)
	for end, want := range map[int64]string{
		int64(len(log)): "b0784ca1", int64(len(log) - len(long)): "ce1a3036",
		int64(len(log) - 1): "", 10: "", int64(len(log) + 5): "",
	} {
		if got := runBefore(f, end); got != want {
			t.Errorf("at %d: %q, want %q", end, got, want)
		}
	}
}

// The clock was set forward by an hour while a session works, as when a machine resumes: the start
// of its process moves with the clock, and the times that the process has stored don't. Where the system does not show who writes
// the log, a process without a run in it may have that of another time. A service has the time of its registration.
func TestClockSetForward(t *testing.T) {
	for name, c := range map[string]struct {
		writes string // the pid of which is known what it writes
		pid    int
		want   adapters.Status
	}{
		"opencode-1.18.33-working-tool":                      {"10033", 10033, adapters.Working},
		"opencode-1.18.33-permission-pending":                {"", 0, adapters.Unknown},
		"opencode-2preview-1.18.18-working-tool":             {"", 837, adapters.Working},
		"opencode-2preview-1.18.18-question-pending-renamed": {"", 1402, adapters.Waiting},
		"opencode-2preview-1.18.18-killed-midturn-renamed":   {"", 0, adapters.Stopped},
		"opencode-2preview-1.18.18-killed-restarted":         {"", 2233, adapters.Idle},
		"opencode-2preview-1.18.18-idle-after-failure":       {"", 1512, adapters.Idle},
	} {
		t.Run(name, func(t *testing.T) {
			r := adaptertest.Replay(t, "testdata/recordings/"+name)
			if c.writes != "" {
				writes(t, r, c.writes, "run=")
			}
			r.SetClock(t, time.Hour)
			cfg := r.Config()
			cfg.Now = func() time.Time { return r.CapturedAt.Add(time.Hour + time.Minute) }
			for _, q := range []adapters.Query{{}, {Since: cfg.Now()}} {
				sessions := adaptertest.Discover(t, New(cfg), q).Sessions
				if c.want == adapters.Stopped && !q.Since.IsZero() {
					continue
				}
				if len(sessions) != 1 || sessions[0].Status != c.want || sessions[0].Process.PID != c.pid {
					t.Errorf("%+v", sessions)
				}
			}
		})
	}
}
