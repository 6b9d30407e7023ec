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

// Of a process of a version that is too old nothing is known but the sessions of its folder that were written since it
// began, any of which it may run.
func TestOldVersions(t *testing.T) {
	for name, test := range map[string]struct {
		prepare func(e *elsewhere) (session string)
		status  adapters.Status
		outcome adapters.Outcome
		row     bool // the process has a row without a session
	}{
		"no session": {func(e *elsewhere) string { return e.written(time.Hour, doneData) }, adapters.Stopped, adapters.Completed, true},
		"one, done":  {func(e *elsewhere) string { return e.written(30*time.Second, doneData) }, adapters.Unknown, "", false},
		"one, open":  {func(e *elsewhere) string { return e.written(30*time.Second, openData) }, adapters.Unknown, "", false},
		"two": {func(e *elsewhere) string {
			e.written(20*time.Second, doneData)
			return e.written(30*time.Second, openData)
		}, adapters.Unknown, "", false},
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
			const why = "known from OpenCode 1.17 on"
			if got.Process == process || got.Status == adapters.Unknown && !strings.Contains(got.Evidence, why) {
				t.Errorf("in process %d, evidence %q", got.Process.PID, got.Evidence)
			}
			row := false
			for _, s := range sessions {
				row = row || s.IsProcess() && s.Process == process && s.Status == adapters.Unknown && strings.Contains(s.Evidence, why)
			}
			if row != test.row {
				t.Errorf("a row of its own: %v, want %v: %v", row, test.row, sessions)
			}
		})
	}
}

// A home whose sessions are in files alone, as before 1.2, is named: it is no empty list.
func TestFilesOnlyAreNamed(t *testing.T) {
	s := newHome(t)
	s.write("storage/session/p/"+sesA+".json", `{"id":"`+sesA+`"}`)
	sessions, roll, err := asked(t, alone(s), adapters.Query{})
	if err != nil || len(sessions) > 0 || roll.Skipped[filesOnly] != 1 {
		t.Errorf("%v, %v, skipped %v", err, sessions, roll.Skipped)
	}
	with := newStore(t, tables)
	must.Do(t, os.Rename(filepath.Join(s.data, "storage"), filepath.Join(with.data, "storage")))
	if _, roll, err := asked(t, alone(with), adapters.Query{}); err != nil || len(roll.Skipped) > 0 {
		t.Errorf("beside a database: %v, skipped %v", err, roll.Skipped)
	}
}
