package qwen

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"rollcall/adapters"
	"rollcall/adapters/internal/agentfile"
	"rollcall/internal/adaptertest/scene"
	"rollcall/internal/must"
	"rollcall/proc"
)

// inHome is the process table, whose processes all have the same home.
type inHome struct {
	proc.Lister
	home string
}

func (t inHome) Env(proc.Identity) ([]string, error) { return []string{"HOME=" + t.home}, nil }

// inbox listens as the inbox of a session whose process is this one, and sends what each connection brings.
func inbox(t *testing.T, path string, got chan<- []string) {
	t.Helper()
	listener, err := net.Listen("unix", path)
	must.Do(t, err)
	t.Cleanup(func() { _ = listener.Close() })
	go func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			var lines []string
			for in := bufio.NewScanner(conn); in.Scan(); {
				lines = append(lines, in.Text())
			}
			_ = conn.Close()
			got <- lines
		}
	}()
}

const testToken = "qpc_0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"

// A prompt for a terminal that Rollcall did not launch: with the user's token, to the session's own process only, and not while it works.
func TestSendToInbox(t *testing.T) {
	w := scene.New(t)
	s := scene.Qwen(w).Start("/home/dev/proj", "go")
	s.Answer("done")
	socket := filepath.Join(t.TempDir(), "s")
	got := make(chan []string, 1)
	inbox(t, socket, got)
	self := proc.Self()
	a := New(adapters.Config{Home: w.Home, Env: w.Env, Table: inHome{proc.Open(), w.Home}, Token: func() string { return "Token:\n  " + testToken + "\n" }})
	entry := func(pid int, session, path string) {
		w.Write(filepath.Join(w.Home, ".qwen", "sessions", fmt.Sprintf("%d.json", pid)), fmt.Sprintf(`{"schemaVersion":1,"pid":%d,"sessionId":%q,"ipcPath":%q}`, pid, session, path))
	}
	session := adapters.Session{
		ID: s.ID, Agent: Name, Files: []string{s.File},
		State: adapters.State{Status: adapters.Idle},
		Owner: adapters.Owner{Process: self},
		Place: adapters.Place{Home: filepath.Join(w.Home, ".qwen")},
	}

	for name, c := range map[string]struct {
		session, path string
		change        func(*adapters.Session)
		want          error
	}{
		"of another session": {"11111111-2222-4333-8444-555555555555", socket, nil, adapters.ErrAnswerElsewhere},
		"no socket":          {s.ID, filepath.Join(w.Home, ".bashrc"), nil, adapters.ErrAnswerElsewhere},
		"relative":           {s.ID, "s", nil, adapters.ErrAnswerElsewhere},
		"works":              {s.ID, socket, func(s *adapters.Session) { s.Status = adapters.Working }, adapters.ErrBusy},
		"another process":    {s.ID, socket, func(s *adapters.Session) { s.Process.PID = os.Getppid() }, adapters.ErrNotAllowed},
	} {
		one := session
		if c.change != nil {
			c.change(&one)
		}
		entry(one.Process.PID, c.session, c.path)
		if err := a.Queue(t.Context(), one, "hello"); !errors.Is(err, c.want) {
			t.Errorf("%s: %v", name, err)
		}
		select {
		case lines := <-got:
			if len(lines) > 0 {
				t.Errorf("%s: the process that listens got %q", name, lines)
			}
		default:
		}
	}

	entry(self.PID, s.ID, socket)
	ctx, cancel := context.WithCancel(t.Context())
	sent := make(chan error, 1)
	go func() { sent <- a.Send(ctx, session, "hello\nthere") }()
	lines := <-got
	for len(lines) == 0 {
		lines = <-got // of the connection to another process
	}
	text := func(line string, path ...string) string {
		return agentfile.String(agentfile.Get([]byte(line), path...))
	}
	if len(lines) != 2 || text(lines[0], "token") != testToken || text(lines[1], "toSessionId") != s.ID || text(lines[1], "message", "content") != "hello\nthere" {
		t.Errorf("%q", lines)
	}
	s.Prompt("hello there")
	if err := <-sent; err != nil {
		t.Error(err)
	}
	go func() { sent <- a.Send(ctx, session, "held") }()
	<-got
	cancel()
	if err := <-sent; !errors.Is(err, adapters.ErrUnconfirmed) || strings.Contains(err.Error(), testToken) {
		t.Errorf("not begun: %v", err)
	}
}
