package instance

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"

	"rollcall/internal/must"
	"rollcall/proc"
)

// restrictVariable names the restriction that a process of the test gives itself before it plays its role.
const restrictVariable = "ROLLCALL_INSTANCE_TEST_RESTRICT"

func init() {
	if os.Getenv(roleVariable) == "" {
		return
	}
	runtime.LockOSThread() // restrictions are those of the main thread, of which /proc/PID/status is
	var err error
	switch os.Getenv(restrictVariable) {
	case "no_new_privs":
		err = unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)
	case "seccomp":
		err = filterNothing()
	}
	if err != nil {
		fmt.Println(err)
		os.Exit(9)
	}
	roles["raw"], roles["connector"] = raw, connector
}

// filterNothing sets a seccomp filter that allows everything. A user without rights must give up new privileges first.
func filterNothing() error {
	if os.Getuid() != 0 {
		if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
			return err
		}
	}
	allow := []unix.SockFilter{{Code: unix.BPF_RET | unix.BPF_K, K: unix.SECCOMP_RET_ALLOW}}
	program := unix.SockFprog{Len: uint16(len(allow)), Filter: &allow[0]}
	if _, _, errno := unix.Syscall(unix.SYS_SECCOMP, unix.SECCOMP_SET_MODE_FILTER, 0, uintptr(unsafe.Pointer(&program))); errno != 0 {
		return errno
	}
	return nil
}

// raw sends a line to a socket, as a program that is not Rollcall, and prints the answer.
func raw() {
	conn, err := net.Dial("unix", os.Args[1])
	if err == nil {
		_, _ = io.WriteString(conn, os.Args[2]+"\n")
		_ = conn.SetReadDeadline(time.Now().Add(answerLimit))
		_, err = io.Copy(os.Stdout, conn)
	}
	if err != nil {
		fmt.Println(err)
	}
}

// connector connects to a socket and gives the connection to the process at the socket with descriptor 3. It ends when its standard input
// does.
func connector() {
	conn, err := net.Dial("unix", os.Args[1])
	if err != nil {
		panic(err)
	}
	file, err := conn.(*net.UnixConn).File()
	if err != nil {
		panic(err)
	}
	if err := unix.Sendmsg(3, []byte{0}, unix.UnixRights(int(file.Fd())), nil, 0); err != nil {
		panic(err)
	}
	_, _ = io.Copy(io.Discard, os.Stdin)
}

// sandbox is a way to restrict a process.
type sandbox struct {
	restrict string
	flags    uintptr
	asRoot   bool // only root can make it
}

var sandboxes = map[string]sandbox{
	"none":                {},
	"user namespace":      {flags: unix.CLONE_NEWUSER},
	"rootless":            {flags: unix.CLONE_NEWUSER | unix.CLONE_NEWNS},
	"container":           {flags: unix.CLONE_NEWUSER | unix.CLONE_NEWNS | unix.CLONE_NEWPID},
	"mount namespace":     {flags: unix.CLONE_NEWNS, asRoot: true},
	"pid namespace":       {flags: unix.CLONE_NEWPID, asRoot: true},
	"no_new_privs":        {restrict: "no_new_privs"},
	"seccomp":             {restrict: "seccomp"},
	"all that bwrap does": {flags: unix.CLONE_NEWUSER | unix.CLONE_NEWNS | unix.CLONE_NEWPID, restrict: "no_new_privs"},
}

// command returns a process of the test in the sandbox.
func (s *sandbox) command(role string, args ...string) *exec.Cmd {
	cmd := exec.Command(os.Args[0], args...)
	cmd.Env = append(os.Environ(), roleVariable+"="+role, restrictVariable+"="+s.restrict)
	cmd.SysProcAttr = &syscall.SysProcAttr{Cloneflags: s.flags}
	if s.flags&unix.CLONE_NEWUSER != 0 {
		cmd.SysProcAttr.UidMappings = []syscall.SysProcIDMap{{ContainerID: os.Getuid(), HostID: os.Getuid(), Size: 1}}
		cmd.SysProcAttr.GidMappings = []syscall.SysProcIDMap{{ContainerID: os.Getgid(), HostID: os.Getgid(), Size: 1}}
	}
	return cmd
}

// inSandboxes runs a test for each sandbox that this user can make.
func inSandboxes(t *testing.T, test func(t *testing.T, s *sandbox, isOutside bool)) {
	t.Helper()
	probe := sandbox{flags: unix.CLONE_NEWUSER}
	probeErr := probe.command("none").Run()
	for name, s := range sandboxes {
		t.Run(name, func(t *testing.T) {
			if exit := (*exec.ExitError)(nil); s.flags&unix.CLONE_NEWUSER != 0 && probeErr != nil && !errors.As(probeErr, &exit) {
				must.Skip(t, "user namespaces are not permitted here: ", probeErr)
			}
			if s.asRoot && os.Getuid() != 0 {
				t.Skip("only root can make this namespace without a user namespace")
			}
			test(t, &s, name != "none")
		})
	}
}

// TestSandboxedMessage: the window takes no message from a sandbox, whatever program sends it, and logs that once.
func TestSandboxedMessage(t *testing.T) {
	inSandboxes(t, func(t *testing.T, s *sandbox, isOutside bool) {
		dir := home(t)
		var log bytes.Buffer
		i := must.Get(Claim(Window, slog.New(slog.NewTextHandler(&log, nil))))(t)
		var got []string
		received := make(chan struct{})
		go func() {
			defer close(received)
			for m := range i.Messages() {
				got = append(got, m.Session)
			}
		}()
		sent, sendErr := s.command("sender", "s").CombinedOutput()
		var answers []string
		for range 3 {
			answer, err := s.command("raw", filepath.Join(dir, "rollcall", "window.sock"), `{"verb":"show","session":"r"}`).Output()
			must.Do(t, err)
			answers = append(answers, string(answer))
		}
		_ = i.Close()
		<-received
		if !isOutside {
			if sendErr != nil || strings.Join(got, "") != "srrr" || strings.Join(answers, "") != "taken\ntaken\ntaken\n" || log.Len() > 0 {
				t.Errorf("%s %v, answers %q, got %q, log %s", sent, sendErr, answers, got, &log)
			}
			return
		}
		if sendErr == nil || !strings.Contains(string(sent), ErrOutside.Error()) {
			t.Errorf("the sender: %v, %s", sendErr, sent)
		}
		for _, a := range answers {
			if !strings.HasPrefix(a, `{"error":"`+ErrOutside.Error()) || !strings.Contains(a, "XDG_STATE_HOME") {
				t.Errorf("answer %q", a)
			}
		}
		if len(got) > 0 {
			t.Errorf("it took %q", got)
		}
		if lines := strings.Count(log.String(), "\n"); lines != 1 || !strings.Contains(log.String(), "program=") {
			t.Errorf("%d lines: %s", lines, &log)
		}
	})
}

// TestSandboxedRequest: a request from a sandbox does not reach its handler.
func TestSandboxedRequest(t *testing.T) {
	inSandboxes(t, func(t *testing.T, s *sandbox, isOutside bool) {
		dir := home(t)
		asked := make(chan proc.Process, 1)
		i := must.Get(Serve(dir, Keeper, slog.New(slog.DiscardHandler), func(r *Request) {
			asked <- r.Process
			_ = r.Answer("done")
		}))(t)
		defer func() { _ = i.Close() }()
		cmd := s.command("raw", filepath.Join(dir, Keeper+".sock"), `{"verb":"start"}`)
		var out bytes.Buffer
		cmd.Stdout = &out
		must.Do(t, cmd.Run())
		select {
		case p := <-asked:
			if isOutside || p.PID != cmd.Process.Pid || p.Start == 0 || out.String() != "\"done\"\n" {
				t.Errorf("it was asked by %+v, which is %d: %s", p, cmd.Process.Pid, &out)
			}
		default:
			if !isOutside || !strings.Contains(out.String(), ErrOutside.Error()) {
				t.Errorf("answer %q", &out)
			}
		}
	})
}

// TestSandboxedOwner: what answers in a sandbox, in the place of Rollcall, is sent nothing: neither a message nor a request, which may have
// secrets in its environment.
func TestSandboxedOwner(t *testing.T) {
	inSandboxes(t, func(t *testing.T, s *sandbox, isOutside bool) {
		dir := home(t)
		cmd := s.command("owner")
		stdin := must.Get(cmd.StdinPipe())(t)
		stdout := must.Get(cmd.StdoutPipe())(t)
		must.Do(t, cmd.Start())
		lines := bufio.NewScanner(stdout)
		if !lines.Scan() || lines.Text() != "claimed" {
			t.Fatal(lines.Text())
		}
		err := Send(Window, Message{Verb: Show, Session: "secret"})
		if errors.Is(err, ErrOutside) != isOutside || !isOutside && err != nil {
			t.Error(err)
		}
		a, err := Ask(t.Context(), filepath.Join(dir, "rollcall"), Window, Message{Verb: Show, Session: "secret"})
		if errors.Is(err, ErrOutside) != isOutside || !isOutside && err != nil {
			t.Error(err)
		}
		if err == nil {
			a.Close()
		}
		_ = stdin.Close()
		took := lines.Scan()
		if err := cmd.Wait(); err != nil || took == isOutside {
			t.Errorf("it took %q, %v", lines.Text(), err)
		}
	})
}

// connected starts a process in a sandbox that connects to a socket, and returns the connection and a function that ends the process.
func (s *sandbox) connected(t *testing.T, path string) (conn net.Conn, end func()) {
	t.Helper()
	pair := must.Get(unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0))(t)
	defer unix.Close(pair[0])
	given := os.NewFile(uintptr(pair[1]), "given")
	cmd := s.command("connector", path)
	cmd.ExtraFiles = []*os.File{given}
	stdin := must.Get(cmd.StdinPipe())(t)
	must.Do(t, cmd.Start())
	_ = given.Close()
	rights := make([]byte, unix.CmsgSpace(4))
	_, n, _, _, err := unix.Recvmsg(pair[0], make([]byte, 1), rights, unix.MSG_CMSG_CLOEXEC)
	must.Do(t, err)
	messages, err := unix.ParseSocketControlMessage(rights[:n])
	if err != nil || len(messages) != 1 {
		t.Fatal(messages, err)
	}
	fds, err := unix.ParseUnixRights(&messages[0])
	if err != nil || len(fds) != 1 {
		t.Fatal(fds, err)
	}
	file := os.NewFile(uintptr(fds[0]), "connection")
	defer file.Close()
	conn = must.Get(net.FileConn(file))(t)
	t.Cleanup(func() { _ = conn.Close() })
	return conn, func() {
		_ = stdin.Close()
		_ = cmd.Wait()
	}
}

// TestPassedConnection: what counts is the process that has connected, not the one that uses the connection.
func TestPassedConnection(t *testing.T) {
	inSandboxes(t, func(t *testing.T, s *sandbox, isOutside bool) {
		dir := home(t)
		i, err := Serve(dir, Keeper, slog.New(slog.DiscardHandler), func(r *Request) { _ = r.Answer(r.Process.PID != os.Getpid()) })
		must.Do(t, err)
		defer func() { _ = i.Close() }()
		conn, end := s.connected(t, filepath.Join(dir, Keeper+".sock"))
		defer end()
		_, _ = io.WriteString(conn, "{}\n")
		answer, err := bufio.NewReader(conn).ReadString('\n')
		if err != nil || (answer == "true\n") == isOutside {
			t.Errorf("answer %q, %v", answer, err)
		}
	})
}

// TestEndedConnector: the process has ended before its connection is accepted, so that its pid may be another's.
func TestEndedConnector(t *testing.T) {
	dir := home(t)
	l := must.Get(listen(dir, Window))(t)
	defer l.Close()
	var none sandbox
	_, end := none.connected(t, filepath.Join(dir, "window.sock"))
	end()
	conn := must.Get(l.Accept())(t)
	defer conn.Close()
	if p, err := checkPeer(conn, sinceBoot()); err == nil {
		t.Errorf("accepted as %+v", p)
	}
}
