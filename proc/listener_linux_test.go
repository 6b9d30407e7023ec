package proc

import (
	"errors"
	"fmt"
	"net"
	"net/netip"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"

	"rollcall/internal/must"
)

// stranger is a user that is not this one.
const stranger = 65534

// listenVariable is the address at which the role "listen" listens.
const listenVariable = "ROLLCALL_PROC_TEST_LISTEN"

func init() {
	roles["listen as nobody"] = func() error {
		if err := syscall.Setuid(stranger); err != nil {
			return err
		}
		return roles["listen"]()
	}
	roles["listen"] = func() error {
		listener, err := net.Listen("tcp", os.Getenv(listenVariable))
		if err != nil {
			return err
		}
		defer listener.Close()
		return ready(listener.Addr().String())
	}
}

// listen starts a process that plays a role and listens at an address.
func listen(t *testing.T, role, addr string) (*child, netip.AddrPort) {
	t.Helper()
	c := start(t, role, func(cmd *exec.Cmd) { cmd.Env = append(cmd.Env, listenVariable+"="+addr) })
	at := must.Get(netip.ParseAddrPort(c.said))(t)
	return c, at
}

// A listener of this user passes, at whatever address of the loopback it listens,
// and is known to be its process's.
func TestOwnListener(t *testing.T) {
	for addr, to := range map[string]string{"127.0.0.1:0": "127.0.0.1", "0.0.0.0:0": "127.0.0.1", "[::]:0": "127.0.0.1", "[::1]:0": "::1"} {
		c, at := listen(t, "listen", addr)
		target := netip.AddrPortFrom(netip.MustParseAddr(to), at.Port())
		if err := CheckListener(target); err != nil {
			t.Errorf("%s: %v", addr, err)
		}
		if err := CheckListenedBy(target, c.identity(t, Open())); err != nil {
			t.Errorf("%s: %v", addr, err)
		}
		self := must.Get(Open().Find(os.Getpid()))(t)
		if err := CheckListenedBy(target, self.Identity); !errors.Is(err, ErrForeignListener) {
			t.Errorf("%s: taken for this process's: %v", addr, err)
		}
		c.kill(t)
		c.reap()
		if err := CheckListener(target); !errors.Is(err, ErrForeignListener) {
			t.Errorf("%s: nobody listens: %v", addr, err)
		}
	}
}

// The kernel's answer lists what its tables do, which are read where it does not answer.
func TestAskListeners(t *testing.T) {
	ask := func(port uint16) []listener {
		t.Helper()
		asked := must.Get(askListeners(port, os.Getuid()))(t)
		read := must.Get(readListeners(port))(t)
		if d := cmp.Diff(read, asked, cmp.AllowUnexported(listener{}), cmp.Comparer(func(a, b netip.AddrPort) bool { return a == b })); d != "" {
			t.Errorf("port %d: %s", port, d)
		}
		return asked
	}
	for _, addr := range []string{"127.0.0.1:0", "0.0.0.0:0", "[::]:0", "[::1]:0"} {
		_, at := listen(t, "listen", addr)
		connection, err := net.Dial("tcp", net.JoinHostPort("localhost", strconv.Itoa(int(at.Port()))))
		if err == nil { // its sockets do not listen
			defer connection.Close()
		}
		list := ask(at.Port())
		if len(list) != 1 || list[0].local != at || !list[0].own || list[0].holder == 0 {
			t.Errorf("%s: %+v", addr, list)
		}
	}
	_, at := listen(t, "listen", "127.0.0.1:0")
	_, _ = listen(t, "listen", fmt.Sprintf("127.0.0.2:%d", at.Port()))
	_, _ = listen(t, "listen", fmt.Sprintf("[::1]:%d", at.Port()))
	if list := ask(at.Port()); len(list) != 3 {
		t.Errorf("three at one port: %+v", list)
	}
	if os.Getuid() == 0 {
		_, at := listen(t, "listen as nobody", "127.0.0.1:0")
		if list := ask(at.Port()); len(list) != 1 || list[0].own || list[0].root {
			t.Errorf("another user's: %+v", list)
		}
	}
	if list := ask(1); len(list) != 0 {
		t.Errorf("nobody listens: %+v", list)
	}
}

// Another user's listener is told from one's own, also one beside an own listener
// of the same port.
func TestOtherUsersListener(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("only root can start a process of another user")
	}
	c, at := listen(t, "listen as nobody", "127.0.0.1:0")
	if err := CheckListener(at); !errors.Is(err, ErrForeignListener) {
		t.Errorf("%v", err)
	}
	if err := CheckListenedBy(at, c.identity(t, Open())); !errors.Is(err, ErrForeignListener) {
		t.Errorf("%v", err)
	}
	_, own := listen(t, "listen", fmt.Sprintf("127.0.0.2:%d", at.Port()))
	if err := CheckListener(own); err != nil {
		t.Errorf("own listener at another address: %v", err)
	}
}

// A listener of this user in a sandbox that shares the network is refused, whatever process it is asked for.
func TestListenerInSandbox(t *testing.T) {
	needUserNamespaces(t)
	for name, flags := range map[string]uintptr{"user namespace": syscall.CLONE_NEWUSER, "rootless": syscall.CLONE_NEWUSER | syscall.CLONE_NEWNS | syscall.CLONE_NEWPID} {
		c := start(t, "listen", func(cmd *exec.Cmd) {
			cmd.Env = append(cmd.Env, listenVariable+"=127.0.0.1:0")
			cmd.SysProcAttr = &syscall.SysProcAttr{Cloneflags: flags}
			cmd.SysProcAttr.UidMappings = []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getuid(), Size: 1}}
		})
		at := must.Get(netip.ParseAddrPort(c.said))(t)
		if err := CheckListener(at); !errors.Is(err, ErrForeignListener) || !errors.Is(err, ErrForeign) {
			t.Errorf("%s: %v", name, err)
		}
		if err := CheckListenedBy(at, c.identity(t, Open())); !errors.Is(err, ErrForeign) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// Root is trusted with ports that only root could take, and with no others.
func TestRootsListener(t *testing.T) {
	for port, want := range map[uint16]bool{443: true, 18789: false} {
		table := fmt.Sprintf("  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode\n"+
			"   0: 0100007F:%04X 00000000:0000 0A 00000000:00000000 00:00000000 00000000     0        0 4711 1 x\n", port)
		list, err := parseListeners(table, port, 1000)
		if err != nil || len(list) != 1 {
			t.Fatalf("%v, %v", list, err)
		}
		if got := list[0].trusted(port); got != want || !list[0].root || list[0].own || list[0].holder != 4711 {
			t.Errorf("port %d: trusted is %v of %+v", port, got, list[0])
		}
	}
}

// Sockets that don't listen, and those of other ports, are no listeners; a table
// in another form is an error, for then nothing is known.
func TestParseListeners(t *testing.T) {
	const row = "   0: 0100007F:%s 00000000:0000 %s 0:0 0:0 0 %s 0 7 1 x\n"
	for text, want := range map[string]int{
		fmt.Sprintf(row, "1F90", "0A", "1000"): 1, fmt.Sprintf(row, "1F90", "01", "1000"): 0, fmt.Sprintf(row, "1F91", "0A", "1000"): 0,
		"": 0, "short line\n": 0,
		"   0: 00000000000000000000000001000000:1F90 0:0 0A 0:0 0:0 0 1000 0 7 1 x\n": 1,
	} {
		list, err := parseListeners(text, 8080, 1000)
		if err != nil || len(list) != want {
			t.Errorf("%q: %+v, %v", text, list, err)
		}
		for _, l := range list {
			if !l.local.Addr().IsLoopback() || !l.own {
				t.Errorf("%q: %+v", text, l)
			}
		}
	}
	for _, text := range []string{fmt.Sprintf(row, "1F90", "0A", "x"), strings.Replace(fmt.Sprintf(row, "1F90", "0A", "1"), "0100007F", "01", 1)} {
		if list, err := parseListeners(text, 8080, 1000); err == nil {
			t.Errorf("%q: %+v", text, list)
		}
	}
}
