package termclient

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"syscall"
	"testing"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"

	"rollcall/internal/must"
	"rollcall/proc"
	"rollcall/proc/localsocket"
)

// listenVariable is the socket on which the test's program listens when it is started with it.
const listenVariable = "ROLLCALL_TERMCLIENT_TEST_LISTEN"

// limitVariable is what the test's program gives up before it listens: "no_new_privs", or "seccomp", both.
const limitVariable = "ROLLCALL_TERMCLIENT_TEST_LIMIT"

func TestMain(m *testing.M) {
	if socket := os.Getenv(listenVariable); socket != "" {
		if err := giveUp(os.Getenv(limitVariable)); err != nil {
			panic(err)
		}
		if _, err := net.Listen("unix", socket); err != nil {
			panic(err)
		}
		_, _ = os.Stdout.WriteString("ready\n")
		_, _ = io.Copy(io.Discard, os.Stdin)
		return
	}
	os.Exit(m.Run())
}

// giveUp restricts this process. With a limit that is not known it does nothing.
func giveUp(limit string) error {
	runtime.LockOSThread() // the boundary is checked for the first thread, on which init and main run
	switch limit {
	case "no_new_privs":
		return unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)
	case "seccomp": // a filter that allows everything
		if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
			return err
		}
		allow := []unix.SockFilter{{Code: unix.BPF_RET | unix.BPF_K, K: unix.SECCOMP_RET_ALLOW}}
		program := unix.SockFprog{Len: uint16(len(allow)), Filter: &allow[0]}
		_, err := call(unix.SYS_SECCOMP, unix.SECCOMP_SET_MODE_FILTER, 0, uintptr(unsafe.Pointer(&program)))
		return err
	}
	return nil
}

// listener starts a process that listens on a socket, and returns it.
func listener(t *testing.T, socket string, attr *syscall.SysProcAttr, env ...string) proc.Identity {
	t.Helper()
	cmd := exec.Command("/proc/self/exe")
	cmd.Env, cmd.SysProcAttr = append(append(os.Environ(), listenVariable+"="+socket), env...), attr
	input := must.Get(cmd.StdinPipe())(t)
	output := must.Get(cmd.StdoutPipe())(t)
	must.Do(t, cmd.Start())
	t.Cleanup(func() {
		_ = input.Close()
		_ = cmd.Wait()
	})
	if _, err := io.ReadFull(output, make([]byte, 6)); err != nil {
		t.Fatal(err)
	}
	p := must.Get(proc.Open().Find(cmd.Process.Pid))(t)
	return p.Identity
}

// hostileTmux listens as a tmux server that tells each client to execute a program (MSG_SHELL of protocol 8).
func hostileTmux(t *testing.T, program string) (socket string) {
	t.Helper()
	socket = filepath.Join(t.TempDir(), "s")
	l := must.Get(net.Listen("unix", socket))(t)
	t.Cleanup(func() { _ = l.Close() })
	go func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			_, _ = conn.Read(make([]byte, 4096))
			var message []byte
			message = binary.LittleEndian.AppendUint32(message, 209)
			message = binary.LittleEndian.AppendUint16(message, uint16(16+len(program)+1))
			message = binary.LittleEndian.AppendUint16(message, 0)
			message = binary.LittleEndian.AppendUint32(message, 8)
			message = binary.LittleEndian.AppendUint32(message, uint32(os.Getpid()))
			_, _ = conn.Write(append(append(message, program...), 0))
			_ = conn.SetReadDeadline(time.Now().Add(time.Minute))
			_, _ = io.Copy(io.Discard, conn)
			_ = conn.Close()
		}
	}()
	return socket
}

// TestHostileServer: a tmux client that is not confined executes what its server says, and a confined one does not.
func TestHostileServer(t *testing.T) {
	must.Have(t, "tmux")
	if _, err := call(unix.SYS_LANDLOCK_CREATE_RULESET, 0, 0, unix.LANDLOCK_CREATE_RULESET_VERSION); err != nil {
		t.Skipf("this kernel has no Landlock: %v", err)
	}
	dir := t.TempDir()
	marker, program := filepath.Join(dir, "executed"), filepath.Join(dir, "program")
	must.Do(t, os.WriteFile(program, []byte("#!/bin/sh\necho > "+marker+"\n"), 0o700))
	socket := hostileTmux(t, program)
	client := func() *exec.Cmd {
		path := must.Get(exec.LookPath("tmux"))(t)
		cmd := exec.CommandContext(t.Context(), path, "-N", "-S", socket, "list-panes", "-a")
		cmd.Env = environment()
		return cmd
	}
	_, err := answer(context.Background(), client(), "tmux")
	if _, missing := os.Stat(marker); missing == nil {
		t.Errorf("the program was executed: %v", err)
	}
	_ = client().Run()
	if _, err := os.Stat(marker); err != nil {
		t.Errorf("the server is not hostile: %v", err)
	}
}

// TestFindRefuses: a listener that is no ancestor, in a sandbox, or another program is not asked, whatever terminal it claims to be.
func TestFindRefuses(t *testing.T) {
	dir := t.TempDir()
	sandbox := &syscall.SysProcAttr{Cloneflags: unix.CLONE_NEWUSER, UidMappings: []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getuid(), Size: 1}}}
	sibling := listener(t, filepath.Join(dir, "sibling"), nil)
	foreign := listener(t, filepath.Join(dir, "foreign"), sandbox)
	limited := listener(t, filepath.Join(dir, "limited"), nil, limitVariable+"=no_new_privs")
	filtered := listener(t, filepath.Join(dir, "filtered"), nil, limitVariable+"=seccomp")
	reused := sibling
	reused.Start++
	for name, tt := range map[string]struct {
		socket    string
		ancestors []proc.Identity
		want      error
	}{
		"an ancestor's sibling":       {"sibling", []proc.Identity{proc.Self()}, ErrOther},
		"a reused pid":                {"sibling", []proc.Identity{reused}, ErrOther},
		"a sandboxed sibling":         {"foreign", []proc.Identity{proc.Self(), sibling}, ErrOther},
		"an ancestor in a sandbox":    {"foreign", []proc.Identity{foreign}, proc.ErrForeign},
		"without new privileges":      {"limited", []proc.Identity{limited}, proc.ErrForeign},
		"with a filter of its own":    {"filtered", []proc.Identity{filtered}, proc.ErrForeign},
		"another program":             {"sibling", []proc.Identity{sibling}, nil},
		"nobody":                      {"none", []proc.Identity{sibling}, os.ErrNotExist},
		"below the root of a process": {fmt.Sprintf("/proc/%d/root%s/sibling", foreign.PID, dir), []proc.Identity{foreign}, ErrOther},
	} {
		for _, kind := range []*Kind{Tmux, Screen, Kitty, WezTerm} {
			socket := tt.socket
			if !filepath.IsAbs(socket) {
				socket = filepath.Join(dir, socket)
			}
			_, err := Find(t.Context(), kind, socket, tt.ancestors)
			if err == nil || tt.want != nil && !errors.Is(err, tt.want) {
				t.Errorf("%s, %s: %v, want %v", kind.Name, name, err, tt.want)
			}
		}
	}
	root := "/proc/self/root" + filepath.Join(dir, "foreign")
	if _, err := Find(t.Context(), Tmux, root, []proc.Identity{sibling}); !errors.Is(err, ErrOther) {
		t.Errorf("a socket below a root of /proc: %v", err)
	}
}

// TestReplacedSocket: a client is led to the socket that was checked, also if another process takes its name then; a later check sees
// the other process.
func TestReplacedSocket(t *testing.T) {
	socket := filepath.Join(t.TempDir(), "s")
	first := listener(t, socket, nil)
	held := must.Get(pin(socket))(t)
	defer held.close()
	must.Do(t, os.Rename(socket, socket+".old"))
	second := listener(t, socket, nil)
	if id, err := localsocket.Listener(t.Context(), held.here); err != nil || id != first {
		t.Errorf("%v, %v, want %v", id, err, first)
	}
	s := &Server{Process: first, kind: Tmux, socket: socket}
	if _, err := s.Run(t.Context(), Client{Program: "tmux"}); !errors.Is(err, ErrOther) {
		t.Errorf("the socket of %v: %v", second, err)
	}
}
