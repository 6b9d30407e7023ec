package keep

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// TestWaitWithoutKeeper: the keeper is killed, and nobody but the waiting command is there to start another.
func TestWaitWithoutKeeper(t *testing.T) {
	w := inWorld(t)
	if w == nil {
		return
	}
	waiting := make(chan string)
	go func() {
		code, said := w.run("launch", "codex", "-p", "x", "--cwd", "/tmp/work", "--wait")
		waiting <- fmt.Sprintf("%d %s", code, said)
	}()
	w.until("launch", func() bool { return w.read("/tmp/started") != "" && w.status().Launches == 1 })
	w.kill(w.keepers()[0].PID)
	w.write("/tmp/end", "0")
	if said := <-waiting; !strings.HasPrefix(said, "12 ") {
		t.Error(said)
	}
}

// inside runs the program as on a machine with another name, with the same process table unless space is set.
func (w *world) inside(space bool, args ...string) {
	w.t.Helper()
	flags := uintptr(syscall.CLONE_NEWUTS)
	script := "hostname other && exec \"$@\""
	if space {
		flags |= syscall.CLONE_NEWPID | syscall.CLONE_NEWNS
		// A shell stays, so that what the program started goes on.
		script = "hostname other && mount -t proc proc /proc && \"$@\" && sleep 3"
	}
	cmd := exec.Command("sh", append([]string{"-c", script, "sh", insideProgram}, args...)...)
	cmd.Env = w.env
	cmd.SysProcAttr = &syscall.SysProcAttr{Cloneflags: flags}
	if out, err := cmd.CombinedOutput(); err != nil {
		w.t.Fatalf("%v: %s", err, out)
	}
}

// TestOtherName: after a change of the host's name the keeper is the same. A shell that completes a word starts none.
func TestOtherName(t *testing.T) {
	w := inWorld(t)
	if w == nil {
		return
	}
	w.done("launch", "codex", "-p", "x", "--cwd", "/tmp/work")
	w.inside(false, "list")
	w.inside(false, "keep", "--start")
	if n := len(w.keepers()); n != 1 {
		t.Errorf("%d keepers", n)
	}
	w.kill(w.keepers()[0].PID)
	w.done("__complete", "list", "")
	if n := len(w.keepers()); n != 0 {
		t.Errorf("%d keepers", n)
	}
}

// TestLaunchOfAnotherMachine: a machine or container that shares the state folder does not end what it can't see.
func TestLaunchOfAnotherMachine(t *testing.T) {
	w := inWorld(t)
	if w == nil {
		return
	}
	w.done("launch", "codex", "-p", "x", "--cwd", "/tmp/work", "--on-complete", "hostname >> /tmp/hook")
	w.inside(true, "list")
	w.inside(true, "keep", "--start")
	if r := w.records(); len(r) != 1 || !r[0].EndedAt.IsZero() || w.read("/tmp/hook") != "" {
		t.Errorf("records %+v, hook %q", r, w.read("/tmp/hook"))
	}
	w.write("/tmp/end", "0")
	w.until("hook", func() bool { return w.read("/tmp/hook") != "" })
	if name, err := os.Hostname(); err != nil || strings.TrimSpace(w.read("/tmp/hook")) != name {
		t.Errorf("hook on %q, want %q, %v", w.read("/tmp/hook"), name, err)
	}
}

// TestWebhookIsSetLater: the keeper runs already when the user sets a webhook, and again when the user changes it. Both a
// keeper that goes on and one that takes the place of a killed one use the settings as they are.
func TestWebhookIsSetLater(t *testing.T) {
	w := inWorld(t)
	if w == nil {
		return
	}
	paths := make(chan string, 10)
	server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { paths <- r.URL.Path }))
	defer server.Close()
	set := func(path string) {
		w.write("/tmp/home/.config/rollcall/config.toml", "[webhook]\nurl = \""+server.URL+path+"\"\n")
	}
	launch := func(name string) (end func()) {
		dir := "/tmp/work/" + name
		w.check(os.MkdirAll(dir, 0o700))
		code, said := w.runWith([]string{"AGENT=" + name}, "launch", "codex", "-p", "x", "--cwd", dir)
		if code != 0 {
			t.Fatal(said)
		}
		return func() { w.write("/tmp/end"+name, "0") }
	}
	first := launch("first")
	keeper := w.status().PID
	w.check(os.MkdirAll("/tmp/home/.config/rollcall", 0o700))
	set("/first")
	cmd := exec.Command(insideProgram, "watch")
	cmd.Env = w.env
	_, err := cmd.StdoutPipe() // without a reader watch ends
	w.check(err)
	w.check(cmd.Start())
	defer func() { _ = cmd.Process.Kill(); _ = cmd.Wait() }()
	w.until("keeper that is attended", func() bool { return w.status().Webhook })
	if s := w.status(); s.PID != keeper {
		t.Errorf("another keeper, %d instead of %d", s.PID, keeper)
	}
	first()
	if path := <-paths; path != "/first" {
		t.Error(path)
	}
	second := launch("second")
	set("/second")
	w.kill(keeper)
	w.until("another keeper that is attended", func() bool { s := w.status(); return s.Running && s.PID != keeper && s.Webhook })
	second()
	if path := <-paths; path != "/second" {
		t.Error(path)
	}
	third := launch("third")
	set("/third")
	third()
	if path := <-paths; path != "/third" {
		t.Error(path)
	}
}

// TestWebhookOfTheEnvironment: the keeper runs already, with another environment, when a watch is started that has the
// webhook in its own.
func TestWebhookOfTheEnvironment(t *testing.T) {
	w := inWorld(t)
	if w == nil {
		return
	}
	signatures := make(chan string, 1)
	server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { signatures <- r.Header.Get("X-Signature") }))
	defer server.Close()
	w.done("launch", "codex", "-p", "x", "--cwd", "/tmp/work")
	keeper := w.status().PID
	cmd := exec.Command(insideProgram, "watch")
	cmd.Env = append(append([]string{}, w.env...), "ROLLCALL_WEBHOOK_URL="+server.URL, "ROLLCALL_WEBHOOK_SECRET=s3cret")
	_, err := cmd.StdoutPipe()
	w.check(err)
	w.check(cmd.Start())
	defer func() { _ = cmd.Process.Kill(); _ = cmd.Wait() }()
	w.until("keeper that is attended", func() bool { return w.status().Webhook })
	w.write("/tmp/end", "0")
	if s := <-signatures; !strings.HasPrefix(s, "sha256=") || w.status().PID != keeper {
		t.Errorf("signature %q, keeper %d, was %d", s, w.status().PID, keeper)
	}
}

// TestWebhookAcrossKeepers kills the keeper at each step of a message. Each end is sent with one id; it is sent twice only if
// the keeper was killed right after the server took it.
func TestWebhookAcrossKeepers(t *testing.T) {
	w := inWorld(t)
	if w == nil {
		return
	}
	type message struct {
		SessionID, DeliveryID string
		Late                  bool
		Meta                  map[string]string
	}
	told := make(chan message, 10)
	server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		var m struct {
			SessionID  string `json:"session_id"`
			DeliveryID string `json:"delivery_id"`
			Late       bool
			Meta       map[string]string
		}
		if err := json.NewDecoder(r.Body).Decode(&m); err != nil {
			t.Error(err)
		}
		told <- message{m.SessionID, m.DeliveryID, m.Late, m.Meta}
	}))
	defer server.Close()
	w.check(os.MkdirAll("/tmp/home/.config/rollcall", 0o700))
	w.write("/tmp/home/.config/rollcall/config.toml", "[webhook]\nurl = \""+server.URL+"\"\n")
	none := func() bool {
		if k := w.keepers(); len(k) > 0 {
			w.kill(k[0].PID)
		}
		return len(w.keepers()) == 0
	}
	for i, point := range []string{"", "webhook.made", "webhook.stored", "webhook.sent"} {
		w.until("end of the last keeper", none)
		_ = os.Remove("/tmp/end") // the agent runs until all is set
		if code, said := w.runWith([]string{"ROLLCALL_FAULT=" + point}, "keep", "--start"); code != 0 {
			t.Fatalf("%s: %s", point, said)
		}
		doomed := identity(w, w.status().PID)
		dir := fmt.Sprintf("/tmp/work/%d", i)
		w.check(os.MkdirAll(dir, 0o700))
		w.done("launch", "codex", "-p", "x", "--cwd", dir)
		if point == "" { // no keeper notices the end
			w.kill(doomed.PID)
		}
		w.write("/tmp/end", "4")
		w.until("death at "+point, func() bool { return !w.table.Alive(doomed) })
		if point == "" {
			w.until("end of the agent", func() bool { return w.agents() == 0 })
		}
		w.done("keep", "--start")
		first := <-told
		if wantLate := point == "" || point == "webhook.made"; first.Late != wantLate || first.DeliveryID == "" || first.Meta["launch"] == "" {
			t.Errorf("%q: %+v", point, first)
		}
		if point == "webhook.sent" {
			if again := <-told; again.DeliveryID != first.DeliveryID || again.SessionID != first.SessionID {
				t.Errorf("%+v, then %+v", first, again)
			}
		}
		w.until("rest", func() bool { return len(w.spooled()) == 0 })
	}
	select {
	case m := <-told:
		t.Errorf("once more: %+v", m)
	default:
	}
}

// agents returns the number of agents that run.
func (w *world) agents() (n int) {
	w.t.Helper()
	list, err := w.table.List(w.t.Context())
	w.check(err)
	for _, p := range list {
		if line, err := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", p.PID)); err == nil && strings.Contains(string(line), "/tmp/bin/codex") {
			n++
		}
	}
	return n
}

// spooled returns the files of messages that have not been delivered.
func (w *world) spooled() []string {
	w.t.Helper()
	files, err := filepath.Glob("/tmp/home/.local/state/rollcall/webhook/d-*.json")
	w.check(err)
	return files
}

// TestMetrics: with metrics in the settings a keeper runs beside a watch. It serves them on loopback by the machine's own
// name alone, and replaces the file.
func TestMetrics(t *testing.T) {
	w := inWorld(t)
	if w == nil {
		return
	}
	w.check(os.MkdirAll("/tmp/home/.config/rollcall", 0o700))
	w.write("/tmp/home/.config/rollcall/config.toml", "[metrics]\nlisten = \"127.0.0.1:9417\"\ntextfile = \"/tmp/rollcall.prom\"\n")
	cmd := exec.Command(insideProgram, "watch")
	cmd.Env = w.env
	_, err := cmd.StdoutPipe()
	w.check(err)
	w.check(cmd.Start())
	defer func() { _ = cmd.Process.Kill(); _ = cmd.Wait() }()
	w.until("keeper for the metrics", func() bool { return strings.Contains(w.done("keep", "--status"), "the metrics") })
	get := func(path, host string) (int, string) {
		req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://127.0.0.1:9417"+path, nil)
		w.check(err)
		req.Host = host
		resp, err := http.DefaultClient.Do(req)
		if err != nil {
			return 0, err.Error()
		}
		defer func() { _ = resp.Body.Close() }()
		text, err := io.ReadAll(resp.Body)
		w.check(err)
		return resp.StatusCode, string(text)
	}
	w.until("file and server", func() bool {
		code, _ := get("/metrics", "")
		return code == 200 && strings.Contains(w.read("/tmp/rollcall.prom"), "rollcall_keeper_memory_bytes ")
	})
	w.done("launch", "codex", "-p", "x", "--cwd", "/tmp/work")
	w.write("/tmp/end", "0")
	w.until("end in the metrics", func() bool {
		_, text := get("/metrics", "localhost:9417")
		return strings.Contains(text, "rollcall_ends_total{outcome=\"unknown\"} 1\n") || strings.Contains(text, "rollcall_ends_total{outcome=\"died\"} 1\n")
	})
	for _, c := range []struct {
		path, host string
		code       int
	}{{"/metrics", "evil.example", 403}, {"/", "", 404}, {"/metrics", "[::1]:9417", 200}} {
		if code, text := get(c.path, c.host); code != c.code {
			t.Errorf("%+v: %d %s", c, code, text)
		}
	}
	w.check(cmd.Process.Kill())
	w.write("/tmp/clock", "25h") // the launch's record expires
	w.touchRecords()             // so that the keeper looks: its timer is not for the test's clock
	w.until("end of the keeper", func() bool { return len(w.keepers()) == 0 })
	if w.read("/tmp/rollcall.prom") != "" {
		t.Error("the file is still there")
	}
}

// TestOtherNetwork: a command in another network, or with other files, starts the agent there and says so. The keeper still
// records its end and runs its hooks; if the command waits, the exit code is known.
func TestOtherNetwork(t *testing.T) {
	w := inWorld(t)
	if w == nil {
		return
	}
	w.done("keep", "--start")
	w.write("/tmp/bin/codex", "#!/bin/sh\nreadlink /proc/self/ns/net > /tmp/network\nexit 3\n")
	w.check(os.Chmod("/tmp/bin/codex", 0o700))
	own, err := os.Readlink("/proc/self/ns/net")
	w.check(err)
	for i, flags := range []uintptr{0, syscall.CLONE_NEWNET, syscall.CLONE_NEWNET | syscall.CLONE_NEWNS} {
		cmd := exec.Command(insideProgram, "launch", "codex", "-p", "x", "--cwd", "/tmp/work", "--wait", "--on-complete", `echo "$ROLLCALL_EXIT_CODE" >> /tmp/hook`)
		cmd.Env = w.env
		cmd.SysProcAttr = &syscall.SysProcAttr{Cloneflags: flags}
		out, _ := cmd.CombinedOutput()
		if cmd.ProcessState.ExitCode() != 11 || !strings.Contains(string(out), "exit code 3") {
			t.Fatalf("%s", out)
		}
		there := strings.TrimSpace(w.read("/tmp/network"))
		if apart := flags != 0; apart == (there == own) || apart != strings.Contains(string(out), "it does not share the keeper's") {
			t.Errorf("in %s, the keeper in %s: %s", there, own, out)
		}
		w.until("hook", func() bool { return strings.Count(w.read("/tmp/hook"), "\n") == i+1 })
	}
	if w.read("/tmp/hook") != "3\n3\n3\n" {
		t.Errorf("%q", w.read("/tmp/hook"))
	}
}

// TestFuseOfAnotherMachine: a machine or container that shares the state folder neither fires a fuse of this one nor removes
// a lock of it.
func TestFuseOfAnotherMachine(t *testing.T) {
	w := inWorld(t)
	if w == nil {
		return
	}
	w.done("launch", "codex", "-p", "x", "--cwd", "/tmp/work")
	w.done("fuse", "set", "/tmp/other", "--in", "1h", "--script", "hostname >> /tmp/fuse")
	w.kill(w.status().PID)
	w.write("/tmp/clock", "2h")
	w.inside(true, "keep", "--start") // and stays for 3 s
	if text := w.read("/tmp/fuse"); text != "" {
		t.Errorf("the fuse was fired on %q", text)
	}
	w.inside(true, "prune", "--yes")
	if said := w.done("locks"); !strings.Contains(said, "/tmp/work") {
		t.Errorf("the lock is gone: %s", said)
	}
	name, err := os.Hostname()
	w.check(err)
	w.until("fuse", func() bool { return strings.TrimSpace(w.read("/tmp/fuse")) == name })
	w.write("/tmp/end", "0")
}
