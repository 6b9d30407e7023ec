package opencode

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"rollcall/adapters"
	"rollcall/internal/adaptertest/scene"
	"rollcall/internal/must"
	"rollcall/proc"
)

// startOld starts a terminal interface of 1.14, which keeps a log of its own open.
func (e *elsewhere) startOld(age time.Duration, folder string) proc.Identity {
	log := e.write("log/"+e.now.Add(-age).UTC().Format("2006-01-02T150405.log"), "INFO  2026-11-21T21:47:53 +400ms service=default\n")
	return e.fixture.Procs.Start(scene.Spec{Comm: "opencode", Exe: "/opt/opencode.exe", CWD: folder, Args: []string{"opencode"},
		Env: []string{"HOME=" + e.home}, Files: []string{filepath.Join(e.data, "opencode.db"), log}, Started: e.now.Add(-age)})
}

// written adds a session that was written a while ago.
func (e *elsewhere) written(age time.Duration, data string) string {
	at := e.now.Add(-age).UnixMilli()
	id := e.session(at)
	e.message(id, at, userData, textPart)
	e.message(id, at+1, data)
	return id
}

// Of a process of a version that is too old only one session can be told: the only one of its
// folder that was written since it began. Nothing else is guessed.
func TestOldVersions(t *testing.T) {
	for name, test := range map[string]struct {
		prepare func(e *elsewhere) (session string)
		status  adapters.Status
		outcome adapters.Outcome
		row     bool // the process has a row without a session
	}{
		"no session": {func(e *elsewhere) string { return e.written(time.Hour, doneData) }, adapters.Stopped, adapters.Completed, true},
		"one, done":  {func(e *elsewhere) string { return e.written(30*time.Second, doneData) }, adapters.Idle, adapters.Completed, false},
		"one, open":  {func(e *elsewhere) string { return e.written(30*time.Second, openData) }, adapters.Unknown, "", false},
		"two": {func(e *elsewhere) string {
			e.written(20*time.Second, doneData)
			return e.written(30*time.Second, openData)
		}, adapters.Unknown, "", true},
		"another process has it": {func(e *elsewhere) string {
			id := e.written(30*time.Second, openData)
			e.write("log/opencode.log", lineAt(e.now.Add(-38*time.Second), "aaaa1111", `message="creating instance" directory=/home/dev/p`)+
				lineAt(e.now.Add(-30*time.Second), "aaaa1111", "message=loop session.id="+id))
			e.open(40 * time.Second)
			return id
		}, adapters.Working, "", true},
	} {
		t.Run(name, func(t *testing.T) {
			e := newElsewhere(t)
			process := e.startOld(time.Minute, "/home/dev/p")
			id := test.prepare(e)
			sessions, _, err := asked(t, e.adapter, adapters.Query{})
			got := sessions[id]
			if err != nil || got.Status != test.status || got.Outcome != test.outcome {
				t.Errorf("%s %s (%s), %v, want %s %s", got.Status, got.Outcome, got.Evidence, err, test.status, test.outcome)
			}
			if got.Live() && got.Process.PID == process.PID == test.row {
				t.Errorf("it is in process %d (%s)", got.Process.PID, got.Evidence)
			}
			if (got.Status == adapters.Unknown || got.Process == process) && !strings.Contains(got.Evidence, "1.17 and later do") {
				t.Errorf("evidence %q", got.Evidence)
			}
			row := false
			for _, s := range sessions {
				row = row || s.IsProcess() && s.Process == process && strings.Contains(s.Evidence, "1.17 and later do")
			}
			if row != test.row {
				t.Errorf("a row of its own: %v, want %v: %v", row, test.row, sessions)
			}
		})
	}
}

// The JSON files of versions before 1.2 are not read, and named unless a later version has imported
// them.
func TestJSONStoreIsNamed(t *testing.T) {
	s := newHome(t)
	s.write("storage/session/p/"+sesA+".json", `{"id":"`+sesA+`"}`)
	s.write("storage/session/q/"+sesB+".json", `{"id":"`+sesB+`"}`)
	sessions, roll, err := asked(t, alone(s), adapters.Query{})
	if err != nil || len(sessions) > 0 || roll.Skipped[notMoved] != 2 {
		t.Errorf("%v, %v, skipped %v", err, sessions, roll.Skipped)
	}
	with := newStore(t, tables)
	must.Do(t, os.Rename(filepath.Join(s.data, "storage"), filepath.Join(with.data, "storage")))
	if _, roll, err := asked(t, alone(with), adapters.Query{}); err != nil || roll.Skipped[notMoved] != 2 {
		t.Errorf("%v, skipped %v", err, roll.Skipped)
	}
	with.exec(`INSERT INTO session (id, project_id, slug, directory, title, version, time_created, time_updated) VALUES (?, 'p', '', '', '', '', 1, 1)`, sesB)
	if _, roll, err := asked(t, alone(with), adapters.Query{}); err != nil || len(roll.Skipped) > 0 {
		t.Errorf("imported: %v, skipped %v", err, roll.Skipped)
	}
}
