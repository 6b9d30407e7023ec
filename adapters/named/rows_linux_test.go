package named

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"

	"rollcall/adapters"
	"rollcall/internal/must"
	"rollcall/proc"
)

// TestProgramRows: the process of each row is checked. A row that lies says why it does not count.
func TestProgramRows(t *testing.T) {
	mine := start(t, script(t, "mine", forever))
	read := start(t, script(t, "read", forever))
	table := proc.Open()
	find := func(pid int) proc.Process {
		p, err := table.Find(pid)
		must.Do(t, err)
		return p
	}
	ended := exec.Command("sleep", "1000")
	must.Do(t, ended.Start())
	gone := find(ended.Process.Pid)
	must.Do(t, ended.Process.Kill())
	_ = ended.Wait()
	good := find(mine.Process.Pid)
	row := func(id string, p proc.Process) adapters.ProgramRow {
		return adapters.ProgramRow{Session: adapters.Session{
			ID: "mine:" + id, Agent: "mine",
			State: adapters.State{Status: adapters.Working, Evidence: "so it says"},
			Place: adapters.Place{CWD: "/x"},
		}, PID: p.PID, Start: p.Start}
	}
	self, shell := find(os.Getpid()), find(mine.Process.Pid)
	shell.PID = childOf(t, mine.Process.Pid)
	shell.Start = find(shell.PID).Start
	reused := good
	reused.Start--
	unproven := good
	unproven.Start = 0
	tests := map[string]struct {
		p      proc.Process
		status adapters.Status
		why    string
	}{
		"good":            {good, adapters.Working, ""},
		"none":            {proc.Process{}, adapters.Unknown, "the row names no process"},
		"no start":        {unproven, adapters.Unknown, "without its start time"},
		"gone":            {gone, adapters.Stopped, "has ended"},
		"reused":          {reused, adapters.Stopped, "the number is that of another process now"},
		"ours":            {self, adapters.Unknown, "is Rollcall's own"},
		"an adapter's":    {find(read.Process.Pid), adapters.Unknown, "an agent that Rollcall reads itself"},
		"another program": {shell, adapters.Unknown, `is "sleep" and no program of mine`},
	}
	if os.Getuid() == 0 {
		foreign := exec.Command("/bin/sleep", "1000")
		foreign.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}}
		must.Do(t, foreign.Start())
		t.Cleanup(func() { _ = foreign.Process.Kill(); _ = foreign.Wait() })
		tests["another user's"] = struct {
			p      proc.Process
			status adapters.Status
			why    string
		}{find(foreign.Process.Pid), adapters.Unknown, "belongs to another user"}
	}
	var rows []adapters.ProgramRow
	for id, tt := range tests {
		rows = append(rows, row(id, tt.p))
	}
	failed := errors.New("it hangs")
	users := []adapters.Unread{{Name: "mine", Rows: []string{"/home/me/rows"}}}
	t.Cleanup(func() { Register(nil) })
	a := New(adapters.Config{Home: t.TempDir(), Table: table}, func() []adapters.Unread { return users },
		&programs{rows: rows, failed: failed}, []adapters.Adapter{owner{comm: "read"}})[0]
	roll, err := a.Discover(t.Context(), adapters.Query{})
	if err == nil || !strings.Contains(err.Error(), "/home/me/rows: unreadable: it hangs") {
		t.Error(err)
	}
	found := 0
	for _, s := range roll.Sessions {
		tt, ok := tests[strings.TrimPrefix(s.ID, "mine:")]
		if !ok {
			continue
		}
		found++
		if s.Status != tt.status || !strings.Contains(s.Evidence, tt.why) || !strings.HasSuffix(s.Evidence, "so it says") || s.Process.IsZero() != (tt.why != "") {
			t.Errorf("%s: %s %s, process %v", s.ID, s.Status, s.Evidence, s.Process)
		}
	}
	if found != len(tests) {
		t.Errorf("%d of %d rows: %+v", found, len(tests), roll.Sessions)
	}
}

// programs are programs of the user's that say the same each time.
type programs struct {
	rows     []adapters.ProgramRow
	requests []adapters.Request
	failed   error
	result   adapters.Result
	given    []adapters.Decision
}

func (p *programs) Rows(context.Context, *adapters.Unread) ([]adapters.ProgramRow, error) {
	return p.rows, p.failed
}

func (p *programs) Requests(context.Context, *adapters.Unread) ([]adapters.Request, error) {
	return p.requests, p.failed
}

func (p *programs) Answer(_ context.Context, _ *adapters.Unread, _ *adapters.Request, d adapters.Decision) (adapters.Result, error) {
	p.given = append(p.given, d)
	return p.result, nil
}

// childOf waits for a child of a process and returns its pid.
func childOf(t *testing.T, pid int) (child int) {
	t.Helper()
	for child == 0 {
		list, err := proc.Open().List(t.Context())
		must.Do(t, err)
		for _, p := range list {
			if p.PPID == pid && p.Comm == "sleep" {
				child = p.PID
			}
		}
	}
	return child
}
