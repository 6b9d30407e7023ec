package harness

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"rollcall/internal/adaptertest/scene"
	"rollcall/internal/agents"
	"rollcall/internal/must"
	"rollcall/internal/namespaces"
)

// The test runs itself twice more: as process 1 of namespaces of its own, which
// furnishes these and reaps what is orphaned, and below it as the test proper.
const (
	stageKey = "ROLLCALL_HARNESS_STAGE"
	workKey  = "ROLLCALL_HARNESS_WORK" // the folder that becomes /tmp
	cacheKey = "ROLLCALL_AGENTS_CACHE" // where the real agents are: see agents.Sandbox
	asInit   = "init"
	asTest   = "test"
)

// program is Rollcall, built for tests; agentProgram plays every agent.
const (
	program      = "/opt/rollcall/rollcall"
	agentProgram = "/opt/agent"
	binaryKey    = "ROLLCALL_HARNESS_BINARY"
)

// programs are where the scenes' agents have their programs.
var programs = []string{scene.ClaudeProgram, scene.CodexProgram, scene.OpenCodeProgram, scene.NodeProgram, scene.PiProgram, scene.CopilotProgram, scene.GrokProgram, scene.OmpProgram, scene.ClineProgram,
	wrapperProgram, strangerProgram, editorProgram, acpProgram, "/opt/bin/claude", "/opt/bin/codex", "/opt/bin/opencode", "/opt/bin/pi"}

func TestMain(m *testing.M) {
	switch os.Getenv(stageKey) {
	case asInit:
		os.Exit(initNamespaces())
	case asOneAnswer:
		namespaces.Main(os.Getenv(workKey), stageKey+"="+asTest, nil)
	case asProcess:
		os.Exit(answerProcess())
	}
	os.Exit(m.Run())
}

// enter starts the test in namespaces, and waits for it.
func enter(t *testing.T) {
	t.Helper()
	need(t)
	work := t.TempDir()
	build := exec.Command("go", "build", "-o", filepath.Join(work, "agent"), "./agent")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	binary := must.Get(filepath.Abs(os.Getenv(binaryKey)))(t)
	text := must.Get(os.ReadFile(binary))(t)
	must.Do(t, os.WriteFile(filepath.Join(work, "rollcall"), text, 0o700))
	cmd := exec.Command("/proc/self/exe", os.Args[1:]...)
	cmd.Env = append(os.Environ(), stageKey+"="+asInit, workKey+"="+work)
	if areReal() {
		cmd.Env = append(cmd.Env, cacheKey+"="+installed(t))
	}
	cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL,
		Cloneflags: unix.CLONE_NEWPID | unix.CLONE_NEWNS | unix.CLONE_NEWNET | unix.CLONE_NEWIPC}
	must.Do(t, cmd.Run())
}

// installed installs the real agents, and returns where they are.
func installed(t *testing.T) string {
	t.Helper()
	cache := must.Get(agents.CacheDir())(t)
	for _, r := range releases {
		must.Do(t, agents.Install(t.Context(), cache, r))
	}
	return cache
}

// need skips the test where it can't run; in CI it fails.
func need(t *testing.T) {
	t.Helper()
	problem := ""
	if os.Getuid() != 0 {
		problem = "only root can make the namespaces"
	} else if _, err := exec.LookPath("dbus-daemon"); err != nil {
		problem = "dbus-daemon is not installed: apt-get install dbus-daemon"
	}
	for _, program := range []string{"npm", "node", "git", "tmux"} {
		if _, err := exec.LookPath(program); err != nil && areReal() {
			problem = program + " is not installed"
		}
	}
	probe := exec.Command("true")
	probe.SysProcAttr = &syscall.SysProcAttr{Cloneflags: unix.CLONE_NEWPID | unix.CLONE_NEWNS | unix.CLONE_NEWNET}
	if err := probe.Run(); problem == "" && err != nil {
		problem = fmt.Sprint("namespaces are not permitted here: ", err)
	}
	if problem != "" {
		must.Skip(t, problem)
	}
}

// initNamespaces runs as process 1. With its end the kernel ends everything inside.
func initNamespaces() int {
	runtime.LockOSThread() // what it may no longer do is said per thread
	code := 0
	err := namespaces.Furnish(os.Getenv(workKey), strings.Fields(os.Getenv(cacheKey))...)
	if err == nil { // else /opt would be the machine's own
		err = errors.Join(install(), dropOverrides())
	}
	if err == nil {
		code, err = namespaces.Again(stageKey + "=" + asTest)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "harness: namespaces:", err)
		return 1
	}
	return code
}

// install puts Rollcall and the agents' programs into an /opt of the namespaces' own.
func install() error {
	err := errors.Join(unix.Mount("tmpfs", "/opt", "tmpfs", 0, ""),
		os.MkdirAll(filepath.Dir(program), 0o755),
		place("/tmp/rollcall", program),
		place("/tmp/agent", agentProgram))
	for _, path := range programs {
		err = errors.Join(err, os.MkdirAll(filepath.Dir(path), 0o755), os.Link(agentProgram, path))
	}
	return err
}

// dropOverrides makes file permissions apply to this root as well.
func dropOverrides() error {
	for _, right := range []uintptr{unix.CAP_DAC_OVERRIDE, unix.CAP_DAC_READ_SEARCH} {
		if err := unix.Prctl(unix.PR_CAPBSET_DROP, right, 0, 0, 0); err != nil {
			return fmt.Errorf("drop a right: %w", err)
		}
	}
	return nil
}

func place(from, to string) error {
	text, err := os.ReadFile(from)
	if err != nil {
		return err
	}
	return os.WriteFile(to, text, 0o755)
}
