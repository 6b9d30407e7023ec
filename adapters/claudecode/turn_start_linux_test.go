package claudecode

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"rollcall/adapters"
	"rollcall/proc"
)

// said is a line of history.jsonl.
func said(at time.Time, n int, what string) string {
	return fmt.Sprintf(`{"display":%q,"pastedContents":{},"timestamp":%d,"project":"/home/dev/proj","sessionId":%q}`+"\n", what, at.UnixMilli(), id(n))
}

// At first the transcript holds no prompt: the history has it, for sessions that
// somebody types into.
func TestPromptNotWrittenYet(t *testing.T) {
	w := newFixture(t)
	p := w.start(filepath.Join(w.home, "proj"))
	now := time.Now()
	w.write(w.path("history.jsonl"), said(now, 1, "/model")+said(now, 1, "first")+said(now, 1, "second")+said(now, 1, "/cost")+said(now, 2, "other"))
	mode := `{"type":"mode","mode":"normal"}` + "\n" + `{"type":"permission-mode","permissionMode":"default"}` + "\n"
	for _, c := range []struct{ status, entrypoint, first, last string }{
		{"busy", "cli", "first", "second"}, {"waiting", "cli", "first", "second"}, {"idle", "cli", "", ""}, {"busy", "sdk-cli", "", ""},
	} {
		for _, lines := range []string{"", mode} {
			if w.transcript(1, lines); lines == "" {
				w.check(os.Remove(w.path("projects", slug, id(1)+".jsonl")))
			}
			w.entry(p, id(1), map[string]any{"status": c.status, "entrypoint": c.entrypoint})
			sessions, _, err := w.discover(adapters.Query{})
			if s := sessions[id(1)]; err != nil || s.FirstPrompt != c.first || s.LastPrompt != c.last || s.CWD != "/home/dev/proj" || s.Outcome != "" {
				t.Errorf("%+v: %+v, %v", c, s, err)
			}
		}
	}
	w.transcript(1, promptLine("as written"))
	w.entry(p, id(1), map[string]any{"status": "busy"})
	sessions, _, _ := w.discover(adapters.Query{})
	if s := w.expect(sessions, 1, "working"); s.FirstPrompt != "as written" || s.LastPrompt != "as written" {
		t.Errorf("prompts %q, %q", s.FirstPrompt, s.LastPrompt)
	}
}

// The registry says idle before the answer is written: the turn has no outcome
// yet, neither its own nor that of the one before, and its folder is watched.
func TestAnswerNotWrittenYet(t *testing.T) {
	w := newFixture(t)
	p := w.start(filepath.Join(w.home, "proj"))
	failed := strings.Replace(answerLine("m1", "stop_sequence", `{"type":"text","text":"API Error: 500"}`),
		`"type":"assistant"`, `"isApiErrorMessage":true,"type":"assistant"`, 1)
	path := w.transcript(1)
	for _, c := range []struct {
		name, want string
		behind     bool
		idle       time.Duration
		lines      []string
	}{
		{"prompt", "idle", true, 0, []string{promptLine("hi")}},
		{"result", "idle", true, 0, []string{promptLine("hi"), callLine("m", "t", "Bash"), resultLine("t")}},
		{"call", "idle", true, 0, []string{promptLine("hi"), callLine("m", "t", "Bash")}},
		{"prompt, long ago", "idle", false, time.Minute, []string{promptLine("hi")}},
		{"the failed turn before", "idle", true, 0, []string{old(promptLine("hi"), time.Minute), old(failed, time.Minute)}},
		{"the completed turn before", "idle", true, 0, []string{old(promptLine("hi"), time.Minute), old(doneLine("m"), time.Minute)}},
		{"failed, long ago", "idle failed", false, time.Minute, []string{old(promptLine("hi"), time.Minute), old(failed, time.Minute)}},
		{"answer", "idle completed", false, 0, []string{promptLine("hi"), old(doneLine("m"), -time.Second)}},
	} {
		w.write(path, strings.Join(c.lines, ""))
		w.write(w.path("history.jsonl"), said(time.Now().Add(-10*time.Millisecond), 1, "next"))
		w.entry(p, id(1), map[string]any{"status": "idle", "statusUpdatedAt": time.Now().Add(-c.idle).UnixMilli()})
		a := New(w.config)
		sessions, _, err := ask(t, a, adapters.Query{})
		w.expect(sessions, 1, c.want)
		watched := strings.Contains(strings.Join(a.WatchPaths(), " "), slug)
		if err != nil || watched != c.behind {
			t.Errorf("%s: watched %v, %v", c.name, watched, err)
		}
	}
}

// A child that claude starts is a claude up to its exec: it owns no session, and
// makes none of its parent's old ones live.
func TestChildBeforeItsExec(t *testing.T) {
	w := newFixture(t)
	dir := filepath.Join(w.home, "proj")
	p := w.start(dir)
	w.inProject(dir, 1, promptLine("a"), doneLine("m"))
	alone := func(what string) {
		t.Helper()
		sessions, _, _ := w.discover(adapters.Query{})
		if s := w.expect(sessions, 1, "idle completed"); s.Process != p.Identity || len(sessions) != 1 {
			t.Errorf("%s: process %v, want %v: %s; %d rows", what, s.Process, p.Identity, s.Evidence, len(sessions))
		}
	}
	alone("no child")
	child := w.start(dir, "CLAUDECODE=1")
	table := family{w.ownTable(), child.PID, p.PID}
	w.config.Table = table
	alone("young child")
	transcript := w.inProject(dir, 1, promptLine("a"), doneLine("m")) // after both began
	w.check(os.Chtimes(transcript, time.Time{}, time.Now().Add(time.Second)))
	w.config.Now = func() time.Time { return time.Now().Add(time.Hour) }
	sessions, _, _ := w.discover(adapters.Query{})
	w.expect(sessions, 1, "unknown") // a claude that claude started
	w.config.Table = image{table, child.PID, p.Identity}
	alone("child that still is its parent's image")
}

// family makes one process the child of another.
type family struct {
	ownTable
	child, parent int
}

func (t family) List(ctx context.Context) ([]proc.Process, error) {
	rows, err := t.ownTable.List(ctx)
	for i := range rows {
		if rows[i].PID == t.child {
			rows[i].PPID = t.parent
		}
	}
	return rows, err
}

// image shows the parent's environment as the child's, as before an exec.
type image struct {
	family
	child  int
	parent proc.Identity
}

func (t image) Env(id proc.Identity) ([]string, error) {
	if id.PID == t.child {
		id = t.parent
	}
	return t.family.Env(id)
}
