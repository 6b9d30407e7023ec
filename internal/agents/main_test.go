//go:build agents && linux

package agents

import (
	"net"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
)

func TestMain(m *testing.M) { os.Exit(Main(m)) }

// The tests stand on this: no way out, nobody else's processes, the pinned
// versions, and an answer from the model server.
func TestNamespaces(t *testing.T) {
	s := NewSandbox(t)
	if connection, err := net.DialTimeout("tcp", "192.0.2.1:443", 2*time.Second); err == nil {
		connection.Close()
		t.Error("there is a way out of the namespace")
	}
	devices, err := net.Interfaces()
	if err != nil || len(devices) != 1 || devices[0].Name != "lo" {
		t.Errorf("network devices: %v, %v", devices, err)
	}
	if _, running := readProcess("/proc/1"); !running {
		t.Error("no /proc")
	}
	self, err := os.Readlink("/proc/self")
	if err != nil || self != strconv.Itoa(os.Getpid()) {
		t.Errorf("/proc is of other processes: self is %s, %v", self, err)
	}
	for _, release := range chosen(Releases()) {
		output, err := s.run(release, "--version").CombinedOutput()
		if err != nil || !strings.Contains(string(output), release.Version) {
			t.Errorf("%s --version: %s %v", release, output, err)
		}
	}
}

// An agent is really talking to the model server.
func TestAnswers(t *testing.T) {
	first := map[string]string{"claude-code": "-p", "codex": "exec", "opencode": "run", "pi": "-p"}
	terminals := slices.DeleteFunc(Releases(), func(r Release) bool { return first[r.Agent] == "" })
	// A home each: an older version can't read what a newer one has stored.
	each(t, terminals, func(t *testing.T, s *Sandbox, r Release) {
		cmd := s.run(r, first[r.Agent], "hello there")
		cmd.Stdin = nil
		output, err := cmd.CombinedOutput()
		// OpenCode puts a prompt of several words into quotation marks.
		if err != nil || !strings.Contains(strings.ReplaceAll(string(output), `"`, ""), "Mock answer to: hello there") {
			t.Errorf("%v\n%s", err, output)
		}
	})
}

// each runs a test with those of the releases that this run is about.
func each(t *testing.T, releases []Release, test func(*testing.T, *Sandbox, Release)) {
	for _, release := range chosen(releases) {
		t.Run(release.Version, func(t *testing.T) {
			Need(t)
			built(t, headlessBinary)
			test(t, NewSandbox(t), release)
		})
	}
}

// nightly skips a test that takes long, or that is of a rare case, where not everything is tested.
func nightly(t *testing.T) {
	t.Helper()
	if !everything() {
		t.Skip("run by make test-agents-all")
	}
}
