package codex

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"rollcall/adapters"
	"rollcall/internal/adaptertest"
	"rollcall/internal/must"
)

// What the recorded threads said, by the ends of their ids.
var recordedTalks = map[string][]string{
	"4a77f44b4ebc": {"user: hello codex [[usage 111 22]]", "assistant: Mock answer to: hello codex [[usage 111 22]]"},
	"6ab8b01a9b89": {"user: term me [[delay 60]]"},
	"9c9493bc4766": {"user: kill me [[delay 60]]"},
	"a4ad53311f72": {"user: int me [[delay 60]]", "system: Interrupted by the user"},
	"c4c8c062338c": {"user: still going [[bash sleep 60]]", "exec_command running: sleep 60"},
	"71562dc58b41": {"user: sub [[agent child job ((bash sleep 50))]]", "spawn_agent done: sub_job", "assistant: Done."},
	"3466282a9c49": {"exec_command running: sleep 50"},
	"433eb4cb9cd1": {"user: chat one [[usage 100 10]]", "assistant: Mock answer to: chat one [[usage 100 10]]"},
	"ef85ac524e7d": {"user: lives on [[delay 60]]"},
	"944f4bea135d": {"user: q3b818789 [[bash touch /home/dev/esc-q3b818789]] [[esc]]", "exec_command running: touch /home/dev/esc-q3b818789"},
	"41838ad69663": {"user: approve me [[bash touch /home/dev/zz]][[esc]]", "exec_command running: touch /home/dev/zz"},
	"e522f5612f4d": {"user: hello codex [[usage 111 22]]", "assistant: Mock answer to: hello codex [[usage 111 22]]"},
}

func TestPeekRecordings(t *testing.T) {
	dirs, err := filepath.Glob(recordings + "/*")
	must.Do(t, err)
	met := map[string]bool{} // two recordings have the same threads
	for _, dir := range dirs {
		r := adaptertest.Replay(t, dir)
		adaptertest.Untouched(t, r.Home)
		a := New(r.Config())
		roll, err := a.Discover(t.Context(), adapters.Query{})
		must.Do(t, err)
		for _, s := range roll.Sessions {
			want, known := recordedTalks[s.ID[24:]]
			if !known {
				continue
			}
			met[s.ID] = true
			got, err := a.Peek(t.Context(), s, 20)
			if err != nil {
				t.Errorf("%s: %v", s.ID, err)
			}
			if d := cmp.Diff(want, gists(got)); d != "" {
				t.Errorf("%s (-want +got):\n%s", s.ID, d)
			}
		}
	}
	if len(met) != len(recordedTalks) {
		t.Errorf("%d of %d threads", len(met), len(recordedTalks))
	}
}

// A gigabyte before the end costs nothing.
func TestPeekHugeRollout(t *testing.T) {
	path := filepath.Join(t.TempDir(), "r.jsonl")
	f, err := os.Create(path)
	must.Do(t, err)
	defer f.Close()
	s := &script{at: began}
	for i := range 300 {
		s.turn(fmt.Sprint("t", i), "again").call(fmt.Sprint("c", i), `{"cmd":"make"}`).result(fmt.Sprint("c", i), strings.Repeat("z", 50_000))
	}
	head := newScript(threadA, "0.169.0").text()
	must.Get(f.WriteString(head))(t)
	must.Get(f.WriteAt([]byte("\n"+s.text()), 1<<30))(t)
	a := New(adapters.Config{Home: t.TempDir()})
	before := adaptertest.BytesRead(t)
	m, err := a.Peek(t.Context(), adapters.Session{Files: []string{path}}, 20)
	if err != nil || len(m) != 20 {
		t.Fatal(len(m), err)
	}
	if n := adaptertest.BytesRead(t) - before; n > 16<<20 {
		t.Errorf("%d bytes were read for 20 messages", n)
	}
}
