package cli

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"rollcall/internal/adaptertest"
	"rollcall/internal/must"
)

// The real program follows the transcript of a session that works, until its
// process is gone.
func TestPeekFollowsARealTranscript(t *testing.T) {
	rec := adaptertest.Replay(t, "../../adapters/claudecode/testdata/recordings/claude-2.1.329-permission")
	const id = "9830e65d-07df-45de-a5ee-6ab6aa5d19f2"
	cmd := exec.CommandContext(t.Context(), program(t), "peek", id[:6], "--follow", "--json")
	cmd.Env = adaptertest.Env(rec)
	var errs strings.Builder
	cmd.Stderr = &errs
	out := must.Get(cmd.StdoutPipe())(t)
	must.Do(t, cmd.Start())
	lines := make(chan string, 100)
	go func() {
		defer close(lines)
		for s := bufio.NewScanner(out); s.Scan(); {
			lines <- s.Text()
		}
	}()
	next := func(what string, has ...string) time.Duration {
		t.Helper()
		began := time.Now()
		select {
		case line := <-lines:
			var m map[string]string
			if json.Unmarshal([]byte(line), &m) != nil {
				t.Fatalf("%s: %q", what, line)
			}
			for _, h := range has {
				if !strings.Contains(line, h) {
					t.Errorf("%s: %s has no %s", what, line, h)
				}
			}
		case <-time.After(20 * time.Second):
			t.Fatalf("no %s; %s", what, errs.String())
		}
		return time.Since(began)
	}
	next("prompt", `"role":"user"`, "need it")
	next("answer", "I will use Bash.")
	next("call", `"state":"running"`, "touch q.txt")

	transcript := filepath.Join(rec.Home, ".claude/projects/-home-dev-proj", id+".jsonl")
	add := func(text string) {
		t.Helper()
		f, err := os.OpenFile(transcript, os.O_APPEND|os.O_WRONLY, 0)
		if err == nil {
			_, err = f.WriteString(text)
			f.Close()
		}
		must.Do(t, err)
	}
	record := func(kind, uuid, content string) string {
		return fmt.Sprintf(`{"type":%q,"isSidechain":false,"uuid":%q,"timestamp":%q,"sessionId":%q,"message":{"role":%q,"id":"m-%s","content":%s}}`+"\n",
			kind, uuid, time.Now().UTC().Format(time.RFC3339Nano), id, kind, uuid, content)
	}
	result := record("user", "u1", `[{"type":"tool_result","tool_use_id":"toolu_2b7652b13eed4168060c095b","content":"ok"}]`)
	add(result[:100])                  // a record in two pieces
	time.Sleep(300 * time.Millisecond) // it prints nothing for the first piece, so that there is nothing to wait for
	add(result[100:])
	next("result", `"state":"done"`, "touch q.txt")
	add(record("user", "u2", `"what now?"`))
	took := next("prompt", "what now?")
	add(record("assistant", "u3", `[{"type":"text","text":"Done."}]`))
	next("answer", "Done.")
	t.Logf("a prompt was printed after %s", took)

	procs, err := filepath.Glob(filepath.Join(rec.ProcRoot, "[0-9]*"))
	if err != nil || len(procs) == 0 {
		t.Fatal(procs, err)
	}
	for _, p := range procs {
		must.Do(t, os.RemoveAll(p))
	}
	if line, more := <-lines; more {
		t.Errorf("after the end it printed %q", line)
	}
	if err := cmd.Wait(); err != nil || !strings.Contains(errs.String(), "the session ended") {
		t.Errorf("%v: %q", err, errs.String())
	}
}
