package machine

import (
	"context"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"rollcall/adapters"
	"rollcall/internal/eventually"
	"rollcall/internal/must"
	"rollcall/proc"
)

// lister writes a program of rows, a shell script.
func lister(t *testing.T, text string) *Program {
	t.Helper()
	dir := t.TempDir()
	path := filepath.Join(dir, "rows")
	must.Do(t, os.WriteFile(path, []byte("#!/bin/sh\n"+text), 0o700))
	return &Program{Agent: "mine", Command: []string{path}, Dir: filepath.Join(dir, "state"), Limit: time.Minute}
}

const (
	greeting = `echo '{"schema":1,"event":"hello","hello":{"version":"1","heartbeat":15}}'` + "\n"
	oneRow   = `echo '{"schema":1,"event":"session","session":{"id":"a","agent":"x","status":"idle","evidence":"so \u001b[31mit says","pid":7,"pid_start":8,"parent":"b","title":"t\u202e"}}'` + "\n"
	listLine = `echo '{"schema":1,"event":"roll"}'` + "\n"
)

// TestProgram: rows have the agent's name, clean texts, and the process that the program names. A program that lives on after its list is ended.
func TestProgram(t *testing.T) {
	for name, text := range map[string]string{"ends": "", "lives on": "echo $$ >pid; exec sleep 1000"} {
		p := lister(t, greeting+oneRow+listLine+text)
		rows, err := p.Rows(t.Context())
		if err != nil || len(rows) != 1 {
			t.Fatalf("%s: %+v, %v", name, rows, err)
		}
		r := rows[0]
		if r.Session.ID != "mine:a" || r.Session.Parent != "mine:b" || r.Session.Agent != "mine" || r.Session.Remote != "" || r.PID != 7 || r.Start != 8 ||
			r.Session.Evidence != "so it says" || r.Session.Title != "t" || r.Session.Status != adapters.Idle {
			t.Errorf("%s: %+v", name, r)
		}
	}
}

// TestProgramFails: a program that fails, floods or hangs has a reason in words, and nothing of it runs on.
func TestProgramFails(t *testing.T) {
	tests := map[string]struct {
		text, want string
		limit      time.Duration
	}{
		"exit code":       {greeting + oneRow + "echo 'no such folder' >&2; exit 3", "it ended before its list was complete: exit status 3: no such folder", 0},
		"killed":          {greeting + oneRow + "kill -9 $$", "it ended before its list was complete: signal: killed", 0},
		"ends early":      {greeting + oneRow, "it ended before its list was complete (a line with the event \"roll\")", 0},
		"hangs":           {greeting + oneRow + "sleep 1000 & echo $! >child; wait", "no complete list (a line with the event \"roll\") in 2 s", 2 * time.Second},
		"says nothing":    {"sleep 1000", "no complete list", 2 * time.Second},
		"one long line":   {greeting + "exec tr '\\0' x </dev/zero", "sent a line of more than 1 MB", 0},
		"floods":          {greeting + `exec yes '{"schema":1,"event":"session","session":{"id":"a","agent":"x","status":"idle","evidence":"e"}}'`, "sent more than 100000 lines and no complete list", 0},
		"no stream":       {"exec yes hello", "is not Rollcall's stream", 0},
		"other things":    {greeting + "echo oops\n" + listLine, "sent a line that is not Rollcall's: oops", 0},
		"a newer schema":  {`echo '{"schema":9,"event":"hello","hello":{}}'`, "too new", 0},
		"invalid rows":    {greeting + `echo '{"schema":1,"event":"session","session":{"id":"","agent":"x"}}'` + "\n" + listLine, "1 rows could not be used", 0},
		"too many":        {greeting + `seq 6000 | sed 's/.*/{"schema":1,"event":"session","session":{"id":"&","agent":"x","status":"idle","evidence":"e"}}/'` + "\n" + listLine, "more than 5000 sessions", 0},
		"its own failure": {greeting + `echo '{"schema":1,"event":"adapter","adapter":{"name":"x","state":"failed","error":"disk gone"}}'` + "\n" + listLine, "x: disk gone", 0},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			p := lister(t, "echo $$ >pid\n"+tt.text)
			if tt.limit != 0 {
				p.Limit = tt.limit
			}
			rows, err := p.Rows(t.Context())
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("%d rows, %v; want %s", len(rows), err, tt.want)
			}
			for _, file := range []string{"pid", "child"} {
				if data, err := os.ReadFile(filepath.Join(p.Dir, file)); err == nil {
					eventually.True(t, "the end of "+file, func() bool { return !runs(string(data)) })
				}
			}
		})
	}
}

func runs(pid string) bool {
	list, err := proc.OpenAt("/proc", "/etc").List(context.Background())
	for _, p := range list {
		if strings.TrimSpace(pid) == strconv.Itoa(p.PID) {
			return true
		}
	}
	return err != nil
}

// TestProgramIsTheUsers: a program that is missing, or that another user can change, is not run.
func TestProgramIsTheUsers(t *testing.T) {
	p := lister(t, "echo ran >>ran\n"+greeting+listLine)
	must.Do(t, os.Chmod(p.Command[0], 0o707))
	if _, err := p.Rows(t.Context()); err == nil || !strings.Contains(err.Error(), "can be changed by other users, so it is not run: chmod o-w") {
		t.Error(err)
	}
	if _, err := os.Stat(filepath.Join(p.Dir, "ran")); err == nil {
		t.Error("it ran")
	}
	p.Command = []string{filepath.Join(t.TempDir(), "none")}
	if _, err := p.Rows(t.Context()); err == nil || !strings.Contains(err.Error(), "does not exist") {
		t.Error(err)
	}
}
