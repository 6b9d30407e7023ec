package launch

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"rollcall/adapters"
	"rollcall/app"
	"rollcall/app/store"
	"rollcall/internal/agentname"
	"rollcall/internal/must"
	"rollcall/proc"
)

// A clock that was set back keeps neither a record of the future for years nor a
// launch at its start.
func TestClockSetBack(t *testing.T) {
	s := newStage(t, &fake{})
	gone := proc.Identity{PID: 1 << 22, Start: 1}
	future := time.Now().Add(1000 * time.Hour)
	r := Record{ID: "l-1", Agent: agentname.ClaudeCode, Dir: s.dir, Process: gone, LaunchedAt: future, EndedAt: future}
	must.Do(t, s.records.Write(r.ID, r))
	for range 2 {
		if _, err := s.Sweep(t.Context(), nil); err != nil {
			t.Fatal(err)
		}
	}
	now := time.Now()
	r = s.only()
	if r.EndedAt.After(now) || now.Sub(r.EndedAt) > time.Minute {
		t.Errorf("it ended at %s", r.EndedAt)
	}
	r = Record{ID: "l-2", Agent: agentname.ClaudeCode, Dir: s.dir, Process: proc.Self(), LaunchedAt: future}
	if x := s.row(&r, now); x.Status != adapters.Unknown || strings.Contains(x.Evidence, "-") {
		t.Errorf("status %s: %s", x.Status, x.Evidence)
	}
	if due := r.due(now); !due.IsZero() {
		t.Errorf("it is looked at again at %s", due)
	}
}

// Files among the records that are none are reported once and set aside; nothing
// outside the folder is touched for their sake.
func TestForeignRecords(t *testing.T) {
	s := newStage(t, &fake{})
	precious := filepath.Join(s.state, "precious.json")
	must.Do(t, s.records.Make())
	long := time.Now().Add(-2 * Keep).Format(time.RFC3339)
	for path, text := range map[string]string{
		precious:             "{}",
		s.records.File("a"):  "null",
		s.records.File("b"):  `{"id":"../precious","ended_at":"` + long + `"}`,
		s.records.File("c"):  `{"id":"c","launched_at":"`, // cut short
		s.records.File("d"):  "",
		s.records.File("e"):  `[]`,
		s.records.File("l1"): `{"schema":9,"id":"l1","process":"of another form"}`,
	} {
		must.Do(t, os.WriteFile(path, []byte(text), 0o600))
	}
	// Whoever merely shows sessions sets them aside; who manages launches tells.
	s.Complete(agentname.ClaudeCode, nil)
	_, err := s.Sweep(t.Context(), nil)
	var d *store.DamagedError
	if !errors.As(err, &d) || strings.Count(err.Error(), "set aside") != 5 || !errors.Is(err, store.ErrNewer) {
		t.Errorf("said was %v", err)
	}
	_, err = s.Sweep(t.Context(), nil)
	if errors.As(err, &d) || !errors.Is(err, store.ErrNewer) {
		t.Errorf("said again was %v", err)
	}
	if _, err := os.Stat(precious); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(s.records.File("l1")); err != nil {
		t.Error(err)
	}
}

// A model is no way to hand the agent a switch, such as one that skips its
// questions.
func TestModelIsNoSwitch(t *testing.T) {
	for _, model := range []string{"--dangerously-skip-permissions", "-x", "a\nb", "a\x00", " "} {
		req := Request{Task: adapters.Task{Dir: t.TempDir(), Prompt: "p", Model: model}}
		if _, err := Prepare(&fake{}, req, nil); err == nil || !strings.Contains(err.Error(), "model") {
			t.Errorf("%q: %v", model, err)
		}
	}
}

// A prompt is read to its end or not at all.
func TestReadPrompt(t *testing.T) {
	if _, err := ReadPrompt(t.Context(), strings.NewReader(strings.Repeat("x", maxPrompt+1))); err == nil {
		t.Error("a part of a prompt was taken for all of it")
	}
	if text, err := ReadPrompt(t.Context(), strings.NewReader(strings.Repeat("x", maxPrompt))); err != nil || len(text) != maxPrompt {
		t.Errorf("%d bytes, %v", len(text), err)
	}
	if _, err := ReadPromptFile(t.Context(), filepath.Join(t.TempDir(), "none"), true); !errors.Is(err, os.ErrNotExist) {
		t.Error(err)
	}
	large := filepath.Join(t.TempDir(), "large")
	must.Do(t, errors.Join(os.WriteFile(large, nil, 0o600), os.Truncate(large, 1<<30)))
	if _, err := ReadPromptFile(t.Context(), large, true); err == nil || !strings.Contains(err.Error(), large+": the prompt is longer") {
		t.Error(err)
	}
}

// TestNoFile: what is not a regular file is refused at once, by each way to name a file: opening a pipe would wait for its other end.
func TestNoFile(t *testing.T) {
	dir := t.TempDir()
	pipe := filepath.Join(dir, "pipe")
	socket := filepath.Join(dir, "socket")
	folder := filepath.Join(dir, "folder")
	link := filepath.Join(dir, "link")
	l := must.Get(net.Listen("unix", socket))(t)
	defer l.Close()
	must.Do(t, errors.Join(syscall.Mkfifo(pipe, 0o600), os.Mkdir(folder, 0o700), os.Symlink(pipe, link)))
	for path, kind := range map[string]string{pipe: "a named pipe", link: "a named pipe", "/dev/fd/../../.." + pipe: "a named pipe", socket: "a socket", folder: "a folder", "/dev/zero": "a device"} {
		_, fromPrompt := ReadPromptFile(t.Context(), path, true)
		_, regular := ReadPromptFile(t.Context(), path, false)
		_, fromMatrix := LoadMatrix(t.Context(), path, &Options{})
		_, fromSpec := compose(&Request{Spec: path})
		_, fromFile := compose(&Request{Files: []string{path}})
		for _, err := range []error{fromPrompt, regular, fromMatrix, fromSpec, fromFile} {
			if err == nil || !strings.Contains(err.Error(), path+": it is "+kind+", not a regular file") {
				t.Errorf("%s: %v", path, err)
			}
		}
	}
}

// TestDescriptor: a prompt and a matrix may come from an open file, as <(command) of a shell is, and the read of a silent one ends.
func TestDescriptor(t *testing.T) {
	for _, c := range []struct {
		text string
		read func(ctx context.Context, path string) (string, error)
	}{
		{"a prompt", func(ctx context.Context, path string) (string, error) { return ReadPromptFile(ctx, path, true) }},
		{"prompt: a prompt\nmatrix:\n  - agent: codex\n", func(ctx context.Context, path string) (string, error) {
			m, err := LoadMatrix(ctx, path, &Options{})
			if err != nil {
				return "", err
			}
			return m.Request.Task.Prompt, nil
		}},
	} {
		r, w, err := os.Pipe()
		must.Do(t, err)
		path := fmt.Sprintf("/dev/fd/%d", r.Fd())
		ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
		if _, err := c.read(ctx, path); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("a pipe that nobody writes to: %v", err)
		}
		cancel()
		_ = w.Close()
		_ = r.Close()
		r, w, err = os.Pipe()
		if err != nil {
			t.Fatal(err)
		}
		_, _ = w.WriteString(c.text)
		_ = w.Close()
		if text, err := c.read(t.Context(), fmt.Sprintf("/dev/fd/%d", r.Fd())); err != nil || text != "a prompt" {
			t.Errorf("%q, %v", text, err)
		}
		_ = r.Close()
	}
}

// naming is an agent that names its sessions without reading them.
type naming struct{ *fake }

func (naming) Named(context.Context, string) ([]string, error) { return nil, nil }

// A launch that its agent does not list is found by the short id that is shown.
func TestFoundByItsBeginning(t *testing.T) {
	s := newStage(t, &fake{role: "mute"})
	r := s.start(nil).Record
	c := app.New(app.Config{Adapters: []adapters.Adapter{naming{s.fake}}, Table: s.table, Launches: s.Launches})
	if x, _, err := c.Find(t.Context(), r.ID[:6]); err != nil || x.ID != r.ID {
		t.Errorf("found %q, %v", x.ID, err)
	}
	if _, _, err := c.Find(t.Context(), "l-zzz"); !errors.Is(err, app.ErrNoSession) {
		t.Error(err)
	}
}
