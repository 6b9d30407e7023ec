package keep

import (
	"encoding/json"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"rollcall/app/owned/launch"
	"rollcall/app/self/instance"
	"rollcall/proc"
)

// asAsker is the stage in which the test binary sends the request of askKey to the keeper, as a program that is not Rollcall, and prints the
// first answer.
const (
	asAsker = "ask"
	askKey  = "ROLLCALL_KEEP_TEST_ASK"
	state   = "/tmp/home/.local/state/rollcall" // inside
)

func ask() {
	conn, err := net.Dial("unix", os.Args[1])
	if err != nil {
		fmt.Println(err)
		return
	}
	_, _ = io.WriteString(conn, os.Getenv(askKey)+"\n")
	_ = conn.SetReadDeadline(time.Now().Add(answerLimit))
	answer := make([]byte, 16<<10)
	n, err := conn.Read(answer)
	fmt.Println(string(answer[:n]), err)
}

// asked returns the keeper's answer to another process, in namespaces of its own.
func (w *world) asked(q request, namespaces uintptr) string {
	w.t.Helper()
	line, err := json.Marshal(q)
	w.check(err)
	cmd := exec.Command("/proc/self/exe", filepath.Join(state, claimName()+".sock"))
	cmd.Env = append(os.Environ(), stageKey+"="+asAsker, askKey+"="+string(line))
	cmd.SysProcAttr = &syscall.SysProcAttr{Cloneflags: namespaces}
	out, err := cmd.Output()
	w.check(err)
	return string(out)
}

// recorded writes the record of a launch that a process is about to hand to the keeper, and returns the process.
func (w *world) recorded(id string) (starter proc.Identity) {
	w.t.Helper()
	cmd := exec.Command("sleep", "600")
	w.check(cmd.Start())
	w.t.Cleanup(func() { _ = cmd.Process.Kill(); _ = cmd.Wait() })
	p, err := w.table.Find(cmd.Process.Pid)
	w.check(err)
	text, err := json.Marshal(launch.Record{ID: id, Agent: "codex", Starter: p.Identity, Host: proc.Host(), Space: proc.Space(), Dir: "/tmp/work", LaunchedAt: time.Now()})
	w.check(err)
	w.check(os.MkdirAll(state+"/launches", 0o700))
	w.write(state+"/launches/"+id+".json", string(text))
	return p.Identity
}

// TestStartForAnother: a process that can read the record of a launch, and reach the keeper, does not get its own program started in the
// place of the launch.
func TestStartForAnother(t *testing.T) {
	w := inWorld(t)
	if w == nil {
		return
	}
	w.done("fuse", "set", "/tmp/other", "--in", "1h", "--script", "true") // so that the keeper stays
	w.write("/tmp/evil.sh", "touch /tmp/evil\n")
	starter := w.recorded("l-0123456789")
	evil := proc.Command{Path: "/bin/sh", Args: []string{"/tmp/evil.sh"}, Dir: "/", Env: w.env, Output: "/tmp/evil.log"}
	for _, q := range []*startRequest{newStartRequest("l-0123456789", starter, &evil), newStartRequest("l-0123456789", proc.Self(), &evil), newStartRequest("l-0123456789", w.keepers()[0].Identity, &evil)} {
		if said := w.asked(request{Verb: verbStart, Start: q}, 0); !strings.Contains(said, errNotStarter.Error()) {
			t.Errorf("for %s: %s", q.Starter, said)
		}
	}
	var r launch.Record
	w.check(json.Unmarshal([]byte(w.read(state+"/launches/l-0123456789.json")), &r))
	if r.Starter != starter || !r.Process.IsZero() || w.read("/tmp/evil.log") != "" {
		t.Errorf("%+v", r)
	}
	if _, err := os.Lstat("/tmp/evil"); err == nil {
		t.Error("the program was started")
	}
	if n := strings.Count(w.log(), errNotStarter.Error()); n != 1 {
		t.Errorf("logged %d times: %s", n, w.log())
	}
}

// TestSandbox: a process in a sandbox of the same user has nothing done by the keeper, and neither replaces its webhook nor ends it.
func TestSandbox(t *testing.T) {
	w := inWorld(t)
	if w == nil {
		return
	}
	w.done("fuse", "set", "/tmp/other", "--in", "1h", "--script", "true")
	starter := w.recorded("l-0123456789")
	before := w.status()
	evil := proc.Command{Path: "/bin/touch", Args: []string{"/tmp/evil"}, Dir: "/", Env: w.env}
	for _, q := range []request{
		{Verb: verbStart, Start: newStartRequest("l-0123456789", starter, &evil)},
		{Verb: verbAttend, Webhook: &webhookRequest{URL: "http://127.0.0.1:9/", Secret: "x"}},
		{Verb: verbYield}, {Verb: verbHold}, {Verb: verbStatus},
	} {
		for _, namespaces := range []uintptr{syscall.CLONE_NEWNS, syscall.CLONE_NEWPID} {
			if said := w.asked(q, namespaces); !strings.Contains(said, instance.ErrOutside.Error()) {
				t.Errorf("%s: %s", q.Verb, said)
			}
		}
	}
	if after := w.status(); after != before {
		t.Errorf("%+v, was %+v", after, before)
	}
	if _, err := os.Lstat("/tmp/evil"); err == nil {
		t.Error("the program was started")
	}
	if n := strings.Count(w.log(), "a request was refused"); n != 2 { // each of the reasons
		t.Errorf("logged %d times: %s", n, w.log())
	}
}
