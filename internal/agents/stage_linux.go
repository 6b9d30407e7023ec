package agents

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"syscall"
	"testing"
	"time"
)

// The test program runs as the go command starts it, which prepares, and then twice
// for each test: as process 1 of new namespaces, and inside of them for the test.
const (
	stageKey    = "ROLLCALL_AGENTS_STAGE"
	stageInit   = "init"
	stageInside = "inside"

	workKey   = "ROLLCALL_AGENTS_WORK"   // folder that becomes /tmp
	keepKey   = "ROLLCALL_AGENTS_KEEP"   // folders to keep visible, although below /tmp
	cacheKey  = "ROLLCALL_AGENTS_CACHE"  // where the agents are installed
	absentKey = "ROLLCALL_AGENTS_ABSENT" // why the tests can't run
	binaryKey = "ROLLCALL_AGENTS_BINARY" // another build of Rollcall to run them with
)

// Where the binaries under test are, seen from inside.
const (
	headlessBinary = "/tmp/bin/rollcall"
	desktopBinary  = "/tmp/bin/rollcall-desktop"
)

// Main returns the TestMain of the scenarios: it installs the agents, builds
// Rollcall and runs each test in namespaces of its own without a way out, several
// at once. It returns the exit code.
func Main(m *testing.M) int {
	flag.Parse()
	switch os.Getenv(stageKey) {
	case stageInit:
		return initNamespaces()
	case stageInside:
		return m.Run()
	}
	if flag.Lookup("test.list").Value.String() != "" {
		return m.Run()
	}
	if why := missing(); why != "" {
		_ = os.Setenv(absentKey, why) // fails for malformed names only
		return m.Run()
	}
	failed, err := outside()
	if err != nil {
		fmt.Fprintln(os.Stderr, "agents:", err)
	}
	if err != nil || failed {
		fmt.Println("FAIL")
		return 1
	}
	fmt.Println("PASS")
	return 0
}

// Need skips the test when the agents can't be run here, and fails it instead
// where CI=true.
func Need(t *testing.T) {
	t.Helper()
	why := os.Getenv(absentKey)
	switch {
	case why == "":
	case os.Getenv("CI") == "true":
		t.Fatal(why)
	default:
		t.Skip(why)
	}
}

// missing returns what keeps the agents from being run here; empty: nothing.
func missing() string {
	for _, program := range []string{"npm", "node", "git", "tmux", "go"} {
		if _, err := exec.LookPath(program); err != nil {
			return program + " is not installed"
		}
	}
	probe := exec.Command("/bin/true")
	probe.SysProcAttr = isolation()
	if err := probe.Run(); err != nil {
		return fmt.Sprintf("no namespaces (%v): run as root, or allow user namespaces", err)
	}
	return ""
}

// isolation asks for a process table, a network and mounts of one's own. The
// namespaces end with their first process, which ends with this thread.
func isolation() *syscall.SysProcAttr {
	attr := &syscall.SysProcAttr{
		Cloneflags: syscall.CLONE_NEWPID | syscall.CLONE_NEWNET | syscall.CLONE_NEWNS | syscall.CLONE_NEWIPC,
		Pdeathsig:  syscall.SIGKILL,
	}
	if uid, gid := os.Getuid(), os.Getgid(); uid != 0 {
		attr.Cloneflags |= syscall.CLONE_NEWUSER
		attr.UidMappings = []syscall.SysProcIDMap{{ContainerID: uid, HostID: uid, Size: 1}}
		attr.GidMappings = []syscall.SysProcIDMap{{ContainerID: gid, HostID: gid, Size: 1}}
		attr.AmbientCaps = []uintptr{capSysAdmin, capNetAdmin}
	}
	return attr
}

const (
	capNetAdmin = 12
	capSysAdmin = 21
)

// outside prepares, runs the tests and reports whether one failed.
func outside() (failed bool, err error) {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM, syscall.SIGQUIT)
	defer stop()
	cache, err := CacheDir()
	if err != nil {
		return false, err
	}
	tests, err := selected()
	if err != nil {
		return false, err
	}
	work, err := os.MkdirTemp("", "rollcall-agents-")
	if err != nil {
		return false, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(work)) }()
	if err := prepare(ctx, cache, work); err != nil {
		return false, err
	}
	return runAll(ctx, tests, cache, work)
}

// prepare installs the agents and builds Rollcall. A failed build is left to
// the tests that need that binary: see built.
func prepare(ctx context.Context, cache, work string) error {
	began := time.Now()
	for _, release := range append(chosen(Releases()), Nanocoder, Node) {
		if err := Install(ctx, cache, release); err != nil {
			return err
		}
	}
	fmt.Printf("agents are in %s (%v)\n", cache, time.Since(began).Round(time.Millisecond))
	bin := filepath.Join(work, "bin")
	if err := os.Mkdir(bin, 0o755); err != nil {
		return err
	}
	began = time.Now()
	builds := []struct{ name, cgo, tags string }{{headlessBinary, "CGO_ENABLED=0", "headless"}}
	if os.Getenv("ROLLCALL_DESKTOP") != "skip" {
		builds = append(builds, struct{ name, cgo, tags string }{desktopBinary, "CGO_ENABLED=1", "x11,gles"})
	}
	for _, b := range builds {
		target := filepath.Join(bin, filepath.Base(b.name))
		if other := os.Getenv(binaryKey); other != "" && b.name == headlessBinary {
			if err := copyProgram(other, target); err != nil {
				return err
			}
			continue
		}
		if err := build(ctx, target, b.cgo, b.tags); err != nil {
			if err := os.WriteFile(target+".error", []byte(err.Error()), 0o644); err != nil {
				return err
			}
		}
	}
	fmt.Printf("rollcall built (%v)\n", time.Since(began).Round(time.Millisecond))
	return ctx.Err()
}

func copyProgram(from, to string) error {
	text, err := os.ReadFile(from)
	if err != nil {
		return err
	}
	return os.WriteFile(to, text, 0o755)
}

func build(ctx context.Context, target, cgo, tags string) error {
	cmd := exec.CommandContext(ctx, "go", "build", "-tags", tags, "-o", target, "rollcall")
	cmd.Env = append(os.Environ(), cgo)
	if output, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("go build -tags %s: %w\n%s", tags, err, output)
	}
	return nil
}

// built fails the test when that binary could not be built.
func built(t *testing.T, binary string) {
	t.Helper()
	if why, err := os.ReadFile(binary + ".error"); err == nil {
		t.Fatalf("%s", why)
	}
}
