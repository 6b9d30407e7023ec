package keep

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"rollcall/internal/testfs"
)

// TestFullDisk: while the disk with the state is full nothing is lost, done twice or tried without a pause; what became
// due is done once when there is space again. ROLLCALL_FULL_DISK is how long it stays full (make full-disk: an hour).
func TestFullDisk(t *testing.T) {
	w := inWorld(t)
	if w == nil {
		return
	}
	long, _ := time.ParseDuration(os.Getenv("ROLLCALL_FULL_DISK"))
	var posts atomic.Int32
	server := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { posts.Add(1) }))
	defer server.Close()
	const state = "/tmp/home/.local/state"
	w.check(os.MkdirAll(state, 0o700))
	w.check(syscall.Mount("tmpfs", state, "tmpfs", 0, "size=512k,mode=0700"))
	disk := &testfs.Disk{Path: state}
	w.check(os.MkdirAll("/tmp/home/.config/rollcall", 0o700))
	w.write("/tmp/home/.config/rollcall/config.toml", "[webhook]\nurl = \""+server.URL+"\"\n")

	const launches = 3
	for i := range launches {
		dir := fmt.Sprintf("/tmp/work/%d", i)
		w.check(os.MkdirAll(dir, 0o700))
		w.done("launch", "codex", "-p", "x", "--cwd", dir, "--on-complete", `echo "$ROLLCALL_EXIT_CODE" >> /tmp/hook`)
	}
	w.done("lock", "/tmp/bin")
	before := w.status()
	w.done("fuse", "set", "/tmp/other", "--in", "2s", "--script", "echo fired >> /tmp/fuse")
	free := disk.KeepFull(t)
	w.write("/tmp/end", "7")
	w.until("trouble", func() bool { return strings.Contains(w.done("keep", "--status"), "disk full") })
	for _, args := range [][]string{{"launch", "codex", "-p", "y", "--cwd", "/tmp/run"}, {"lock", "/tmp/run"}, {"fuse", "set", "/tmp/run", "--in", "1h", "--script", "true"}} {
		if code, said := w.run(args...); code == 0 || !strings.Contains(said, "full") && !strings.Contains(said, "no space") {
			t.Errorf("%v with a full disk: exit code %d, %s", args, code, said)
		}
	}
	cpu := w.cpu(before.PID)
	time.Sleep(long) // the disk stays full
	if w.status().PID != before.PID {
		t.Errorf("another keeper: %+v, before %+v", w.status(), before)
	}
	fmt.Fprintf(os.Stderr, "the disk was full for %v: the keeper used %v, its log has %d bytes\n", long, w.cpu(before.PID)-cpu, len(w.log()))
	if n := strings.Count(w.log(), "\n"); n > 100+10*int(long.Minutes()) {
		t.Errorf("%d lines in the log", n)
	}
	if used := w.cpu(before.PID) - cpu; long >= time.Minute && used > long/200 {
		t.Errorf("the keeper used %v in %v", used, long)
	}
	if got := w.read("/tmp/fuse"); got != "" {
		t.Errorf("with a full disk the fuse wrote %q", got) // a hook may have run before the disk was full
	}
	free()
	w.until("fuse and hooks", func() bool {
		return w.read("/tmp/fuse") == "fired\n" && w.read("/tmp/hook") == strings.Repeat("7\n", launches) && posts.Load() >= launches
	})
	for _, r := range w.records() {
		if r.ExitCode == nil || *r.ExitCode != 7 || r.EndedAt.IsZero() {
			t.Errorf("record %+v", r)
		}
	}
	if code, said := w.run("launch", "codex", "-p", "x", "--cwd", "/tmp/bin"); code == 0 || !strings.Contains(said, "lock") {
		t.Errorf("the lock is lost: exit code %d, %s", code, said)
	}
	if code, said := w.runWith([]string{"AGENT=2"}, "launch", "codex", "-p", "x", "--cwd", "/tmp/run", "--on-complete", "echo last >> /tmp/hook"); code != 0 {
		t.Fatal(said)
	}
	w.write("/tmp/end2", "0") // the keeper looks at everything again
	w.until("last hook", func() bool { return strings.HasSuffix(w.read("/tmp/hook"), "last\n") })
	if got := w.read("/tmp/hook"); got != strings.Repeat("7\n", launches)+"last\n" || w.read("/tmp/fuse") != "fired\n" {
		t.Errorf("hooks %q, fuse %q", got, w.read("/tmp/fuse"))
	}
	w.until("post", func() bool { return posts.Load() > launches })
	if n := posts.Load(); n > launches+1 {
		t.Errorf("%d posts for %d launches", n, launches+1)
	}
}

// cpu returns how much processor time a process has used.
func (w *world) cpu(pid int) time.Duration {
	w.t.Helper()
	stat := w.read(fmt.Sprintf("/proc/%d/stat", pid))
	fields := strings.Fields(stat[strings.LastIndexByte(stat, ')')+1:])
	if len(fields) < 13 {
		w.t.Fatalf("process %d: %q", pid, stat)
	}
	user, err := strconv.Atoi(fields[11])
	w.check(err)
	system, err := strconv.Atoi(fields[12])
	w.check(err)
	return time.Duration(user+system) * 10 * time.Millisecond // USER_HZ is 100
}
