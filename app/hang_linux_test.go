package app

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"rollcall/adapters"
	"rollcall/app/places"
	"rollcall/internal/agentname"
	"rollcall/internal/eventually"
	"rollcall/internal/must"
	"rollcall/internal/testfs"
	"rollcall/proc"
)

// hangingOwner is an agent that judges a process by a file, on a file system that may hang.
type hangingOwner struct {
	*agent
	file string
}

func (s *hangingOwner) OwnsProcess(p proc.Process) bool {
	if p.Comm == "stuck" {
		_, err := os.Stat(s.file)
		return err == nil
	}
	return p.Comm == "claude"
}

// A file system that does not answer holds up neither the net nor Run: an agent
// that starts meanwhile is noticed, a watched folder that is replaced as well, and
// what could not be judged is once it answers.
func TestNetWithAFileSystemThatHangs(t *testing.T) {
	behind := t.TempDir()
	for _, dir := range []string{"watched", "closed"} {
		must.Do(t, os.Mkdir(filepath.Join(behind, dir), 0o700))
	}
	mount := testfs.Mount(t, behind)
	good := filepath.Join(t.TempDir(), "good")
	must.Do(t, os.Mkdir(good, 0o700))

	a := &hangingOwner{&agent{name: agentname.ClaudeCode}, filepath.Join(mount.Path, "file")}
	must.Do(t, os.WriteFile(filepath.Join(behind, "file"), nil, 0o600))
	m := newMachine()
	core := New(Config{Adapters: []adapters.Adapter{a}, Table: m})
	r := newRunner(core)
	r.folders = must.Get(places.NewFolders[*source](nil))(t)
	defer r.folders.Close()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	r.ctx = ctx
	s := core.sources[0]
	r.findPlaces(s, &watchList{watch: []string{filepath.Join(mount.Path, "watched"), good}, lookedIn: []string{filepath.Join(mount.Path, "missing")}})
	r.watchPlaces(<-r.foundPlaces)
	s.unreadable = []*adapters.Problem{{Kind: adapters.ErrUnreadable, Path: filepath.Join(mount.Path, "closed")}}
	glance := func() pollResult {
		t.Helper()
		r.startPoll()
		select {
		case f := <-r.poll.results:
			r.poll.missing = f.missing
			r.poll.unreadable = f.unreadable
			r.poll.unjudged = f.unjudged
			return f
		case <-time.After(30 * time.Second):
			t.Fatal("the look does not end")
			return pollResult{}
		}
	}
	glance()

	mount.Hang(t)
	m.start(pid(1))
	m.change(pid(1), func(p *proc.Process) { p.Comm = "stuck" })
	m.start(pid(2))
	m.change(pid(2), func(p *proc.Process) { p.Comm = "claude" })
	must.Do(t, os.Rename(good, good+".old"))
	f := glance()
	if _, judged := f.owners[agentProcess{s, pid(1)}]; judged || !f.owners[agentProcess{s, pid(2)}] || len(f.unjudged) != 1 {
		t.Errorf("judged are %v, not judged %v", f.owners, f.unjudged)
	}
	moved := f.movedFolders
	for looks := 1; len(moved) == 0 && looks < 10; looks++ { // on a busy machine the answer can come after the first poll
		moved = glance().movedFolders
	}
	if !slices.Equal(moved, []string{good}) {
		t.Errorf("moved are %v", moved)
	}
	if len(f.missing[s]) != 1 || len(f.unreadable[s]) != 1 {
		t.Errorf("%v, %v: what does not answer is as it was", f.missing, f.unreadable)
	}

	r.findPlaces(s, &watchList{watch: []string{filepath.Join(mount.Path, "elsewhere")}}) // returns
	glance()                                                                             // what hangs is not asked for again

	mount.Answer(t)
	r.watchPlaces(<-r.foundPlaces)
	eventually.True(t, "the process to be judged", func() bool {
		f = glance()
		return f.owners[agentProcess{s, pid(1)}]
	})
	if len(f.unjudged) != 0 {
		t.Errorf("not judged: %v", f.unjudged)
	}
}
