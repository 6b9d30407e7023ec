package proc

import (
	"os"
	"os/exec"
	"testing"

	"rollcall/internal/must"
)

// TestMade: a process has made a pipe of which it has both ends, and none that its parent has as well.
func TestMade(t *testing.T) {
	table := openOwn()
	r, w, err := os.Pipe()
	must.Do(t, err)
	defer func() { r.Close(); w.Close() }()
	pipe := must.Get(r.Stat())(t)
	self := must.Get(table.Find(os.Getpid()))(t)
	if at, err := table.Made(self); err != nil || at.IsZero() || at.After(pipe.ModTime()) || at.Before(self.Started) {
		t.Errorf("made at %v (%v), want between %v and %v", at, err, self.Started, pipe.ModTime())
	}

	child := exec.Command("cat")
	child.ExtraFiles = []*os.File{r, w}
	in := must.Get(child.StdinPipe())(t)
	must.Do(t, child.Start())
	defer func() { in.Close(); _ = child.Wait() }()
	p := must.Get(table.Find(child.Process.Pid))(t)
	if at, err := table.Made(p); err != nil || !at.IsZero() {
		t.Errorf("a process with the pipes of its parent made something at %v (%v)", at, err)
	}
}
