package app

import (
	"context"
	"errors"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"rollcall/adapters"
	"rollcall/internal/agentname"
	"rollcall/internal/eventually"
	"rollcall/internal/must"
	"rollcall/proc"
)

// quietAgent lists one working session.
type quietAgent struct{ session adapters.Session }

func (a *quietAgent) Name() adapters.Name { return a.session.Agent }

func (a *quietAgent) Discover(context.Context, adapters.Query) (adapters.Roll, error) {
	return adapters.Roll{Sessions: []adapters.Session{a.session}}, nil
}

// TestNoSignOfLife: a session that records nothing and whose commands only wait gives no sign of life; one whose command uses the processor, one that
// records, and one whose sub-agent writes do. Each question is a core's first: nothing is remembered. The processes are real shells.
func TestNoSignOfLife(t *testing.T) {
	const after = 2 * time.Second
	table := proc.Open()
	if _, err := table.LastRun(proc.Self()); err != nil {
		t.Skip(err)
	}
	shown := func(s adapters.Session) Session {
		s.ID, s.Agent, s.Status, s.Evidence = "s", agentname.Codex, adapters.Working, "it works"
		snap := Ask(t.Context(), Config{Adapters: []adapters.Adapter{&quietAgent{s}}, Table: table, StalledAfter: func() time.Duration { return after }}, Once{})
		return snap.Sessions()[0]
	}
	old := time.Now().Add(-time.Hour)
	waits, busy := startShell(t, "sleep 1000; :"), startShell(t, "while :; do :; done & sleep 1000; :")
	prints := startShell(t, "while :; do echo x; sleep 0.5; done > /dev/null & sleep 1000; :")
	streams := startStream(t)
	folder := t.TempDir()
	file := filepath.Join(folder, "s.jsonl")
	must.Do(t, os.WriteFile(file, nil, 0o600))
	must.Do(t, os.Chtimes(file, old, old))
	quiet := adapters.Session{Files: []string{file}, Owner: adapters.Owner{Process: waits}, Times: adapters.Times{LastActivityAt: old}}

	eventually.True(t, "no sign of life", func() bool { return shown(quiet).Quiet >= after })
	s := shown(quiet)
	if s.Quiet > time.Minute || !strings.Contains(s.Evidence, "it works; no sign of life since ") || time.Until(s.AskAgain) < quietPoll/2 {
		t.Errorf("quiet for %v, asked again at %v: %s", s.Quiet, s.AskAgain, s.Evidence)
	}
	for name, change := range map[string]func(*adapters.Session){
		"its command uses the processor": func(s *adapters.Session) { s.Process = busy },
		"its command prints":             func(s *adapters.Session) { s.Process = prints },
		"its model streams":              func(s *adapters.Session) { s.Process = streams },
		"it recorded something":          func(s *adapters.Session) { s.LastActivityAt = time.Now() },
		"it began to do something":       func(s *adapters.Session) { s.DoingSince = time.Now() },
		"it tries again later":           func(s *adapters.Session) { s.Limited = true },
		"it is idle":                     func(s *adapters.Session) { s.Process = proc.Identity{} },
	} {
		x := quiet
		change(&x)
		eventually.Nil(t, name, func() error { // on a busy machine a process may wait for a processor for as long
			if s := shown(x); s.Quiet != 0 || strings.Contains(s.Evidence, "no sign") {
				return errors.New(s.Evidence)
			}
			return nil
		})
	}
	if s := shown(adapters.Session{Owner: adapters.Owner{Process: waits}, Times: adapters.Times{LastActivityAt: time.Now()}}); s.AskAgain.IsZero() || time.Until(s.AskAgain) > after {
		t.Errorf("it is asked again at %v", s.AskAgain)
	}
	must.Do(t, os.MkdirAll(filepath.Join(folder, "s", "subagents"), 0o700))
	must.Do(t, os.WriteFile(filepath.Join(folder, "s", "subagents", "agent-1.jsonl"), nil, 0o600))
	if s := shown(quiet); s.Quiet != 0 {
		t.Errorf("its sub-agent writes: %s", s.Evidence)
	}
}

// startStream starts a process that only has a connection over which a byte comes several times a second, as an answer of a model that the agent records once
// it is whole.
func startStream(t *testing.T) proc.Identity {
	t.Helper()
	listener := must.Get(net.Listen("tcp", "127.0.0.1:0"))(t)
	t.Cleanup(func() { _ = listener.Close() })
	connection := must.Get(net.Dial("tcp", listener.Addr().String()))(t)
	server := must.Get(listener.Accept())(t)
	file := must.Get(connection.(*net.TCPConn).File())(t)
	cmd := exec.Command("sleep", "1000")
	cmd.ExtraFiles = []*os.File{file}
	must.Do(t, cmd.Start())
	t.Cleanup(func() {
		_ = server.Close()
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
		_ = file.Close()
		_ = connection.Close()
	})
	go func() {
		for range time.Tick(200 * time.Millisecond) {
			if _, err := server.Write([]byte("x")); err != nil {
				return
			}
		}
	}()
	p := must.Get(proc.Open().Find(cmd.Process.Pid))(t)
	return p.Identity
}
