package opencode

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"rollcall/adapters"
	"rollcall/internal/adaptertest/scene"
	"rollcall/proc"
)

// TestLogRemovedWhileOpen: another start of 1.1.65 removed the log in which a process names its sessions, and left the
// older one that the process has open too. The session is still that of the process.
func TestLogRemovedWhileOpen(t *testing.T) {
	m := &mixed{elsewhere: newElsewhere(t)}
	began := m.now.Add(-2 * time.Minute)
	log := func(at time.Time) string { return filepath.Join("log", at.UTC().Format(oldName)) }
	older, newest := log(began.Add(time.Second)), log(began.Add(4*time.Second))
	process := m.fixture.Procs.Start(scene.Spec{Comm: "opencode", Exe: "/opt/old/opencode", CWD: oldFolder, Args: []string{"opencode"}, Env: []string{"HOME=" + m.home},
		Files: []string{filepath.Join(m.data, older), filepath.Join(m.data, newest+" (deleted)")}, Started: began})
	session := m.jsonSession(oldFolder, began.Add(30*time.Second))
	m.write(older, "INFO  "+began.UTC().Format("2006-01-02T15:04:05")+" +1ms service=default version=1.1.65 args=[] opencode\n")
	// What the link of the descriptor leads to is named so here.
	m.writeOldLog(began.Add(4*time.Second), session, began.Add(30*time.Second))
	if err := os.Rename(filepath.Join(m.data, newest), filepath.Join(m.data, newest+" (deleted)")); err != nil {
		t.Fatal(err)
	}
	m.want(t, session, process, "idle/completed")
	m.fixture.Procs.End(process.PID)
	m.want(t, session, proc.Identity{}, "stopped/completed")
}

// TestLogRemovedBeforeTheFirstPrompt: another start of 1.1.65 removed the only files that a terminal interface without a
// session has open. It is still listed.
func TestLogRemovedBeforeTheFirstPrompt(t *testing.T) {
	m := &mixed{elsewhere: newElsewhere(t)}
	began := m.now.Add(-2 * time.Minute)
	removed := filepath.Join(m.data, "log", began.Add(time.Second).UTC().Format(oldName)) + " (deleted)"
	process := m.fixture.Procs.Start(scene.Spec{Comm: "opencode", Exe: "/opt/old/opencode", CWD: oldFolder, Args: []string{"opencode"},
		Env: []string{"HOME=" + m.home}, Files: []string{removed}, Started: began})
	m.write(filepath.Join("log", filepath.Base(removed)), "")
	_, roll, err := asked(t, m.adapter, adapters.Query{})
	if err != nil || len(roll.Sessions) != 1 || roll.Sessions[0].Process != process || !roll.Sessions[0].IsProcess() {
		t.Errorf("listed %+v, %v", roll.Sessions, err)
	}
}
