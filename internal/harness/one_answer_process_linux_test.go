package harness

import (
	"bytes"
	"context"
	"encoding/gob"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"testing"
	"time"

	"rollcall/adapters/all"
	"rollcall/app"
	"rollcall/internal/adaptertest/scene"
	"rollcall/internal/must"
	"rollcall/proc"
)

const (
	asOneAnswer = "one answer" // as process 1 of namespaces for TestOneAnswer
	asProcess   = "process"    // as one that answers once
	homeKey     = "ROLLCALL_ONE_ANSWER_HOME"
)

// freshEvery is the number of comparisons of which one is with a process too: its start costs about as much as a comparison.
const freshEvery = 5

// newCore returns a core that waits for its answers also while the machine does nothing for this test.
func newCore(home string, table proc.Lister, since time.Duration) *app.Core {
	cfg := all.Config{Home: home}
	list := all.New(table, cfg)
	for i, a := range list {
		if after := seenAfter[a.Name()]; after > 0 { // its clock is ahead, so that no comparison has to wait
			cfg.Now = func() time.Time { return time.Now().Add(after) }
			list[i] = all.New(table, cfg)[i]
		}
	}
	return app.New(app.Config{Adapters: list, Table: table, Since: since, Totals: true, Usage: true, Limit: time.Minute})
}

// askProcess starts a process that asks once, and returns its answer.
func askProcess(ctx context.Context, w *scene.Environment) (map[string]app.Session, error) {
	cmd := exec.CommandContext(ctx, "/proc/self/exe")
	cmd.Env = append(os.Environ(), stageKey+"="+asProcess, homeKey+"="+w.Home, "HOST_PROC="+w.Procs.Root(), "HOST_ETC="+w.Procs.Etc())
	var problems bytes.Buffer
	cmd.Stderr = &problems
	out, err := cmd.Output()
	if problems.Len() > 0 {
		err = errors.Join(err, errors.New(problems.String()))
	}
	if err != nil {
		return nil, fmt.Errorf("the process that asks once: %w", err)
	}
	return decode(bytes.NewReader(out))
}

// answerProcess is that process. It returns its exit code.
func answerProcess() int {
	snap := newCore(os.Getenv(homeKey), proc.Open(), app.All).Refresh(context.Background())
	if err := encode(os.Stdout, snap); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return 0
}

func encode(to io.Writer, s *app.Snapshot) error {
	var list []app.Session
	for x := range s.All() {
		list = append(list, *x)
	}
	return gob.NewEncoder(to).Encode(list)
}

func decode(from io.Reader) (map[string]app.Session, error) {
	var list []app.Session
	err := gob.NewDecoder(from).Decode(&list)
	out := map[string]app.Session{}
	for i := range list {
		out[keyOf(&list[i])] = list[i]
	}
	return out, err
}

// asSent returns an answer as it comes from another process.
func asSent(t testing.TB, s *app.Snapshot) map[string]app.Session {
	t.Helper()
	var sent bytes.Buffer
	must.Do(t, encode(&sent, s))
	list := must.Get(decode(&sent))(t)
	return list
}
