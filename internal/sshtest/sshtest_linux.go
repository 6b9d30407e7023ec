// This file starts the servers, with keys of their own, and an ssh client that knows only them. A test runs them in a network and mount
// namespace of its own, as root there.

package sshtest

import (
	"bytes"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"rollcall/internal/must"
)

// Require skips the test where OpenSSH or the right to run its server is missing; in CI it fails.
func Require(t testing.TB) {
	t.Helper()
	why := ""
	for _, name := range []string{"ssh", "ssh-keygen", Program} {
		if _, err := exec.LookPath(name); err != nil {
			why = name + " is not installed (packaging/setup installs it)"
		}
	}
	if os.Getuid() != 0 {
		why = "sshd needs root to become a user"
	}
	if why != "" {
		must.Skip(t, why)
	}
}

// Program is the server.
const Program = "/usr/sbin/sshd"

// Client is an ssh client with a configuration of its own.
type Client struct {
	// Extra are lines of its configuration for every host. They count from the next Add on.
	Extra string

	t      testing.TB
	dir    string
	config strings.Builder
}

// NewClient makes a client whose ssh is the first in PATH of this process until the test ends.
func NewClient(t testing.TB, setenv func(key, value string)) *Client {
	t.Helper()
	c := &Client{t: t, dir: t.TempDir()}
	c.run("ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", c.path("id"))
	ssh, err := exec.LookPath("ssh")
	c.check(err)
	c.check(os.MkdirAll(c.path("bin"), 0o755))
	c.write("bin/ssh", "#!/bin/sh\nexec "+ssh+" -F "+c.path("config")+` "$@"`+"\n", 0o755)
	setenv("PATH", c.path("bin")+":"+os.Getenv("PATH"))
	c.Add("", 0, "")
	return c
}

func (c *Client) path(name string) string { return filepath.Join(c.dir, name) }

func (c *Client) write(name, text string, mode os.FileMode) {
	c.t.Helper()
	c.check(os.WriteFile(c.path(name), []byte(text), mode))
}

func (c *Client) check(err error) {
	c.t.Helper()
	must.Do(c.t, err)
}

func (c *Client) run(name string, args ...string) {
	c.t.Helper()
	if out, err := exec.Command(name, args...).CombinedOutput(); err != nil {
		c.t.Fatalf("%s: %v: %s", name, err, out)
	}
}

// Add makes a host known to the client under a name: its port, and its public key unless that is empty.
func (c *Client) Add(name string, port int, key string) {
	c.t.Helper()
	if name != "" {
		fmt.Fprintf(&c.config, "Host %s\n HostName 127.0.0.1\n Port %d\n", name, port)
	}
	c.write("config", c.config.String()+fmt.Sprintf("Host *\n User root\n IdentityFile %s\n IdentitiesOnly yes\n UserKnownHostsFile %s\n GlobalKnownHostsFile /dev/null\n%s",
		c.path("id"), c.path("known"), c.Extra), 0o600)
	if key != "" {
		c.Know(port, key)
	}
}

// Know adds the public key of a server to those that the client knows.
func (c *Client) Know(port int, key string) {
	c.t.Helper()
	known, _ := os.ReadFile(c.path("known"))
	c.write("known", string(known)+fmt.Sprintf("[127.0.0.1]:%d %s\n", port, key), 0o600)
}

// Forget makes the client know no server's key.
func (c *Client) Forget() { c.write("known", "", 0o600) }

// Server is one ssh server.
type Server struct {
	Port int
	Key  string // its public key

	t    testing.TB
	dir  string
	argv []string
	cmd  *exec.Cmd
}

// Options are the options of a server.
type Options struct {
	Env []string // of the sessions: HOME=/x
	// Password makes it ask for a password instead of a key.
	Password bool
	Extra    string // lines of its configuration
	// Apart runs the server in a pid and mount namespace of its own: what is started through it sees no other process, and ends with it.
	Apart bool
}

// apart makes namespaces, and in them the folder that sshd wants.
const apart = `mount -t tmpfs -o mode=755 tmpfs /run && mkdir /run/sshd && exec "$@"`

// Start starts a server that accepts the client's key.
func (c *Client) Start(o Options) *Server {
	c.t.Helper()
	s := &Server{t: c.t, dir: c.t.TempDir(), Port: FreePort(c.t)}
	s.newKey()
	auth := "PubkeyAuthentication yes\nPasswordAuthentication no\nKbdInteractiveAuthentication no\n"
	if o.Password {
		auth = "PubkeyAuthentication no\nPasswordAuthentication yes\n"
	}
	env := ""
	if len(o.Env) > 0 {
		env = `SetEnv "` + strings.Join(o.Env, `" "`) + "\"\n" // a folder can have a blank
	}
	config := fmt.Sprintf("ListenAddress 127.0.0.1:%d\nHostKey %s\nAuthorizedKeysFile %s\nPidFile none\nUsePAM no\nStrictModes no\nPermitRootLogin yes\nLogLevel ERROR\nMaxStartups 100\n%s%s%s",
		s.Port, s.path("host"), c.path("id.pub"), auth, env, o.Extra)
	c.check(os.WriteFile(s.path("config"), []byte(config), 0o600))
	s.argv = []string{Program, "-D", "-e", "-f", s.path("config")}
	if o.Apart {
		s.argv = append([]string{"unshare", "--mount", "--pid", "--fork", "--kill-child", "--mount-proc", "sh", "-c", apart, "sh"}, s.argv...)
	}
	s.Up()
	c.t.Cleanup(s.Down)
	return s
}

func (s *Server) path(name string) string { return filepath.Join(s.dir, name) }

// newKey gives the server a new host key.
func (s *Server) newKey() {
	s.t.Helper()
	_ = os.Remove(s.path("host"))
	if out, err := exec.Command("ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", s.path("host")).CombinedOutput(); err != nil {
		s.t.Fatalf("ssh-keygen: %v: %s", err, out)
	}
	key := must.Get(os.ReadFile(s.path("host.pub")))(s.t)
	fields := strings.Fields(string(key))
	s.Key = strings.Join(fields[:2], " ")
}

// ChangeKey restarts the server with another host key.
func (s *Server) ChangeKey() {
	s.t.Helper()
	s.Down()
	s.newKey()
	s.Up()
}

// Up starts the server again, and returns once it accepts connections.
func (s *Server) Up() {
	s.t.Helper()
	var said bytes.Buffer
	s.cmd = exec.Command(s.argv[0], s.argv[1:]...)
	s.cmd.Stderr = &said
	s.cmd.SysProcAttr = &unix.SysProcAttr{Setsid: true, Pdeathsig: unix.SIGKILL}
	must.Do(s.t, s.cmd.Start())
	for deadline := time.Now().Add(20 * time.Second); ; time.Sleep(10 * time.Millisecond) {
		conn, err := net.Dial("tcp", fmt.Sprintf("127.0.0.1:%d", s.Port))
		if err == nil {
			_ = conn.Close()
			return
		}
		if time.Now().After(deadline) {
			s.Down()
			s.t.Fatalf("sshd does not listen: %v: %s", err, said.String())
		}
	}
}

// Down kills the server and all its connections.
func (s *Server) Down() {
	if s.cmd == nil {
		return
	}
	for _, pid := range s.processes() {
		_ = unix.Kill(pid, unix.SIGKILL)
	}
	_ = s.cmd.Wait()
	s.cmd = nil
}

// processes returns the server and the processes below it.
func (s *Server) processes() []int {
	parents := map[int]int{}
	entries, _ := os.ReadDir("/proc")
	for _, e := range entries {
		var pid, parent int
		text, err := os.ReadFile(filepath.Join("/proc", e.Name(), "stat"))
		if _, scanErr := fmt.Sscan(e.Name(), &pid); err != nil || scanErr != nil {
			continue
		}
		after := text[bytes.LastIndexByte(text, ')')+1:]
		if fields := strings.Fields(string(after)); len(fields) > 1 {
			_, _ = fmt.Sscan(fields[1], &parent)
			parents[pid] = parent
		}
	}
	out := []int{s.cmd.Process.Pid}
	for i := 0; i < len(out); i++ {
		for pid, parent := range parents {
			if parent == out[i] {
				out = append(out, pid)
			}
		}
	}
	return out
}

// FreePort returns a port of loopback that nothing listens on.
func FreePort(t testing.TB) int {
	t.Helper()
	l := must.Get(net.Listen("tcp", "127.0.0.1:0"))(t)
	defer func() { _ = l.Close() }()
	return l.Addr().(*net.TCPAddr).Port
}

// Prepare makes the folder that sshd wants, in the mount namespace of this process.
func Prepare() error {
	if err := unix.Mount("tmpfs", "/run", "tmpfs", 0, "mode=755"); err != nil {
		return fmt.Errorf("mount /run: %w", err)
	}
	return errors.Join(os.Mkdir("/run/sshd", 0o755))
}
