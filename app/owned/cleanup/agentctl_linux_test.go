package cleanup

import (
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/sys/unix"

	"rollcall/adapters"
	_ "rollcall/adapters/all" // registers every agent
	"rollcall/internal/agentname"
	"rollcall/internal/must"
)

const (
	claude   = ".claude/agentctl/sessions"
	codex    = ".codex/agentctl/sessions"
	opencode = ".agentctl/opencode-sessions"
	pi       = ".pi/agentctl/sessions"
)

// TestExactlyTheDead: of a home with records of dead and living sessions exactly
// the dead ones go, and nothing of the agents changes.
func TestExactlyTheDead(t *testing.T) {
	w := newWorld(t)
	p := w.process()
	earlier := p.Started.Add(-time.Hour)
	// Living.
	w.record(claude, "alive", p.PID, nil)
	w.record(codex, "live", w.dead(), nil)
	w.live["live"] = true
	w.record(pi, "wrapped", w.dead(), fields{"wrapperPid": p.PID})
	// Dead.
	want := []string{claude + "/dead.json", claude + "/reused.json", codex + "/young.json", opencode + "/pending-17.json", pi + "/old.json"}
	w.record(claude, "dead", w.dead(), fields{"startTime": "Mon Mar  2 10:11:12 2026"})
	reused := w.record(claude, "reused", p.PID, nil)
	must.Do(t, os.Chtimes(reused, earlier, earlier))
	w.record(codex, "young", w.dead(), fields{"model": "x", "group": "g-1", "exitCode": 0, "logPath": "/x"})
	w.record(opencode, "pending-17", w.dead(), nil)
	w.record(pi, "old", w.dead(), fields{"wrapperPid": w.dead(), "cwd": "/x", "prompt": "p"})
	// Not ours to touch.
	w.write(claude+"/launch-1.log", "log")
	w.write(".claude/projects/-x/dead.jsonl", "{}")
	w.write(".claude/sessions/17.json", `{"sessionId":"dead","pid":1,"launchedAt":"2026-01-01T00:00:00Z"}`)
	w.write(".codex/sessions/2026/rollout-dead.jsonl", "{}")
	w.write(".pi/agent/sessions/x.jsonl", "{}")

	before := w.tree(".")
	items, err := w.cleaner().Scan(t.Context())
	if err != nil {
		t.Error(err)
	}
	if got, _ := w.found(); !slices.Equal(got, want) {
		t.Errorf("found %s", cmp.Diff(want, got))
	}
	if d := cmp.Diff(before, w.tree(".")); d != "" {
		t.Errorf("the scan changed %s", d)
	}
	for i, r := range w.cleaner().Remove(t.Context(), items) {
		if text, err := os.ReadFile(r.Where); r.Err != nil || err != nil || string(text) != before[want[i]] {
			t.Errorf("%s: %v, %v in %s", r.Path, r.Err, err, r.Where)
		}
		delete(before, want[i])
	}
	after := w.tree(".")
	for name := range after {
		if strings.HasPrefix(name, ".local/share/Trash/") {
			delete(after, name)
		}
	}
	if d := cmp.Diff(before, after); d != "" {
		t.Error(d)
	}
	if again, err := w.cleaner().Scan(t.Context()); len(again) > 0 || err != nil {
		t.Errorf("again: %v, %v", again, err)
	}
}

// TestUnknownForms: left alone and said; nothing hangs.
func TestUnknownForms(t *testing.T) {
	w := newWorld(t)
	w.write(claude+"/truncated.json", `{"sessionId": "trunc`)
	w.write(claude+"/nul.json", "\x00\x00")
	w.write(claude+"/array.json", "[]")
	w.write(claude+"/no-pid.json", `{"sessionId":"no-pid","launchedAt":"2026-01-01T00:00:00Z"}`)
	w.write(claude+"/text-pid.json", `{"sessionId":"text-pid","pid":"12","launchedAt":"2026-01-01T00:00:00Z"}`)
	w.write(claude+"/no-time.json", `{"sessionId":"no-time","pid":1}`)
	w.record(claude, "renamed", w.dead(), nil)
	must.Do(t, os.Rename(w.path(claude+"/renamed.json"), w.path(claude+"/elsewhere.json")))
	must.Do(t, os.Truncate(w.write(claude+"/huge.json", "{"), 1<<30))
	must.Do(t, os.Mkdir(w.path(claude+"/folder.json"), 0o755))
	must.Do(t, unix.Mkfifo(w.path(claude+"/pipe.json"), 0o600))
	must.Do(t, os.Symlink(w.record(pi, "target", w.process().PID, nil), w.path(claude+"/link.json")))
	paths, said := w.found()
	if len(paths) > 0 {
		t.Errorf("offered: %v", paths)
	}
	for _, name := range []string{"truncated", "nul", "array", "no-pid", "text-pid", "no-time", "elsewhere", "huge", "folder", "pipe", "link"} {
		if !strings.Contains(said, claude+"/"+name+".json: format not recognised") {
			t.Errorf("nothing is said of %s", name)
		}
	}
}

// TestUnaskedAgents: nothing of an agent that could not be asked is stale; what
// does not speak of it is.
func TestUnaskedAgents(t *testing.T) {
	w := newWorld(t)
	w.record(claude, "one", w.dead(), nil)
	w.record(claude, "two", w.dead(), nil)
	w.record(codex, "three", w.dead(), nil)
	lock := func(id string) []fields { return []fields{{"directory": w.home, "type": "auto", "sessionId": id}} }
	w.write(".agentctl/state.json", `{"version": 1, "sessions": {"three": {"adapter": "codex", "status": "running", "meta": {}}}}`)
	w.write(".agentctl/locks.json", w.json(lock("one")))
	w.src.Sessions.Unknown = []adapters.Name{agentname.ClaudeCode}
	paths, said := w.found()
	if !slices.Equal(paths, []string{codex + "/three.json", ".agentctl/state.json"}) || said != "3 files of agentctl kept: the live sessions of claude-code are not all known" {
		t.Errorf("%v; %s", paths, said)
	}
	w.write(".agentctl/locks.json", w.json(lock("three")))
	w.write(".agentctl/fuses.json", "[]")
	if paths, _ := w.found(); !slices.Equal(paths, []string{codex + "/three.json", ".agentctl/locks.json", ".agentctl/fuses.json", ".agentctl/state.json"}) {
		t.Errorf("%v", paths)
	}
	items, _ := w.cleaner().Scan(t.Context())
	for _, r := range w.cleaner().Remove(t.Context(), items) {
		if r.Err != nil {
			t.Errorf("%s: %v", r.Path, r.Err)
		}
	}
}

func TestNothingThere(t *testing.T) {
	if paths, said := newWorld(t).found(); len(paths) > 0 || said != "" {
		t.Errorf("%v; %s", paths, said)
	}
}

func TestUnreadableFolder(t *testing.T) {
	w := newWorld(t)
	w.write(claude, "a file where a folder should be")
	if _, said := w.found(); !strings.Contains(said, claude+": unreadable") {
		t.Error(said)
	}
}

// TestLists: the daemon's lists go when everything in them is dead.
func TestLists(t *testing.T) {
	w := newWorld(t)
	living, dead := w.process().PID, w.dead()
	w.live["live"] = true
	there := w.home
	session := func(status string, pid int) fields {
		f := fields{"id": "s", "adapter": "codex", "status": status, "startedAt": "2026-01-01T00:00:00Z", "meta": fields{}}
		if pid > 0 {
			f["pid"] = pid
		}
		return f
	}
	state := func(id string, s fields) any { return fields{"version": 1, "sessions": fields{id: s}} }
	lock := func(f fields) any { f["lockedAt"] = "x"; return []fields{f} }
	fuse := func(at time.Time, id string) any {
		return []fields{{"directory": there, "ttlMs": 1, "expiresAt": at.UTC().Format(time.RFC3339), "sessionId": id}}
	}
	slate := session("running", 0)
	slate["adapter"] = "slate"
	past, future := time.Now().Add(-time.Hour), time.Now().Add(time.Hour)
	for _, tt := range []struct {
		name, file string
		value      any
		want       string // "offered", "kept" or "said"
	}{
		{"nothing", stateFile, fields{"version": 1, "sessions": fields{}}, "offered"},
		{"ended", stateFile, state("a", session("stopped", 0)), "offered"},
		{"running, dead", stateFile, state("a", session("running", dead)), "offered"},
		{"running, not live", stateFile, state("a", session("running", 0)), "offered"},
		{"running, of an agent we can't ask", stateFile, state("a", slate), "kept"},
		{"ended, pid in use", stateFile, state("a", session("stopped", living)), "kept"},
		{"live", stateFile, state("live", session("stopped", dead)), "kept"},
		{"unknown status", stateFile, state("a", session("dreaming", dead)), "said"},
		{"other version", stateFile, fields{"version": 2, "sessions": fields{}}, "said"},
		{"array", stateFile, []int{}, "said"},
		{"nothing", locksFile, []int{}, "offered"},
		{"null", locksFile, nil, "said"},
		{"ended", locksFile, lock(fields{"directory": there, "type": "auto", "sessionId": "a"}), "offered"},
		{"dead", locksFile, lock(fields{"directory": there, "type": "auto", "sessionId": "a", "pid": dead}), "offered"},
		{"living", locksFile, lock(fields{"directory": there, "type": "auto", "sessionId": "a", "pid": living}), "kept"},
		{"living by the state", locksFile, lock(fields{"directory": there, "type": "auto", "sessionId": "known"}), "kept"},
		{"live", locksFile, lock(fields{"directory": there, "type": "auto", "sessionId": "live"}), "kept"},
		{"by hand", locksFile, lock(fields{"directory": there, "type": "manual", "lockedBy": "me"}), "kept"},
		{"by hand, folder gone", locksFile, lock(fields{"directory": there + "/gone", "type": "manual"}), "offered"},
		{"other kind", locksFile, lock(fields{"directory": there, "type": "shared"}), "said"},
		{"over", fusesFile, fuse(past, "a"), "offered"},
		{"pending", fusesFile, fuse(future, "a"), "kept"},
		{"live", fusesFile, fuse(past, "live"), "kept"},
		{"no time", fusesFile, []fields{{"directory": there}}, "said"},
	} {
		t.Run(tt.file+" "+tt.name, func(t *testing.T) {
			w.TB = t
			for _, f := range lists {
				os.Remove(w.path(".agentctl/" + f))
			}
			if tt.file == locksFile {
				w.write(".agentctl/state.json", w.json(state("known", session("running", living))))
			}
			w.write(".agentctl/"+tt.file, w.json(tt.value))
			paths, said := w.found()
			got := "kept"
			if slices.Contains(paths, ".agentctl/"+tt.file) {
				got = "offered"
			} else if strings.Contains(said, tt.file+": format not recognised") {
				got = "said"
			}
			if got != tt.want {
				t.Errorf("%s, want %s: %s", got, tt.want, said)
			}
		})
	}
}

// TestDaemon: while it runs, its lists stay; a stranger with its pid is not it.
func TestDaemon(t *testing.T) {
	w := newWorld(t)
	w.write(".agentctl/fuses.json", "[]")
	offered := func() bool { paths, _ := w.found(); return len(paths) == 1 }
	if !offered() {
		t.Fatal("nothing is offered at all")
	}
	p := w.process()
	pidFile := w.write(".agentctl/agentctl.pid", w.json(p.PID))
	if offered() {
		t.Error("by its pid file: not seen")
	}
	old := p.Started.Add(-time.Hour)
	must.Do(t, os.Chtimes(pidFile, old, old))
	if !offered() {
		t.Error("a newcomer with its pid is taken for it")
	}
	w.write(".agentctl/supervisor.pid", w.json(p.PID)+"\n")
	if offered() {
		t.Error("the supervisor: not seen")
	}
	if !isDaemon([]string{"node", "/opt/agentctl/dist/cli.js", "daemon", "start", "--foreground"}) || !isDaemon([]string{"agentctl", "daemon"}) ||
		isDaemon([]string{"vi", "daemon", "agentctl"}) || isDaemon([]string{"agentctl", "list"}) || isDaemon(nil) {
		t.Error("arguments")
	}
}

// TestDaemonByItsArguments: a real process with such arguments, without pid file.
func TestDaemonByItsArguments(t *testing.T) {
	w := newWorld(t)
	w.write(".agentctl/fuses.json", "[]")
	w.process("sh", "-c", "kill -STOP $$", "/opt/agentctl/dist/cli.js", "list")
	if paths, _ := w.found(); len(paths) != 1 {
		t.Error("a process that is no daemon counts as one")
	}
	w.process("sh", "-c", "kill -STOP $$", "/opt/agentctl/dist/cli.js", "daemon", "start")
	if paths, _ := w.found(); len(paths) != 0 {
		t.Error("not seen")
	}
}
