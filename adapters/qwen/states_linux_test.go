package qwen

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"rollcall/adapters"
	"rollcall/adapters/internal/pane"
	"rollcall/internal/adaptertest"
	"rollcall/internal/adaptertest/scene"
	"rollcall/internal/must"
	"rollcall/proc"
)

// later is a terminal of Qwen Code 0.24.4 whose adapter has another clock.
type later struct {
	*scene.Environment
	*scene.Session
	adapter *Adapter
	clock   time.Duration
}

func newLater(t *testing.T) *later {
	l := &later{Environment: scene.New(t)}
	l.Session = scene.Qwen(l.Environment).Start("/home/dev/proj", "go")
	l.Write(strings.TrimSuffix(l.File, ".jsonl")+".runtime.json", "{}")
	l.adapter = New(adapters.Config{Home: l.Home, Env: l.Env, Table: l.Table, Now: func() time.Time { return time.Now().Add(l.clock) }})
	return l
}

// want compares the session some time from now.
func (l *later) want(after time.Duration, status adapters.Status, outcome adapters.Outcome) {
	l.Helper()
	l.clock = after
	got := adaptertest.Discover(l, l.adapter, adapters.Query{}).Sessions
	if len(got) != 1 || got[0].Status != status || got[0].Outcome != outcome {
		l.Errorf("after %v: want %s %s, got %+v", after, status, outcome, got)
	}
}

// busy makes programs wait for a processor all the time.
func (l *later) busy() {
	path := filepath.Join(l.Procs.Root(), "pressure", "cpu")
	must.Do(l, os.MkdirAll(filepath.Dir(path), 0o755))
	must.Do(l, os.WriteFile(path, []byte("some avg10=100.00 avg60=0.00 avg300=0.00 total=0\n"), 0o600))
}

// tool starts a command of the session.
func (l *later) tool() proc.Identity {
	return l.Procs.Start(scene.Spec{Comm: "bash", Exe: "/bin/bash", CWD: l.CWD, Args: []string{"bash", "-c", "touch q"}, PPID: l.Process.PID,
		Env: []string{"QWEN_CODE_SESSION_ID=" + l.ID}, Started: time.Now().Add(time.Second)})
}

// TestPromptTakenBack: a prompt that the user takes back before the first word of the answer leaves no record. Without a title it is not known after the time
// in which a first word comes, and the end of the process is no death in mid-turn then. A run for one prompt takes none back.
func TestPromptTakenBack(t *testing.T) {
	l := newLater(t)
	l.want(5*time.Second, adapters.Working, "")
	l.want(firstWord+time.Second, adapters.Unknown, "")
	l.Procs.End(l.Process.PID)
	l.want(time.Hour, adapters.Stopped, "")
	must.Do(t, os.Remove(strings.TrimSuffix(l.File, ".jsonl")+".runtime.json"))
	l.want(time.Hour, adapters.Stopped, adapters.Died)
}

// TestResultAfterCommand: the result of a command is recorded seconds after its end, the later the busier the machine is. Meanwhile the session does not wait.
func TestResultAfterCommand(t *testing.T) {
	l := newLater(t)
	l.Ask()
	l.want(3*time.Second, adapters.Waiting, "")
	tool := l.tool()
	l.want(20*time.Second, adapters.Working, "")
	l.Procs.End(tool.PID)
	l.want(21*time.Second, adapters.Working, "")
	l.want(23*time.Second, adapters.Waiting, "")

	l = newLater(t)
	l.Ask()
	l.busy()
	l.want(14*time.Second, adapters.Working, "") // a command that needed no permission may have run
	l.want(17*time.Second, adapters.Waiting, "")
	tool = l.tool()
	l.want(20*time.Second, adapters.Working, "")
	l.Procs.End(tool.PID)
	l.want(34*time.Second, adapters.Working, "")
	l.want(37*time.Second, adapters.Waiting, "")
}

// TestTitles: the title of the terminal decides whether an open call waits, whether the prompt was taken back, and whether the turn goes on after an answer: one that
// ends at the limit of its tokens is recorded like any other.
func TestTitles(t *testing.T) {
	const command, prompt, answer = "command", "prompt", "answer"
	for title, want := range map[string]map[string]adapters.Status{
		"✳︎ Qwen - proj": {command: adapters.Waiting, prompt: adapters.Working, answer: adapters.Idle},
		"◐︎ Qwen - proj": {command: adapters.Working, prompt: adapters.Working, answer: adapters.Working},
		"Qwen - proj":    {command: adapters.Working, prompt: adapters.Idle, answer: adapters.Idle},
		"vim":            {command: adapters.Waiting, prompt: adapters.Unknown, answer: adapters.Idle},
	} {
		for turn, status := range want {
			l := newLater(t)
			switch turn {
			case command:
				l.Ask()
			case answer:
				l.Answer("the half")
			}
			l.clock = time.Minute
			d := l.adapter.begin(t.Context(), adapters.Query{})
			d.list()
			d.readEntries()
			d.read()
			d.match()
			d.titles = map[proc.Identity]pane.Title{l.Process: {Text: title}}
			if v := d.decide(d.sessions[0]); v.Status != status {
				t.Errorf("%s of a %s: %s, want %s; %s", title, turn, v.Status, status, v.Evidence)
			}
		}
	}
}

// TestWaitBelowFloor: of a version below the floor no wait is reported.
func TestWaitBelowFloor(t *testing.T) {
	l := newLater(t)
	l.Ask()
	text, err := os.ReadFile(l.File)
	must.Do(t, err)
	l.Write(l.File, strings.ReplaceAll(string(text), `"version":"0.24.4"`, `"version":"0.15.6"`))
	l.want(time.Minute, adapters.Unknown, "")
}
