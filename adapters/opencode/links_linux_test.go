package opencode

import (
	"bytes"
	"os"
	"path/filepath"
	"reflect"
	"strconv"
	"strings"
	"testing"

	"rollcall/adapters"
	"rollcall/internal/adaptertest"
	"rollcall/internal/must"
)

const (
	twoInOne = "testdata/recordings/opencode-1.18.33-two-in-one-cwd"
	firstOne = "ses_e0393c74cffeBp0PG9tQ7OTOGx"
	otherOne = "ses_e0393b794ffejGqgINCELhhfvl"
)

func statuses(t *testing.T, a *Adapter) map[string]adapters.Session {
	t.Helper()
	sessions := map[string]adapters.Session{}
	for _, s := range adaptertest.Discover(t, a, adapters.Query{}).Sessions {
		sessions[s.ID] = s
	}
	return sessions
}

func end(t *testing.T, r *adaptertest.Recording, pid string) {
	t.Helper()
	must.Do(t, os.RemoveAll(filepath.Join(r.ProcRoot, pid)))
}

// Two terminal interfaces in one folder, of which it is not seen what they write: when one is gone,
// it can't be known whose the sessions are. Who has seen both says the same as who has not.
func TestOneOfTwoEnds(t *testing.T) {
	r := adaptertest.Replay(t, twoInOne)
	a := New(r.Config())
	statuses(t, a)
	end(t, r, "17308")
	fresh := statuses(t, New(r.Config()))
	if got := statuses(t, a); !reflect.DeepEqual(got, fresh) {
		t.Errorf("with a memory: %v\nwithout: %v", got, fresh)
	}
	for id, s := range fresh {
		if s.Status != adapters.Unknown || !strings.Contains(s.Evidence, "17428") {
			t.Errorf("%s is %s: %s", id, s.Status, s.Evidence)
		}
	}
	end(t, r, "17428")
	for id, s := range statuses(t, New(r.Config())) {
		if s.Status != adapters.Stopped {
			t.Errorf("%s is %s: %s", id, s.Status, s.Evidence)
		}
	}
}

// Without the log nobody can tell two processes in one folder apart; one alone has
// the sessions that were written to since it began.
func TestWithoutLog(t *testing.T) {
	r := adaptertest.Replay(t, twoInOne)
	must.Do(t, os.RemoveAll(filepath.Join(r.Home, ".local/share/opencode/log")))
	for id, s := range statuses(t, New(r.Config())) {
		if s.Status != adapters.Unknown || !strings.Contains(s.Evidence, "17308, 17428") {
			t.Errorf("%s is %s: %s", id, s.Status, s.Evidence)
		}
	}
	end(t, r, "17428")
	if s := statuses(t, New(r.Config()))[firstOne]; s.Status != adapters.Working || s.Process.PID != 17308 {
		t.Errorf("%s: %s", s.Status, s.Evidence)
	}
}

// A process table that can't be read makes nothing stopped.
func TestNoProcessTable(t *testing.T) {
	r := adaptertest.Replay(t, twoInOne)
	must.Do(t, os.RemoveAll(r.ProcRoot))
	roll, err := New(r.Config()).Discover(t.Context(), adapters.Query{})
	if err == nil || len(roll.Sessions) != 2 {
		t.Errorf("%d sessions, %v", len(roll.Sessions), err)
	}
	for _, s := range roll.Sessions {
		if s.Status != adapters.Unknown {
			t.Errorf("%s is %s: %s", s.ID, s.Status, s.Evidence)
		}
	}
}

// What was said and done.
func TestPeek(t *testing.T) {
	tests := map[string]struct{ id, want string }{
		"opencode-1.18.33-working-tool": {"ses_e0398780cffetkkbKss5WNle9e",
			"user Please MOCK_TOOL=sleep 200;; run it|tool sleep 200 (bash running)"},
		"opencode-1.2.27-oneshot-migrated-json": {"ses_e038c0ac4ffes6Wix3Mv6VpicS",
			"user hello version 1.2.27|assistant Hello from the mock model."},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			r := adaptertest.Replay(t, "testdata/recordings/"+name)
			adaptertest.Untouched(t, r.Home)
			a := New(r.Config())
			messages, err := a.Peek(t.Context(), statuses(t, a)[test.id], 10)
			var lines []string
			for _, m := range messages {
				line := string(m.Role) + " " + m.Text
				if m.Tool != "" {
					line += " (" + m.Tool + " " + string(m.State) + ")"
				}
				if m.Key == "" || m.At.IsZero() {
					t.Errorf("%+v", m)
				}
				lines = append(lines, line)
			}
			if got := strings.Join(lines, "|"); err != nil || got != test.want {
				t.Errorf("%q, %v, want %q", got, err, test.want)
			}
			last, err := a.Peek(t.Context(), statuses(t, a)[test.id], 1)
			if err != nil || len(last) != 1 || last[0] != messages[len(messages)-1] {
				t.Errorf("%v, %v", last, err)
			}
		})
	}
}

// OpenCode's own tools run its own binary: they are never a session's process
// (`opencode pm ls -g`), nor is a child that has not become another
// program yet, and that has its parent's command line up to then.
func TestOwnToolsAreNoHosts(t *testing.T) {
	for name, args := range map[string]string{"a tool": "opencode\x00pm\x00ls\x00-g\x00", "a terminal": "opencode\x00", "not yet another program": ""} {
		t.Run(name, func(t *testing.T) {
			r := adaptertest.Replay(t, "testdata/recordings/opencode-1.18.33-working-tool")
			from, to := filepath.Join(r.ProcRoot, "10033"), filepath.Join(r.ProcRoot, "10099")
			must.Do(t, os.CopyFS(to, os.DirFS(from)))
			stat, err := os.ReadFile(filepath.Join(from, "stat"))
			must.Do(t, err)
			fields := strings.Fields(strings.Replace(string(stat), "10033", "10099", 1))
			ticks, err := strconv.Atoi(fields[21])
			must.Do(t, err)
			fields[3], fields[21] = "10033", strconv.Itoa(ticks+90) // 0.9 s younger
			must.Do(t, os.WriteFile(filepath.Join(to, "stat"), []byte(strings.Join(fields, " ")+"\n"), 0o600))
			status, err := os.ReadFile(filepath.Join(from, "status"))
			must.Do(t, err)
			must.Do(t, os.WriteFile(filepath.Join(to, "status"), bytes.ReplaceAll(status, []byte("10033"), []byte("10099")), 0o600))
			must.Get(r.Table.Find(10099))(t)
			if args != "" {
				must.Do(t, os.WriteFile(filepath.Join(to, "cmdline"), []byte(args), 0o600))
			}
			c, err := New(r.Config()).takeCensus(t.Context())
			if err != nil || len(c.hosts) != 1 || c.hosts[0].PID != 10033 {
				t.Errorf("%d hosts, %v", len(c.hosts), err)
			}
		})
	}
}

// Of a message with very many parts, those that are shown are read.
func TestPeekManyParts(t *testing.T) {
	s := newStore(t, tables)
	id := s.session(nowMillis())
	message := s.message(id, nowMillis(), doneData, textPart)
	s.exec(`WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 20000)
		INSERT INTO part SELECT 'prt_3' || printf('%06d', i), ?, ?, 1, 1, json_object('type', 'text', 'text', hex(zeroblob(2000))) FROM n`, message, id)
	s.exec("PRAGMA wal_checkpoint(TRUNCATE)")
	a := alone(s)
	session := statuses(t, a)[id]
	before := adaptertest.BytesRead(t)
	m, err := a.Peek(t.Context(), session, 20)
	if err != nil || len(m) != 20 {
		t.Fatal(len(m), err)
	}
	if n := adaptertest.BytesRead(t) - before; n > 32<<20 {
		t.Errorf("%d bytes were read for 20 messages", n)
	}
}
