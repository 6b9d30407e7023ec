package launch

import (
	"errors"
	"io/fs"
	"os"
	"strings"
	"testing"

	"rollcall/adapters"
	"rollcall/app/store"
	"rollcall/internal/must"
	"rollcall/proc"
)

func openFolder(path string) (*store.Dir, error) { return store.OpenDir(path) }

// guarded is the tests' agent with a password.
type guarded struct{ *fake }

func (g *guarded) Command(program string, t adapters.Task) (adapters.Command, error) {
	c, err := g.fake.Command(program, t)
	c.Set, c.Secret = []string{"FAKE_USER=opencode"}, adapters.Secret{Name: "FAKE_PASSWORD", Value: "hunter2"}
	return c, err
}

// The password of a launch is in its process's environment and a private file, for that process alone, until it ends.
func TestPassword(t *testing.T) {
	s := newStage(t, &fake{})
	plan, err := Prepare(&guarded{s.fake}, Request{Task: adapters.Task{Dir: s.dir, Prompt: "x"}}, append(s.env(), "FAKE_USER=me"))
	must.Do(t, err)
	started := must.Get(s.Start(t.Context(), plan, nil))(t)
	go func() { _, _ = started.Child.Wait() }()
	r := started.Record
	env, err := s.table.Env(r.Process)
	if text := strings.Join(env, "\n"); err != nil || !strings.Contains(text, "FAKE_PASSWORD=hunter2") || !strings.Contains(text, "FAKE_USER=opencode") || strings.Contains(text, "FAKE_USER=me") {
		t.Errorf("%v, %v", env, err)
	}
	info, err := os.Stat(s.secretFile(r.ID))
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", info, err)
	}
	if text, err := os.ReadFile(s.Folder() + "/" + r.ID + ".json"); err != nil || strings.Contains(string(text), "hunter2") {
		t.Errorf("the record is %s, %v", text, err)
	}
	if got := s.Password(r.Process); got != "hunter2" {
		t.Errorf("the password is %q", got)
	}
	for _, other := range []proc.Identity{proc.Self(), {PID: r.Process.PID, Start: r.Process.Start + 1}, {}} {
		if got := s.Password(other); got != "" {
			t.Errorf("process %+v has the password %q", other, got)
		}
	}
	must.Do(t, os.Chmod(s.secretFile(r.ID), 0o666))
	if got := s.Password(r.Process); got != "" {
		t.Errorf("a file that others can write to has the password %q", got)
	}
	s.signal(r.Process, proc.Kill)
	s.until("the end", func() bool { return !s.table.Alive(r.Process) })
	if _, err := s.Sweep(t.Context(), nil); err != nil {
		t.Fatal(err)
	}
	s.until("no password file", func() bool {
		if _, err := os.Stat(s.secretFile(r.ID)); errors.Is(err, fs.ErrNotExist) {
			return true
		}
		_, err := s.Sweep(t.Context(), nil)
		return err != nil
	})
	if got := s.Password(r.Process); got != "" {
		t.Errorf("after the end the password is %q", got)
	}
}
