package keep

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"rollcall/proc"
)

// TestServer: on a machine without a desktop every promise is kept by a keeper that starts by itself, knows the exit
// code of an agent that ends long after the command, and ends by itself.
func TestServer(t *testing.T) {
	w := inWorld(t)
	if w == nil {
		return
	}
	type message struct {
		body      []byte
		signature string
	}
	told := make(chan message, 10)
	server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		told <- message{body, r.Header.Get("X-Hub-Signature-256")}
	}))
	defer server.Close()
	w.check(os.MkdirAll("/tmp/home/.config/rollcall", 0o700))
	w.write("/tmp/home/.config/rollcall/config.toml", "[webhook]\nurl = \""+server.URL+"\"\nsecret = \"s3cret\"\n")

	w.done("launch", "codex", "-p", "x", "--cwd", "/tmp/work", "--on-complete", `echo "$ROLLCALL_EXIT_CODE $ROLLCALL_SIGNAL" >> /tmp/hook`)
	w.done("fuse", "set", "/tmp/other", "--in", "1h", "--script", "echo fired >> /tmp/fuse")
	s := w.status()
	if !s.Running || s.Launches != 1 || s.Hooks != 1 || s.Fuses != 1 || s.Version != "1.2.3" {
		t.Errorf("%+v", s)
	}
	w.write("/tmp/clock", "1h1s")
	w.done("lock", "/tmp/home") // nothing of the keeper's
	w.done("fuse", "set", "/tmp/bin", "--in", "1h", "--script", "true")
	w.until("fuse", func() bool { return w.read("/tmp/fuse") == "fired\n" })
	w.done("fuse", "cancel", "/tmp/bin")
	w.write("/tmp/end", "7")
	w.until("hook", func() bool { return w.read("/tmp/hook") == "7 \n" })
	select {
	case m := <-told:
		mac := hmac.New(sha256.New, []byte("s3cret"))
		mac.Write(m.body)
		if m.signature != "sha256="+hex.EncodeToString(mac.Sum(nil)) {
			t.Errorf("signature %s", m.signature)
		}
		var p struct {
			ExitStatus *int `json:"exit_status"`
		}
		if json.Unmarshal(m.body, &p) != nil || p.ExitStatus == nil || *p.ExitStatus != 7 {
			t.Errorf("posted %s", m.body)
		}
	case <-time.After(time.Minute):
		t.Errorf("the webhook was not called\n%s", w.log())
	}
	if r := w.records(); len(r) != 1 || r[0].ExitCode == nil || *r[0].ExitCode != 7 {
		t.Errorf("records %+v", r)
	}
	if got := w.keepers(); len(got) != 1 || got[0].PID != s.PID {
		t.Errorf("keepers %+v", got)
	}
	w.write("/tmp/clock", "26h")
	w.done("fuse", "set", "/tmp/bin", "--in", "1h", "--script", "true") // so that a keeper runs, and goes on
	w.touchRecords()                                                    // so that it looks: its timer is not for the test's clock
	w.until("end of the records", func() bool { return len(w.records()) == 0 })
	w.done("fuse", "cancel", "/tmp/bin")
	w.until("end of the keeper", func() bool { return len(w.keepers()) == 0 })
	if w.done("keep", "--status") != "not running, and nothing to keep\n" {
		t.Error(w.done("keep", "--status"))
	}
	if w.read("/tmp/hook") != "7 \n" || w.read("/tmp/fuse") != "fired\n" {
		t.Errorf("twice: %q, %q", w.read("/tmp/hook"), w.read("/tmp/fuse"))
	}
}

// TestWait: launch --wait exits as docs/json.md says.
func TestWait(t *testing.T) {
	w := inWorld(t)
	if w == nil {
		return
	}
	for how, want := range map[string]int{"0": 0, "3": 11, "kill": 11} {
		w.write("/tmp/end", how)
		if code, said := w.run("launch", "codex", "-p", "x", "--cwd", "/tmp/work", "--wait"); code != want {
			t.Errorf("%s: exit code %d: %s", how, code, said)
		}
	}
	for _, r := range w.records() {
		if r.ExitCode == nil || (*r.ExitCode == 137) != (r.Signal == "SIGKILL") {
			t.Errorf("%+v", r)
		}
	}
	w.check(os.Remove("/tmp/end"))
	waiting := make(chan string)
	go func() {
		code, said := w.run("launch", "codex", "-p", "x", "--cwd", "/tmp/work", "--wait")
		waiting <- fmt.Sprintf("%d %s", code, said)
	}()
	w.until("launch", func() bool { return strings.Count(w.read("/tmp/started"), "\n") == 4 && w.status().Launches == 1 })
	w.kill(w.status().PID)
	w.done("list") // starts another keeper
	w.until("keeper", func() bool { return w.status().Running })
	w.write("/tmp/end", "0")
	if said := <-waiting; !strings.HasPrefix(said, "12 ") || !strings.Contains(said, "exit code is not known") {
		t.Error(said)
	}
}

// TestAttended: while watch runs, as while a tray does, a keeper that is killed is replaced by another without a further
// command, and with a webhook one runs although there is nothing else to keep.
func TestAttended(t *testing.T) {
	w := inWorld(t)
	if w == nil {
		return
	}
	watch := func() (end func()) {
		cmd := exec.Command(insideProgram, "watch", "--json")
		cmd.Env = w.env
		out, err := cmd.StdoutPipe() // without a reader watch ends
		w.check(err)
		w.check(cmd.Start())
		return func() {
			_ = cmd.Process.Signal(os.Interrupt)
			_, _ = io.Copy(io.Discard, out)
			_ = cmd.Wait()
		}
	}
	end := watch()
	w.done("fuse", "set", "/tmp/other", "--in", "1h", "--script", "true")
	for range 3 {
		first := w.status()
		w.kill(first.PID)
		w.until("next keeper", func() bool { k := w.keepers(); return len(k) == 1 && k[0].PID != first.PID && w.status().Running })
	}
	w.done("fuse", "cancel", "/tmp/other")
	w.until("end of the keeper", func() bool { return len(w.keepers()) == 0 })
	end()
	w.check(os.MkdirAll("/tmp/home/.config/rollcall", 0o700))
	w.write("/tmp/home/.config/rollcall/config.toml", "[webhook]\nurl = \"http://127.0.0.1:1/\"\n")
	end = watch()
	w.until("keeper for the webhook", func() bool { return strings.Contains(w.done("keep", "--status"), "; the webhook\n") })
	end()
	w.until("end of the keeper", func() bool { return len(w.keepers()) == 0 })
}

// TestOneKeeper: however many commands start a keeper at once, one runs.
func TestOneKeeper(t *testing.T) {
	w := inWorld(t)
	if w == nil {
		return
	}
	w.env = append(w.env, "ROLLCALL_WAIT=1h")
	var starting sync.WaitGroup
	for range 20 {
		starting.Go(func() {
			if code, said := w.run("keep", "--start"); code != 0 {
				t.Errorf("exit code %d: %s", code, said)
			}
		})
	}
	starting.Wait()
	w.until("one keeper", func() bool { return len(w.keepers()) == 1 })
	if code, said := w.run("keep"); code != 0 || !strings.Contains(said, "running already") {
		t.Errorf("%d %s", code, said)
	}
}

// TestRefused: what nothing would keep is not accepted.
func TestRefused(t *testing.T) {
	w := inWorld(t)
	if w == nil {
		return
	}
	w.check(os.MkdirAll("/tmp/home/.local/state/rollcall/"+claimName()+".lock", 0o700)) // in the way of the claim
	code, said := w.run("launch", "codex", "-p", "x", "--cwd", "/tmp/work", "--on-complete", "true")
	if code != 1 || !strings.Contains(said, "nothing would run its hooks") || len(w.records()) != 0 || w.read("/tmp/started") != "" {
		t.Errorf("launch with a hook: %d %s", code, said)
	}
	code, said = w.run("fuse", "set", "/tmp/work", "--in", "1s", "--script", "true")
	if code != 1 || !strings.Contains(said, "nothing would fire it") || w.done("fuse", "list") != "no fuse is set\n" {
		t.Errorf("fuse: %d %s", code, said)
	}
	code, said = w.run("launch", "codex", "-p", "x", "--cwd", "/tmp/work")
	if code != 0 || !strings.Contains(said, "exit code will not be known") {
		t.Errorf("launch: %d %s", code, said)
	}
	w.write("/tmp/end", "0")
}

// TestReplaced: a keeper whose program was replaced makes way at once, and still stores the exit codes of its children.
func TestReplaced(t *testing.T) {
	w := inWorld(t)
	if w == nil {
		return
	}
	w.done("launch", "codex", "-p", "x", "--cwd", "/tmp/work", "--on-complete", `echo "$ROLLCALL_EXIT_CODE" >> /tmp/hook`)
	old := w.status()
	w.check(os.RemoveAll("/tmp/run")) // as at a logout: the keeper is found all the same
	if s := w.status(); s.PID != old.PID {
		t.Errorf("after a logout: %+v", s)
	}
	w.check(copyFile(insideProgram, "/tmp/rollcall.new"))
	w.check(os.Rename("/tmp/rollcall.new", insideProgram))
	w.done("fuse", "set", "/tmp/other", "--in", "1s", "--script", "echo fired >> /tmp/fuse")
	now := w.status()
	if now.PID == old.PID || now.Launches != 1 || len(w.keepers()) != 2 {
		t.Errorf("the keeper was %+v and is %+v; there are %+v", old, now, w.keepers())
	}
	w.until("fuse", func() bool { return w.read("/tmp/fuse") == "fired\n" })
	w.write("/tmp/end", "9")
	w.until("hook", func() bool { return w.read("/tmp/hook") == "9\n" })
	w.until("end of the old keeper", func() bool { k := w.keepers(); return len(k) == 1 && k[0].PID == now.PID })
}

// TestKilled kills the keeper, or replaces its program, again and again under load, while a watch runs. Every hook and
// fuse runs exactly once, or is shown to have an unknown result; no agent is started twice, no lock is lost, and each end
// reaches the webhook under one delivery id. ROLLCALL_KEEP_ROUNDS is the number of rounds.
func TestKilled(t *testing.T) {
	w := inWorld(t)
	if w == nil {
		return
	}
	w.killed()
}

// killed is TestKilled, beside what runs already.
func (w *world) killed() {
	w.t.Helper()
	t, rounds := w.t, 6
	if n, err := strconv.Atoi(os.Getenv("ROLLCALL_KEEP_ROUNDS")); err == nil {
		rounds = n
	}
	ends := w.webhook()
	watch := w.watch()
	launched := 0
	for i := range rounds {
		dir := fmt.Sprintf("/tmp/work/%d", i)
		w.check(os.MkdirAll(dir, 0o700))
		if i%10 == 0 {
			locked := fmt.Sprintf("/tmp/work/lock%d", i)
			w.check(os.MkdirAll(locked, 0o700))
			w.done("lock", locked)
		}
		var load sync.WaitGroup
		load.Go(func() {
			code, _ := w.runWith([]string{fmt.Sprintf("AGENT=%d", i)}, "launch", "codex", "-p", "x", "--cwd", dir, "--on-complete", `echo "$ROLLCALL_CWD" >> /tmp/hook`)
			if code == 0 {
				launched++
			}
		})
		load.Go(func() { w.run("fuse", "set", dir, "--in", "50ms", "--script", `echo "$ROLLCALL_CWD" >> /tmp/fuse`) })
		load.Go(func() {
			<-time.After(time.Duration(rand.IntN(300)) * time.Millisecond)
			w.disturb(i)
		})
		load.Wait()
		w.run("list") // starts a keeper if none runs
		if n := len(w.keepers()); n > 2+i {
			t.Errorf("%d keepers", n)
		}
		w.write(fmt.Sprintf("/tmp/end%d", i), "4")
	}
	w.done("keep", "--start")
	w.until("end of everything", func() bool {
		s := w.status()
		return s.Launches == 0 && s.Fuses == 0
	})
	w.accounted()
	w.checkOnce()
	for i := 0; i < rounds; i += 10 {
		if code, said := w.run("launch", "codex", "-p", "x", "--cwd", fmt.Sprintf("/tmp/work/lock%d", i)); code == 0 || !strings.Contains(said, "lock") {
			t.Errorf("the lock of round %d is lost: exit code %d, %s", i, code, said)
		}
	}
	w.until("message of each end", func() bool { return ends.sessions() >= launched })
	ends.check(t)
	w.check(watch.Process.Kill())
	_ = watch.Wait()
}

// disturb kills the newest keeper, or replaces the program, as an update does.
func (w *world) disturb(round int) {
	w.t.Helper()
	if round%2 == 1 {
		w.check(copyFile(insideProgram, "/tmp/rollcall.new"))
		w.check(os.Rename("/tmp/rollcall.new", insideProgram))
		return
	}
	if k := w.keepers(); len(k) > 0 {
		w.kill(k[len(k)-1].PID)
	}
}

// received holds what the webhook was sent.
type received struct {
	mu  sync.Mutex
	ids map[string]map[string]bool // delivery ids, by launch
}

// webhook sets a webhook that notes what it is sent.
func (w *world) webhook() *received {
	w.t.Helper()
	r := &received{ids: map[string]map[string]bool{}}
	server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, req *http.Request) {
		var p struct {
			ID   string `json:"delivery_id"`
			Meta map[string]string
		}
		body, _ := io.ReadAll(req.Body)
		if err := json.Unmarshal(body, &p); err != nil {
			w.t.Errorf("posted %s: %v", body, err)
			return
		}
		r.mu.Lock()
		defer r.mu.Unlock()
		if r.ids[p.Meta["launch"]] == nil {
			r.ids[p.Meta["launch"]] = map[string]bool{}
		}
		r.ids[p.Meta["launch"]][p.ID] = true
	}))
	w.t.Cleanup(server.Close)
	w.check(os.MkdirAll("/tmp/home/.config/rollcall", 0o700))
	w.write("/tmp/home/.config/rollcall/config.toml", "[webhook]\nurl = \""+server.URL+"\"\n")
	return r
}

// sessions returns the number of launches of which a message came.
func (r *received) sessions() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return len(r.ids)
}

func (r *received) check(t *testing.T) {
	t.Helper()
	r.mu.Lock()
	defer r.mu.Unlock()
	for launch, ids := range r.ids {
		if len(ids) != 1 || launch == "" {
			t.Errorf("the end of launch %q was sent with the delivery ids %v", launch, ids)
		}
	}
}

// watch starts rollcall watch, which attends the keeper as a tray does.
func (w *world) watch() *exec.Cmd {
	w.t.Helper()
	cmd := exec.Command(insideProgram, "watch")
	cmd.Env = w.env
	w.check(cmd.Start())
	return cmd
}

// TestCrashes kills the keeper at each step of its own. No agent is started twice, no launch stays half done, and hooks
// and fuses run once or are told to have an unknown result.
func TestCrashes(t *testing.T) {
	w := inWorld(t)
	if w == nil {
		return
	}
	for i, point := range []string{"launch.taken", "launch.started", "launch.booked", "launch.exited", "launch.ended", "launch.hook.claimed", "fuse.claimed"} {
		w.until("end of the last keeper", func() bool {
			if k := w.keepers(); len(k) > 0 {
				w.kill(k[0].PID)
			}
			return len(w.keepers()) == 0
		})
		if code, said := w.runWith([]string{"ROLLCALL_FAULT=" + point}, "keep", "--start"); code != 0 {
			t.Fatalf("%s: %s", point, said)
		}
		doomed := w.status().PID
		_ = os.Remove("/tmp/end") // the agent runs until all is set
		dir := fmt.Sprintf("/tmp/work/%d", i)
		w.check(os.MkdirAll(dir, 0o700))
		code, said := w.run("launch", "codex", "-p", "x", "--cwd", dir, "--on-complete", `echo "$ROLLCALL_CWD" >> /tmp/hook`)
		if code == 0 && strings.Contains(said, "nothing was started") {
			t.Errorf("%s: %d %s", point, code, said)
		}
		w.run("fuse", "set", dir, "--in", "20ms", "--script", `echo "$ROLLCALL_CWD" >> /tmp/fuse`)
		w.write("/tmp/end", "4")
		w.until("death at "+point, func() bool { return !w.table.Alive(identity(w, doomed)) })
		w.done("list") // starts another keeper
		w.done("keep", "--start")
		w.until("end of everything after "+point, func() bool {
			s := w.status()
			if s.Launches > 0 && point == "launch.taken" { // its start may have been interrupted before the agent ran
				w.write("/tmp/clock", fmt.Sprintf("%dm", i+1))
			}
			return s.Launches == 0 && s.Fuses == 0
		})
		w.accounted()
	}
	w.checkOnce()
}

// identity returns the identity of a process, or the zero value if there is none.
func identity(w *world, pid int) proc.Identity {
	p, err := w.table.Find(pid)
	if err != nil {
		return proc.Identity{}
	}
	return p.Identity
}

// checkOnce checks that no agent was started twice, and that no hook and fuse ran twice.
func (w *world) checkOnce() {
	w.t.Helper()
	for _, path := range []string{"/tmp/hook", "/tmp/fuse", "/tmp/started"} {
		count := map[string]int{}
		for line := range strings.FieldsSeq(w.read(path)) {
			if count[line]++; count[line] > 1 {
				w.t.Errorf("%s: %s twice", path, line)
			}
		}
	}
}

// accounted checks that each hook has a result, or one that is told to be unknown: the process that ran the hook died.
func (w *world) accounted() {
	w.t.Helper()
	w.until("result of each hook", func() bool {
		for _, r := range w.records() {
			for _, h := range r.Hooks {
				if h.Result == "" && (h.RanAt.IsZero() || w.table.Alive(h.Runner)) {
					return false
				}
			}
		}
		return true
	})
}

// TestInstall: keep --install writes a unit and its link, and --uninstall removes exactly these.
func TestInstall(t *testing.T) {
	w := inWorld(t)
	if w == nil {
		return
	}
	said := w.done("keep", "--install")
	const unit = "/tmp/home/.config/systemd/user/rollcall-keep.service"
	const link = "/tmp/home/.config/systemd/user/default.target.wants/rollcall-keep.service"
	if to, err := os.Readlink(link); err != nil || to != unit || !strings.Contains(said, "enable-linger") || !strings.Contains(said, "~/.config/systemd/user/rollcall-keep.service") {
		t.Errorf("%s, %v: %s", to, err, said)
	}
	text := w.read(unit)
	for _, line := range []string{`ExecStart="/tmp/rollcall" keep`, "KillMode=process", "WantedBy=default.target"} {
		if !strings.Contains(text, line+"\n") {
			t.Errorf("no %s in %s", line, text)
		}
	}
	if verify, err := exec.LookPath("systemd-analyze"); err == nil { //nolint:misspell // the name of a program
		cmd := exec.Command(verify, "--user", "verify", unit)
		cmd.Env = w.env
		if out, err := cmd.CombinedOutput(); err != nil && strings.Contains(string(out), "rollcall-keep") {
			t.Errorf("%v: %s", err, out)
		}
	}
	if w.done("keep", "--install") != said || w.read(unit) != text {
		t.Error("the second time it did something else")
	}
	w.done("keep", "--uninstall")
	for _, path := range []string{unit, link} {
		if _, err := os.Lstat(path); !os.IsNotExist(err) {
			t.Errorf("%s: %v", path, err)
		}
	}
	if said := w.done("keep", "--uninstall"); said != "the keeper was not started at login\n" {
		t.Error(said)
	}
}
