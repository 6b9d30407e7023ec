package launch

import (
	"path/filepath"
	"testing"
	"time"

	"rollcall/adapters"
	"rollcall/internal/agentname"
	"rollcall/internal/eventually"
	"rollcall/internal/must"
	"rollcall/internal/testfs"
	"rollcall/proc"
)

// While the folder of the records does not answer, the sessions of launches keep their launch, as it was read last.
func TestRecordsThatCannotBeRead(t *testing.T) {
	mount := testfs.Mount(t, t.TempDir())
	l := In(filepath.Join(mount.Path, "state"), proc.Open())
	r := Record{ID: "l-1", Agent: agentname.Codex, Session: "a", Process: proc.Self(), Seen: true, Dir: "/w", LaunchedAt: time.Now()}
	must.Do(t, l.records.Write(r.ID, r))
	s := adapters.Session{ID: "a", Agent: agentname.Codex, State: adapters.State{Status: adapters.Idle}, Owner: adapters.Owner{Process: proc.Self()}}
	launched := func() bool {
		more, of := l.Complete(agentname.Codex, []adapters.Session{s})
		x := of(&s)
		return len(more) == 0 && x != nil && x.ID == r.ID
	}
	if !launched() {
		t.Fatal("the session has no launch")
	}
	mount.Hang(t)
	if !launched() {
		t.Error("the session lost its launch")
	}
	if _, err := l.List(); err == nil {
		t.Error("the records can be read")
	}
	mount.Answer(t)
	eventually.True(t, "the records", func() bool {
		list, err := l.List()
		return err == nil && len(list) == 1
	})
	must.Do(t, l.records.Remove(r.ID))
	if launched() {
		t.Error("the session has a launch whose record was removed")
	}
}
