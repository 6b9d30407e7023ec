package claudecode

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"rollcall/adapters"
	"rollcall/internal/adaptertest"
	"rollcall/internal/must"
)

// What the recorded sessions said, by recording and session.
var recordedTalks = map[string][]string{
	"claude-1.0.128-summary-crossfile fb192786": {"user: newer chat [[usage 60 6]]", "assistant: Mock answer to: newer chat [[usage 60 6]]"},
	"claude-1.0.128-summary-crossfile 364d7390": {"user: older job [[usage 50 5]]", "assistant: Mock answer to: older job [[usage 50 5]]"},
	"claude-2.0.50-permission bb77f674":         {"user: need it [[bash touch q.txt]]", "assistant: I will use Bash.", "Bash running: touch q.txt"},
	"claude-2.1.100-permission 6486542b":        {"user: need it [[bash touch q.txt]]", "assistant: I will use Bash.", "Bash running: touch q.txt"},
	"claude-2.1.329-ask 10cf9b43":               {"user: ask me [[ask]]", "assistant: I will use AskUserQuestion.", "AskUserQuestion running: Which colour?"},
	"claude-2.1.329-clear 28f4d7bc":             {"user: /clear", "user: after clear [[usage 80 8]]", "assistant: Mock answer to: after clear [[usage 80 8]]"},
	"claude-2.1.329-clear 11111111":             {"user: before clear [[usage 70 7]]", "assistant: Mock answer to: before clear [[usage 70 7]]"},
	"claude-2.1.329-oneshot 819f0888":           {"user: hello there [[usage 111 22]]", "assistant: Mock answer to: hello there [[usage 111 22]]"},
	"claude-2.1.329-permission 9830e65d":        {"user: need it [[bash touch q.txt]]", "assistant: I will use Bash.", "Bash running: touch q.txt"},
	"claude-2.1.329-resume-fork a8318bfa": {"user: original [[usage 100 10]]", "assistant: Mock answer to: original [[usage 100 10]]",
		"user: resumed elsewhere [[usage 200 20]]", "assistant: Mock answer to: resumed elsewhere [[usage 200 20]]",
		"user: forked [[usage 300 30]]", "assistant: Mock answer to: forked [[usage 300 30]]"},
	"claude-2.1.329-resume-fork 22222222": {"user: original [[usage 100 10]]", "assistant: Mock answer to: original [[usage 100 10]]",
		"user: resumed elsewhere [[usage 200 20]]", "assistant: Mock answer to: resumed elsewhere [[usage 200 20]]"},
	"claude-2.1.329-sigkill-midturn 2171ed47": {"user: killed in the middle [[delay 60]]"},
	"claude-2.1.329-subagent 90f677d2": {"user: delegate [[agent child job ((bash perl -e 'select(undef,undef,undef,60)'))]]",
		"assistant: I will use Agent.", "Agent done: sub job", "assistant: Done."},
	"claude-2.1.329-two-same-cwd 3998c797": {"user: do work [[bash perl -e 'select(undef,undef,undef,60)']]", "assistant: I will use Bash.",
		"Bash running: perl -e 'select(undef,undef,undef,60)'"},
	"claude-2.1.329-two-same-cwd c970d920": {"user: first question [[usage 200 30]]", "assistant: Mock answer to: first question [[usage 200 30]]",
		"user: second question [[usage 300 40]]", "assistant: Mock answer to: second question [[usage 300 40]]"},
}

func TestPeekRecordings(t *testing.T) {
	met := map[string]bool{}
	for _, dir := range adaptertest.Folders(t, recordings, 11) {
		r := adaptertest.Replay(t, dir)
		adaptertest.Untouched(t, r.Home)
		a := New(r.Config())
		for _, s := range adaptertest.Discover(t, a, adapters.Query{}).Sessions {
			name := filepath.Base(dir) + " " + s.ID[:8]
			want, known := recordedTalks[name]
			met[name] = true
			messages, err := a.Peek(t.Context(), s, 20)
			if err != nil {
				t.Errorf("%s: %v", name, err)
			}
			var got []string
			for i, m := range gists(messages) {
				_, text, _ := strings.Cut(m, " ")
				got = append(got, text)
				if at := messages[i].At; at.IsZero() || time.Since(at) < 0 && at.After(r.CapturedAt) {
					t.Errorf("%s: message %d is of %v", name, i, at)
				}
			}
			if d := cmp.Diff(want, got); d != "" && known {
				t.Errorf("%s (-want +got):\n%s", name, d)
			}
		}
	}
	for name := range recordedTalks {
		if !met[name] {
			t.Errorf("no session %s", name)
		}
	}
}

// A pipe in a transcript's place doesn't hang it, and a file without permission
// says what to do.
func TestPeekBadFiles(t *testing.T) {
	pipe := filepath.Join(t.TempDir(), "s.jsonl")
	must.Do(t, syscall.Mkfifo(pipe, 0o600))
	a := New(adapters.Config{Home: t.TempDir()})
	var p *adapters.Problem
	if _, err := a.Peek(t.Context(), adapters.Session{Files: []string{pipe}}, 5); !errors.As(err, &p) {
		t.Errorf("a pipe gave %v", err)
	}
	if os.Geteuid() == 0 {
		return // who may read everything
	}
	secret := filepath.Join(t.TempDir(), "s.jsonl")
	must.Do(t, os.WriteFile(secret, []byte("{}\n"), 0))
	if _, err := a.Peek(t.Context(), adapters.Session{Files: []string{secret}}, 5); !errors.As(err, &p) || p.Fix == "" {
		t.Errorf("without permission: %v", err)
	}
}

// A gigabyte before the end costs nothing.
func TestPeekHugeTranscript(t *testing.T) {
	path := filepath.Join(t.TempDir(), "s.jsonl")
	f, err := os.Create(path)
	must.Do(t, err)
	defer f.Close()
	c := &chat{}
	for range 500 {
		c.user(`"again"`).call("m", fmt.Sprintf("t%d", len(c.lines)), "Bash", `{"command":"make"}`)
		c.add("attachment", `,"attachment":{"type":"prompt_snapshot","text":"`+strings.Repeat("z", 50_000)+`"}`)
	}
	must.Get(f.WriteAt([]byte("\n"+c.text()), 1<<30))(t)
	a := New(adapters.Config{Home: t.TempDir()})
	before := adaptertest.BytesRead(t)
	m, err := a.Peek(t.Context(), adapters.Session{Files: []string{path}}, 20)
	if err != nil || len(m) != 20 {
		t.Fatal(len(m), err)
	}
	if n := adaptertest.BytesRead(t) - before; n > 16<<20 {
		t.Errorf("%d bytes were read for 20 messages", n)
	}
	all, err := a.Peek(t.Context(), adapters.Session{Files: []string{path}}, 2000)
	if err != nil || len(all) != 1001 || all[0].Key != "cut" {
		t.Errorf("%d messages, %v; the first %+v", len(all), err, all[0])
	}
}
