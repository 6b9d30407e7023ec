//go:build agents && linux

package agents

import (
	"path/filepath"
	"testing"

	"rollcall/internal/adaptertest"
	"rollcall/internal/must"
)

// stored leaves sessions of every release in the sandbox, some of them killed in
// mid-turn, with no process alive. It returns how many.
func stored(s *Sandbox) (n int) {
	s.t.Helper()
	kill := func(agent Process) {
		s.Kill(agent)
	}
	terminal := openCodex(s, CodexNewest)
	terminal.PromptUntil("in the daemon", "Mock answer to: in the daemon")
	for _, release := range chosen(claudes) {
		complete(s, release, "-p", "short")
		id := uuid(s.t)
		_, agent, _ := detachClaude(s, release, id, "killed, "+release.String()+" [[delay 60]]")
		written(s, id, "killed")
		kill(agent)
	}
	for _, release := range chosen(codexes) {
		complete(s, release, "exec", "short")
		_, agent, _ := detachCodex(s, release, "killed, "+release.String()+" [[delay 60]]")
		kill(agent)
	}
	for _, release := range chosen(openCodes) {
		complete(s, release, "run", "short")
		_, agent, _ := detachOpenCode(s, release, "killed, "+release.String()+" [[delay 60]]")
		kill(agent)
	}
	for _, release := range chosen(pis) {
		complete(s, release, "-p", "short")
		_, agent, _ := detachPi(s, release, "killed, "+release.String()+" [[delay 60]]")
		kill(agent)
	}
	s.StopAgents()
	return 1 + 2*(len(chosen(claudes))+len(chosen(codexes))+len(chosen(openCodes))+len(chosen(pis)))
}

// complete runs an agent to its end.
func complete(s *Sandbox, r Release, args ...string) {
	s.t.Helper()
	if output, err := s.run(r, args...).CombinedOutput(); err != nil {
		s.t.Fatalf("%v: %v\n%s", r, err, output)
	}
}

// folders is the state of everything that is not Rollcall's own.
type folders map[string]adaptertest.Tree

func foldersOf(s *Sandbox) folders {
	s.t.Helper()
	out := folders{}
	for _, name := range []string{".claude", ".codex", ".claude.json", "proj", ".config/opencode", ".local/share/opencode",
		".local/state/opencode", ".cache/opencode", ".pi", ".openclaw"} {
		out[name] = adaptertest.TreeOf(s.t, filepath.Join(s.Home, name))
	}
	return out
}

// same fails the test for each path that is not as it was.
func (before folders) same(s *Sandbox) {
	s.t.Helper()
	for name, tree := range foldersOf(s) {
		for _, change := range before[name].Changes(tree) {
			s.t.Errorf("%s: %s", name, change)
		}
	}
}

// Nothing of the agents' changes by being looked at.
func TestAgentsFoldersUntouched(t *testing.T) {
	desktop := newDesktop(t)
	s := NewSandbox(t)
	// A gateway that was killed leaves its files; one that runs changes them itself.
	gateway := s.StartGateway(OpenClawNewest)
	gateway.Send("agent:main:first", "goes on [[delay 90]]")
	s.Kill(gateway.Process)
	want := stored(s) + 1 // and that of the gateway
	before := foldersOf(s)
	roll := must.Get(s.List("--all"))(t)
	if len(roll.Sessions) != want {
		t.Fatalf("%d sessions, want %d:%v", len(roll.Sessions), want, roll)
	}
	commands := [][]string{{"list"}, {"list", "--all", "--since", "all"}, {"doctor"}, {"doctor", "--json"}, {"version"}}
	for _, session := range roll.Sessions {
		commands = append(commands, []string{"status", session.ID}, []string{"peek", session.ID})
	}
	for _, args := range commands {
		if output, err := s.Command(headlessBinary, args...).CombinedOutput(); err != nil {
			t.Errorf("rollcall %v: %v\n%s", args, err, output)
		}
	}
	tray := startTray(s, desktop)
	tray.Shows("Open Rollcall")
	tray.stop()
	before.same(s)
}
