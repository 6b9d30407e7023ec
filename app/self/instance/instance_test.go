package instance

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"rollcall/internal/eventually"
	"rollcall/internal/must"
)

// roleVariable makes the test binary play a second process of Rollcall.
const roleVariable = "ROLLCALL_INSTANCE_TEST_ROLE"

// roles are what the test binary plays.
var roles = map[string]func(){
	"owner":            func() { owner(false) },
	"owner-with-child": func() { owner(true) },
	"sleeper":          func() { time.Sleep(time.Minute) },
	"sender":           sender,
}

func TestMain(m *testing.M) {
	role := os.Getenv(roleVariable)
	if role == "" {
		goleak.VerifyTestMain(m)
		return
	}
	if play := roles[role]; play != nil {
		play()
		os.Exit(0)
	}
	os.Exit(9)
}

// owner claims "window" and prints what it is sent until its stdin closes.
func owner(withChild bool) {
	i, err := Claim(Window, slog.Default())
	if err != nil {
		fmt.Println("refused:", errors.Is(err, ErrRunning))
		os.Exit(1)
	}
	if withChild {
		child := exec.Command(os.Args[0])
		child.Env = append(os.Environ(), roleVariable+"=sleeper")
		if err := child.Start(); err != nil {
			panic(err)
		}
		fmt.Println("child", child.Process.Pid)
	}
	fmt.Println("claimed")
	go func() {
		for m := range i.Messages() {
			fmt.Printf("got %s %s\n", m.Verb, m.Session)
		}
	}()
	_, _ = io.Copy(io.Discard, os.Stdin)
	_ = i.Close()
	os.Exit(0)
}

func sender() {
	err := Send(Window, Message{Verb: Show, Session: os.Args[1]})
	if err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
	os.Exit(0)
}

// second is a second process, killed with the test if it still runs.
type second struct {
	cmd   *exec.Cmd
	stdin io.WriteCloser
	lines *bufio.Scanner
}

func start(t *testing.T, role string, args ...string) *second {
	t.Helper()
	cmd := exec.Command(os.Args[0], args...)
	cmd.Env = append(os.Environ(), roleVariable+"="+role)
	stdin := must.Get(cmd.StdinPipe())(t)
	stdout := must.Get(cmd.StdoutPipe())(t)
	must.Do(t, cmd.Start())
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
	return &second{cmd, stdin, bufio.NewScanner(stdout)}
}

func (s *second) expect(t *testing.T, want string) string {
	t.Helper()
	if !s.lines.Scan() {
		t.Fatalf("second process ended instead of saying %q", want)
	}
	if got := s.lines.Text(); !strings.HasPrefix(got, want) {
		t.Fatalf("second process said %q, want %q", got, want)
	}
	return s.lines.Text()
}

// home gives the test folders of its own. Socket paths must be short, and the
// test's own temporary folder is not.
func home(t *testing.T) string {
	t.Helper()
	dir := must.Get(os.MkdirTemp("", "rc"))(t)
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	must.Do(t, os.Chmod(dir, 0o700))
	t.Setenv("XDG_RUNTIME_DIR", dir)
	t.Setenv("XDG_STATE_HOME", filepath.Join(dir, "state"))
	t.Setenv("HOME", dir)
	t.Setenv("LOCALAPPDATA", dir)
	return dir
}

func TestSecondProcessIsRefusedAndItsMessagesArrive(t *testing.T) {
	home(t)
	i := must.Get(Claim(Window, slog.Default()))(t)
	defer i.Close()

	start(t, "owner").expect(t, "refused: true")

	for _, id := range []string{"first", "second", "third"} {
		p := start(t, "sender", id)
		select {
		case m := <-i.Messages():
			if m != (Message{Verb: Show, Session: id}) {
				t.Errorf("got %+v for %s", m, id)
			}
		case <-time.After(eventually.Limit):
			t.Fatal("message never arrived")
		}
		if err := p.cmd.Wait(); err != nil {
			t.Errorf("sender of %s: %v", id, err)
		}
	}
	if other, err := Claim(Tray, slog.Default()); err != nil {
		t.Errorf("the tray's claim must not depend on the window's: %v", err)
	} else {
		_ = other.Close()
	}
}

func TestClaimHeldByAnotherProcess(t *testing.T) {
	home(t)
	p := start(t, "owner")
	p.expect(t, "claimed")
	if _, err := Claim(Window, slog.Default()); !errors.Is(err, ErrRunning) {
		t.Fatalf("Claim = %v, want ErrRunning", err)
	}
	must.Do(t, Send(Window, Message{Verb: Show, Session: "abc"}))
	p.expect(t, "got show abc")
	must.Do(t, Send(Window, Message{Verb: Launch}))
	p.expect(t, "got launch")

	_ = p.stdin.Close()
	must.Do(t, p.cmd.Wait())
	claimNow(t)
}

func TestDeadOwnerNeverBlocks(t *testing.T) {
	dir := home(t)
	p := start(t, "owner")
	p.expect(t, "claimed")
	must.Do(t, p.cmd.Process.Kill())
	_ = p.cmd.Wait()
	if runtime.GOOS == "linux" {
		if _, err := os.Lstat(filepath.Join(dir, "rollcall", "window.sock")); err != nil {
			t.Fatalf("the test needs the killed owner's socket to be left: %v", err)
		}
	}
	if err := Send(Window, Message{Verb: Show}); !errors.Is(err, ErrNotRunning) {
		t.Errorf("Send = %v, want ErrNotRunning", err)
	}
	claimNow(t)
}

func TestChildrenDoNotInheritTheClaim(t *testing.T) {
	home(t)
	p := start(t, "owner-with-child")
	var pid int
	if _, err := fmt.Sscanf(p.expect(t, "child"), "child %d", &pid); err != nil {
		t.Fatal(err)
	}
	p.expect(t, "claimed")
	_ = p.cmd.Process.Kill()
	_ = p.cmd.Wait()
	child := must.Get(os.FindProcess(pid))(t)
	defer child.Kill()
	claimNow(t)
}

// claimNow claims, receives and gives up again, all in this process.
func claimNow(t *testing.T) {
	t.Helper()
	i, err := Claim(Window, slog.Default())
	if err != nil {
		t.Fatalf("Claim = %v, want the claim that nobody holds", err)
	}
	done := make(chan error, 1)
	go func() { done <- Send(Window, Message{Verb: Show, Session: "x"}) }()
	if m := <-i.Messages(); m.Session != "x" {
		t.Errorf("got %+v", m)
	}
	if err := <-done; err != nil {
		t.Error(err)
	}
	for range 2 {
		if err := i.Close(); err != nil {
			t.Error(err)
		}
	}
	if _, open := <-i.Messages(); open {
		t.Error("Messages is open after Close")
	}
	if err := Send(Window, Message{Verb: Show}); !errors.Is(err, ErrNotRunning) {
		t.Errorf("Send after Close = %v, want ErrNotRunning", err)
	}
}

func TestPeersThatTalkNonsense(t *testing.T) {
	dir := home(t)
	i := must.Get(Claim(Window, slog.Default()))(t)
	defer i.Close()
	for name, said := range map[string]string{
		"nothing": "", "no JSON": "hello\n", "no verb": "{}\n",
		"no end": `{"verb":"show"`, "huge": strings.Repeat("x", 1<<20),
	} {
		conn := must.Get(connect(filepath.Join(dir, "rollcall"), Window, time.Now().Add(5*time.Second)))(t)
		_, _ = io.WriteString(conn, said)
		if c, ok := conn.(interface{ CloseWrite() error }); ok { // a pipe of Windows has none
			_ = c.CloseWrite()
		}
		_ = conn.SetReadDeadline(time.Now().Add(5 * time.Second))
		answer, _ := io.ReadAll(conn)
		_ = conn.Close()
		if len(answer) > 0 && string(answer) != refused {
			t.Errorf("%s: answered %q", name, answer)
		}
	}
	done := make(chan error, 1)
	go func() { done <- Send(Window, Message{Verb: Show, Session: "real"}) }()
	if m := <-i.Messages(); m.Session != "real" {
		t.Errorf("got %+v, want the real message only", m)
	}
	if err := <-done; err != nil {
		t.Error(err)
	}
}

func TestFolderIsPrivate(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("Windows: access lists are inherited")
	}
	dir := home(t)
	ours := filepath.Join(dir, "rollcall")
	must.Do(t, os.Mkdir(ours, 0o755))
	i := must.Get(Claim(Window, slog.Default()))(t)
	defer i.Close()
	for path, want := range map[string]os.FileMode{
		ours: 0o700, filepath.Join(ours, "window.lock"): 0o600, filepath.Join(ours, "window.sock"): 0o600,
	} {
		info := must.Get(os.Stat(path))(t)
		if got := info.Mode().Perm(); got != want {
			t.Errorf("%s has mode %o, want %o", path, got, want)
		}
	}
}

func TestUnusableRuntimeFolderFallsBack(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("only Linux has a runtime folder")
	}
	dir := home(t)
	open := filepath.Join(dir, "open")
	must.Do(t, os.Mkdir(open, 0o777))
	must.Do(t, os.Chmod(open, 0o777))
	t.Setenv("XDG_RUNTIME_DIR", open)
	got := must.Get(folder())(t)
	if strings.HasPrefix(got, open) {
		t.Errorf("folder() = %s, inside a folder that everybody can write", got)
	}
}

func TestLongPathStillListens(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("needs XDG_RUNTIME_DIR")
	}
	dir := home(t)
	long := filepath.Join(dir, strings.Repeat("long", 30))
	must.Do(t, os.Mkdir(long, 0o700))
	t.Setenv("XDG_RUNTIME_DIR", long)
	t.Setenv("TMPDIR", dir)
	claimNow(t)
}

func TestNames(t *testing.T) {
	home(t)
	for _, name := range []string{"", "../x", "a/b", "A"} {
		if _, err := Claim(name, slog.Default()); err == nil {
			t.Errorf("Claim(%q) succeeded", name)
		}
		if err := Send(name, Message{Verb: Show}); err == nil {
			t.Errorf("Send(%q) succeeded", name)
		}
	}
	if err := Send(Window, Message{Verb: Show, Session: strings.Repeat("x", maxMessage)}); err == nil {
		t.Error("a message longer than any session id was sent")
	}
}

// TestTwoUsers: the claims of users with homes of their own do not meet, and each gets its own messages.
func TestTwoUsers(t *testing.T) {
	use := func(dir string) {
		t.Setenv("XDG_RUNTIME_DIR", dir)
		t.Setenv("XDG_STATE_HOME", filepath.Join(dir, "state"))
		t.Setenv("HOME", dir)
		t.Setenv("LOCALAPPDATA", dir)
	}
	var dirs []string
	var claims []*Instance
	for range 2 {
		dirs = append(dirs, home(t))
		i := must.Get(Claim(Window, slog.Default()))(t)
		defer func() { _ = i.Close() }()
		claims = append(claims, i)
	}
	for n, dir := range dirs {
		use(dir)
		sent := make(chan error, 1)
		go func() { sent <- Send(Window, Message{Verb: Show, Session: dir}) }()
		select {
		case m := <-claims[n].Messages():
			if m.Session != dir {
				t.Errorf("user %d got the message for %s", n, m.Session)
			}
		case m := <-claims[1-n].Messages():
			t.Errorf("the other user got the message for %s", m.Session)
		}
		if err := <-sent; err != nil {
			t.Error(err)
		}
	}
}
