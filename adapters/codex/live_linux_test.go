package codex

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"rollcall/adapters"
	"rollcall/internal/adaptertest"
	"rollcall/internal/must"
)

// A session lives as long as a real process holds its rollout, and dies with it.
func TestLifeOfAProcess(t *testing.T) {
	home := home(t)
	path := write(t, rolloutPath(home, threadA), newScript(threadA, "0.142.5").turn("a", "x").text())
	a := atNow(home)
	want(t, look(t, a, home, adapters.Query{})[threadA], adapters.Stopped, adapters.Completed, 0)

	p := startCodex(t, "codex", nil).do("open", path)
	pid := p.cmd.Process.Pid
	want(t, look(t, a, home, adapters.Query{})[threadA], adapters.Idle, adapters.Completed, pid)

	more := scriptAt(time.Now(), threadA, "0.142.5").start("b").prompt("y")
	appendTo(t, path, strings.Join(more.lines[1:], "\n")+"\n")
	s := look(t, a, home, adapters.Query{})[threadA]
	want(t, s, adapters.Working, "", pid)
	if s.FirstPrompt != "x" || s.LastPrompt != "y" || s.Shared {
		t.Errorf("prompts %q and %q, shared %v", s.FirstPrompt, s.LastPrompt, s.Shared)
	}
	p.kill()
	want(t, look(t, a, home, adapters.Query{})[threadA], adapters.Stopped, adapters.Died, 0)
}

func appendTo(t *testing.T, path, text string) {
	t.Helper()
	f, err := os.OpenFile(path, os.O_APPEND|os.O_WRONLY, 0)
	must.Do(t, err)
	defer f.Close()
	must.Get(f.WriteString(text))(t)
}

// Who holds a thread: its lock's owner; nobody, when the lock file is all that is
// left; and not a process that only reads the rollout while it keeps locks of
// its own, nor the sandbox around a command, whatever it has inherited.
func TestWhoHoldsAThread(t *testing.T) {
	home := home(t)
	for _, id := range []string{threadA, threadB, threadC} {
		write(t, rolloutPath(home, id), newScript(id, "0.169.0").turn("a", "x").text())
	}
	write(t, lockPath(t, home, threadC), "") // left behind
	p := startCodex(t, "codex", nil)
	p.do("lock", lockPath(t, home, threadA)).do("read", rolloutPath(home, threadB))
	sandbox := startCodex(t, "codex", nil)
	sandbox.kill()
	sandbox.cmd = exec.Command(sandbox.cmd.Path)
	sandbox.cmd.Args = []string{"codex-linux-sandbox", "--", "sleep"}
	sandbox.cmd.Env = []string{"CODEX_TEST_ROLE=codex", "GORACE=atexit_sleep_ms=0"}
	sandbox = runDouble(t, sandbox.cmd)
	sandbox.do("open", rolloutPath(home, threadC))

	sessions := look(t, atNow(home), home, adapters.Query{})
	want(t, sessions[threadA], adapters.Idle, adapters.Completed, p.cmd.Process.Pid)
	want(t, sessions[threadB], adapters.Stopped, adapters.Completed, 0)
	want(t, sessions[threadC], adapters.Stopped, adapters.Completed, 0)
}

// Two threads in one process, neither the other's sub-agent: it must not be
// signalled for one of them.
func TestSharedProcess(t *testing.T) {
	home := home(t)
	p := startCodex(t, "codex", nil)
	for _, id := range []string{threadA, threadB} {
		p.do("open", write(t, rolloutPath(home, id), newScript(id, "0.142.5").turn("a", "x").text()))
	}
	for id, s := range look(t, atNow(home), home, adapters.Query{}) {
		if !s.Shared {
			t.Errorf("%s: not shared", id)
		}
	}
	server := startCodex(t, "codex", nil, "app-server")
	server.do("open", write(t, rolloutPath(home, threadC), newScript(threadC, "0.142.5").turn("a", "x").text()))
	if s := look(t, atNow(home), home, adapters.Query{})[threadC]; !s.Shared || s.Process.PID != server.cmd.Process.Pid {
		t.Errorf("thread of an editor's server: shared %v, process %d", s.Shared, s.Process.PID)
	}
}

// A call that asks to leave the sandbox: running while a process of it runs,
// else, once it had the time to start, waiting for permission.
func TestApprovalByProcesses(t *testing.T) {
	home := home(t)
	p := startCodex(t, "codex", nil)
	script := scriptAt(time.Now().UTC(), threadA, "0.169.0").atOnce().start("a").context("gpt-5.5").prompt("x").
		call("c", `{"cmd":"make","sandbox_permissions":"require_escalated"}`)
	p.do("open", write(t, rolloutPath(home, threadA), script.text()))
	pid := p.cmd.Process.Pid
	a := atNow(home)
	a.Now = func() time.Time { return script.at }
	want(t, look(t, a, home, adapters.Query{})[threadA], adapters.Working, "", pid)

	a.Now = func() time.Time { return script.at.Add(time.Minute) }
	s := look(t, a, home, adapters.Query{})[threadA]
	if s.WaitingFor != adapters.ForPermission {
		t.Errorf("%s %s (%s), want it to wait for permission", s.Status, s.WaitingFor, s.Evidence)
	}
	p.do("run", threadB) // another thread's
	if s := look(t, a, home, adapters.Query{})[threadA]; s.WaitingFor != adapters.ForPermission {
		t.Errorf("%s %s (%s), want it to wait for permission", s.Status, s.WaitingFor, s.Evidence)
	}
	p.do("run", threadA)
	want(t, look(t, a, home, adapters.Query{})[threadA], adapters.Working, "", pid)

	appendTo(t, rolloutPath(home, threadA), strings.Join(scriptAt(script.at, threadA, "").result("c", "ok").
		call("q", `{}`).lines[1:], "\n")+"\n")
	appendTo(t, rolloutPath(home, threadA), `{"timestamp":"`+script.now()+`","type":"response_item","payload":{"type":"function_call","name":"request_user_input","arguments":"{}","call_id":"u"}}`+"\n")
	s = look(t, a, home, adapters.Query{})[threadA]
	if s.Status != adapters.Waiting || s.WaitingFor != adapters.ForQuestion {
		t.Errorf("%s %s (%s), want it to wait for an answer", s.Status, s.WaitingFor, s.Evidence)
	}
}

// Codex homes that only live processes know of.
func TestRootsOfProcesses(t *testing.T) {
	own := home(t)
	byEnv := home(t)
	byFile := home(t)
	write(t, rolloutPath(own, threadA), newScript(threadA, "0.142.5").turn("a", "x").text())
	write(t, rolloutPath(byEnv, threadB), newScript(threadB, "0.142.5").turn("a", "x").text())
	link := filepath.Join(own, "link")
	must.Do(t, os.Symlink(filepath.Join(byEnv, ".codex"), link))
	startCodex(t, "codex", []string{"CODEX_HOME=" + filepath.Join(byEnv, ".codex")}).do("read", "/dev/null")
	startCodex(t, "codex", []string{"CODEX_HOME=" + link}).do("read", "/dev/null")
	p := startCodex(t, "codex", nil).
		do("open", write(t, rolloutPath(byFile, threadC), newScript(threadC, "0.142.5").turn("a", "x").text()))
	roll, err := atNow(own).Discover(t.Context(), adapters.Query{})
	if err != nil {
		t.Log(err)
	}
	want(t, below(own, roll)[threadA], adapters.Stopped, adapters.Completed, 0)
	want(t, below(byEnv, roll)[threadB], adapters.Stopped, adapters.Completed, 0)
	want(t, below(byFile, roll)[threadC], adapters.Idle, adapters.Completed, p.cmd.Process.Pid)
	seen := 0
	for _, s := range roll.Sessions {
		if s.ID == threadB {
			seen++
		}
	}
	if seen != 1 {
		t.Errorf("a home known by two names gave its session %d times", seen)
	}
}

// What a query leaves out, and what it must not.
func TestQuery(t *testing.T) {
	home := home(t)
	old := time.Now().Add(-30 * 24 * time.Hour)
	for _, id := range []string{threadA, threadB, threadC} {
		path := write(t, rolloutPath(home, id), newScript(id, "0.142.5").turn("a", "x").text())
		if id != threadC {
			must.Do(t, os.Chtimes(path, old, old))
		}
	}
	startCodex(t, "codex", nil).do("open", rolloutPath(home, threadA))
	ids := func(q adapters.Query) string {
		var got []string
		for _, id := range []string{threadA, threadB, threadC} {
			if _, ok := look(t, atNow(home), home, q)[id]; ok {
				got = append(got, id[9:10])
			}
		}
		return strings.Join(got, "")
	}
	for want, q := range map[string]adapters.Query{
		"abc": {},
		"ac":  {Since: time.Now().Add(-time.Hour)},
		"a":   {Since: time.Now().Add(time.Second)},
		"b":   {Since: time.Now(), IDs: []string{threadB}},
		"ab":  {IDs: []string{threadB, threadA}},
		"":    {IDs: []string{"none"}},
	} {
		if got := ids(q); got != want {
			t.Errorf("%+v: %q, want %q", q, got, want)
		}
	}
	if path := rolloutPath(home, threadB); true { // a live query opens no old rollout
		must.Do(t, os.Remove(path))
		must.Do(t, syscall.Mkfifo(path, 0o600))
		if got := ids(adapters.Query{Since: time.Now().Add(time.Second)}); got != "a" {
			t.Errorf("live ones: %q", got)
		}
	}
}

// A pid that is another process's by now: neither an open lock nor a lock in the
// kernel's table makes it a host.
func TestReusedPid(t *testing.T) {
	r := adaptertest.Replay(t, filepath.Join(recordings, "codex-0.169.0-exec-killed"))
	stat := filepath.Join(r.ProcRoot, "20533", "stat")
	b, err := os.ReadFile(stat)
	must.Do(t, err)
	must.Do(t, os.WriteFile(stat, []byte(strings.Replace(string(b), "(codex)", "(bash)", 1)), 0o644))
	const id = "01a1fc96-0ae9-7a20-a045-c4c8c062338c"
	e := r.Expect.Session(t, id)
	died := "died"
	e.Status = "stopped"
	e.Outcome = &died
	e.PID = json.RawMessage("null")
	roll, err := New(r.Config()).Discover(t.Context(), adapters.Query{})
	if err != nil {
		t.Error(err)
	}
	adaptertest.Check(t, roll.Sessions, r.Expect)
}

// As a user who may not read: what can't be read is told, the rest is right, and
// a Codex whose open files can't be seen makes nothing up.
func TestWithoutRights(t *testing.T) {
	needRoot(t)
	home, err := os.MkdirTemp("", "codex")
	must.Do(t, err)
	t.Cleanup(func() { os.RemoveAll(home) })
	must.Do(t, os.Chmod(home, 0o755))
	write(t, rolloutPath(home, threadA), newScript(threadA, "0.142.5").turn("a", "x").text())
	locked := write(t, rolloutPath(home, threadB), newScript(threadB, "0.142.5").turn("a", "x").text())
	must.Do(t, os.Chmod(locked, 0o600))
	folder := filepath.Join(home, ".codex", "sessions", "2026", "12")
	must.Do(t, os.MkdirAll(folder, 0o700))
	startCodex(t, "codex", nil).do("open", rolloutPath(home, threadA))
	// Written to since that process began: one by somebody, one by the user.
	own := rolloutPath(home, threadC)
	for _, path := range []string{rolloutPath(home, threadA), write(t, own, newScript(threadC, "0.142.5").turn("a", "x").text())} {
		must.Do(t, os.Chtimes(path, time.Now(), time.Now().Add(time.Second)))
	}
	must.Do(t, os.Chown(own, 65534, 65534))
	cmd := exec.Command("/proc/self/fd/3", home)
	self, err := os.Open(os.Args[0])
	must.Do(t, err)
	defer self.Close()
	cmd.ExtraFiles = []*os.File{self}
	cmd.Env = []string{"CODEX_TEST_ROLE=discover", "GORACE=atexit_sleep_ms=0"}
	cmd.Dir = "/"
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}}
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	must.Do(t, err)
	var answer struct {
		Sessions []adapters.Session
		Problem  string
	}
	must.Do(t, json.Unmarshal(out, &answer))
	got := below(home, adapters.Roll{Sessions: answer.Sessions})
	if s := got[threadA]; s.Status != adapters.Unknown || !strings.Contains(s.Evidence, "can't be seen") {
		t.Errorf("thread that another user's process could hold: %s (%s)", s.Status, s.Evidence)
	}
	want(t, got[threadC], adapters.Stopped, adapters.Completed, 0)
	for _, path := range []string{locked, folder} {
		if !strings.Contains(answer.Problem, path) || !strings.Contains(answer.Problem, "read permission") {
			t.Errorf("problems %q do not name %s and what to do", answer.Problem, path)
		}
	}
}

// A home that was copied: each thread is told once, and the live one counts.
func TestCopiedHome(t *testing.T) {
	own, copied := home(t), home(t)
	text := newScript(threadA, "0.142.5").turn("a", "x").text()
	write(t, rolloutPath(own, threadA), text)
	p := startCodex(t, "codex", nil).do("open", write(t, rolloutPath(copied, threadA), text))
	roll, err := atNow(own).Discover(t.Context(), adapters.Query{})
	if err != nil {
		t.Log(err)
	}
	seen := 0
	for _, s := range roll.Sessions {
		if s.ID == threadA {
			seen++
			want(t, s, adapters.Idle, adapters.Completed, p.cmd.Process.Pid)
		}
	}
	if seen != 1 {
		t.Errorf("told %d times", seen)
	}
}
