package harness

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"rollcall/adapters"
	"rollcall/internal/agentname"
	"rollcall/internal/must"
)

// launched is a session that Rollcall has launched.
type launched struct {
	life *life
	hook string // the file to which its hook appends a line
	over bool
}

// launch has Rollcall start an agent, and plays its session.
func (t *harness) launch() bool {
	s := t.script
	name := []adapters.Name{agentname.ClaudeCode, agentname.Codex}[s.rng.IntN(2)]
	troop := s.troop(name)
	if s.frozen[name] || s.full(troop) {
		return false
	}
	dir := s.folder(name)
	hook := s.world.Path("hooks", filepath.Base(dir))
	a := t.rollcall.command("launch", string(name), "--cwd", dir, "-p", fmt.Sprintf("prompt %d", s.begun), "--on-complete", "echo over >> "+hook)
	if a.code != 0 {
		t.differs(nil, "launch of %s in %s: exit code %d: %s%s", name, dir, a.code, a.out, a.err)
	}
	p := t.machine.await(t.machine.arrivals)
	if p.dir != dir || p.launch == "" {
		args, err := t.machine.table.Args(p.Identity)
		t.differs(nil, "a process of launch %q has begun in %s, not in %s: %q %v", p.launch, p.dir, dir, args, err)
	}
	t.machine.adopted = p
	s.world.NextID = sessionOption(t.machine.table.Args(p.Identity))
	x := troop.begin(troop.agent.Start(dir, fmt.Sprintf("prompt %d", s.begun)))
	s.world.NextID = ""
	x.hook = hook
	t.launched[dir] = &launched{life: x, hook: hook}
	s.did(x, "is launched by Rollcall as process %d", x.Process.PID)
	return true
}

// sessionOption returns the session's id in a command line of Claude Code.
func sessionOption(args []string, _ error) string {
	for i, arg := range args {
		if arg == "--session-id" && i+1 < len(args) {
			return args[i+1]
		}
	}
	return ""
}

// stop has Rollcall stop a session.
func (t *harness) stop() bool {
	s := t.script
	troop := s.troop([]adapters.Name{agentname.ClaudeCode, agentname.Pi}[s.rng.IntN(2)])
	if s.frozen[troop.agent.Name()] || len(troop.live) == 0 {
		return false
	}
	i := s.rng.IntN(len(troop.live))
	x := troop.live[i]
	if x.IsSuspended() {
		return false
	}
	a := t.rollcall.command("stop", x.ID)
	if a.code != 0 {
		t.differs(x, "stop: exit code %d: %s%s", a.code, a.out, a.err)
	}
	if t.machine.table.Alive(x.Process) {
		t.differs(x, "stop says %q, and process %d lives", strings.TrimSpace(a.out), x.Process.PID)
	}
	t.end(troop, i, x.Kill, "is stopped by Rollcall")
	x.ends.due--                   // who stopped it knows
	if x.hook != "" && !t.trayUp { // it is no news at the next start
		x.ends.may--
	}
	return true
}

// lock locks a folder by hand, or unlocks it.
func (t *harness) lock() bool {
	if len(t.manual) > 0 && t.script.chance(50) {
		dir := t.manualInOrder[0]
		delete(t.manual, dir)
		t.manualInOrder = t.manualInOrder[1:]
		if a := t.rollcall.command("unlock", dir); a.code != 0 {
			t.differs(nil, "unlock %s: exit code %d: %s%s", dir, a.code, a.out, a.err)
		}
		t.script.steps++
		return true
	}
	t.script.begun++
	dir := t.script.world.Path("work", fmt.Sprintf("kept%d", t.script.begun))
	must.Do(t, os.MkdirAll(dir, 0o755))
	if a := t.rollcall.command("lock", dir, "--reason", "kept"); a.code != 0 {
		t.differs(nil, "lock %s: exit code %d: %s%s", dir, a.code, a.out, a.err)
	}
	t.manual[dir] = true
	t.manualInOrder = append(t.manualInOrder, dir)
	if a := t.rollcall.command("launch", "claude-code", "--cwd", dir, "-p", "refused"); a.code != 10 {
		t.differs(nil, "launch into the locked %s: exit code %d, want 10: %s%s", dir, a.code, a.out, a.err)
	}
	t.script.steps++
	return true
}

// kept compares locks, records and hooks with what was launched.
func (t *harness) kept() (wrong []string) {
	locks := t.rollcall.locked()
	records, err := t.rollcall.records()
	if err != nil {
		return []string{err.Error()}
	}
	for dir := range t.manual {
		if locks[dir] != "manual" {
			wrong = append(wrong, fmt.Sprintf("%s is not locked by hand: %q", dir, locks[dir]))
		}
		delete(locks, dir)
	}
	for dir, l := range t.launched {
		kind, locked := locks[dir]
		delete(locks, dir)
		r, kept := records[dir]
		text, _ := os.ReadFile(l.hook)
		lines := strings.Count(string(text), "\n")
		switch {
		case !l.over && kind != "auto":
			wrong = append(wrong, fmt.Sprintf("%s of a live launch is not locked: %q", dir, kind))
		case l.over && locked:
			wrong = append(wrong, fmt.Sprintf("%s stays locked: %q", dir, kind))
		case !kept:
			wrong = append(wrong, fmt.Sprintf("no record of the launch in %s", dir))
		case l.over == r.EndedAt.IsZero():
			wrong = append(wrong, fmt.Sprintf("the record of the launch in %s has its end at %v; over: %v", dir, r.EndedAt, l.over))
		case l.over && lines != 1, !l.over && lines != 0:
			wrong = append(wrong, fmt.Sprintf("the hook of the launch in %s ran %d times; over: %v", dir, lines, l.over))
		}
	}
	for dir, kind := range locks {
		wrong = append(wrong, fmt.Sprintf("%s is locked (%s), and nobody locked it", dir, kind))
	}
	return wrong
}

// aliveFor is how long a session lives before its end is owed.
const aliveFor = 3 * time.Second
