package claudecode

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"rollcall/adapters"
	"rollcall/internal/adaptertest"
)

// Whenever time runs out, what runs is listed as it is; of the others those that were written last are, and the answer says how many are missing.
func TestTooManyTranscripts(t *testing.T) {
	const n = 60
	w := newFixture(t)
	p := w.start(filepath.Join(w.home, "proj"))
	w.entry(p, id(n), map[string]any{"status": "busy"})
	var ids []string
	for i := range n {
		path := w.transcript(i, promptLine("hi"), doneLine("m"))
		at := time.Now().Add(-time.Duration(i+1) * time.Hour)
		w.check(os.Chtimes(path, at, at))
		ids = append(ids, id(i))
	}
	adaptertest.CutShort(t, func() adapters.Adapter { return New(w.config) }, ids, "transcripts", func(roll *adapters.Roll, err error) {
		i := slices.IndexFunc(roll.Sessions, func(s adapters.Session) bool { return s.Process == p.Identity })
		if err != nil && strings.Contains(err.Error(), "process table") {
			return
		}
		if i < 0 || roll.Sessions[i].Status != adapters.Working && roll.Sessions[i].Status != adapters.Unknown {
			t.Errorf("what runs is not listed as working: %v", roll.Sessions)
		}
	})
}

// Of registry files that processes left behind all are read, after those of processes.
func TestTooManyRegistryFiles(t *testing.T) {
	const many = 1030
	w := newFixture(t)
	p := w.start(filepath.Join(w.home, "proj"))
	w.entry(p, id(0), map[string]any{"status": "busy"})
	dead := w.gone()
	for i := range many {
		path := w.path("sessions", fmt.Sprintf("%d.json", 1<<30+i))
		w.write(path, fmt.Sprintf(`{"pid":%d,"sessionId":%q,"version":"2.1.329","procStart":"%d","status":"busy"}`, 1<<30+i, id(i+1), dead.Start))
		at := time.Now().Add(-time.Duration(i+1) * time.Second)
		w.check(os.Chtimes(path, at, at))
	}
	sessions, roll, err := w.discover(adapters.Query{})
	if err != nil {
		t.Error(err)
	}
	w.expect(sessions, 0, "working")
	for i := range many {
		if _, listed := sessions[id(i+1)]; !listed {
			t.Errorf("session %d of the registry is missing", i)
		}
	}
	if skipped := roll.Skipped["registry file of an ended process that was not read"]; skipped != 0 {
		t.Errorf("%d skipped", skipped)
	}
}
