package cli

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"rollcall/adapters"
	"rollcall/internal/agentname"
	"rollcall/internal/must"
	"rollcall/proc"
)

// leftovers is a home with one record of a dead session, one of a session that
// is live, and one whose process lives.
func leftovers(t *testing.T) (home string, d Deps) {
	t.Helper()
	home = t.TempDir()
	cmd := exec.Command("sleep", "60")
	must.Do(t, cmd.Start())
	t.Cleanup(func() { _ = cmd.Process.Kill(); _ = cmd.Wait() })
	p := must.Get(proc.OpenAt("/proc", "/etc").Find(cmd.Process.Pid))(t)
	gone := exec.Command("true")
	must.Do(t, gone.Run())
	record := func(id string, pid int) {
		put(t, home+"/.claude/agentctl/sessions/"+id+".json", fmt.Sprintf(`{"sessionId":%q,"pid":%d,"startTime":%q,"launchedAt":%q}`,
			id, pid, p.Started.Local().Format("Mon Jan _2 15:04:05 2006"), time.Now().UTC().Format(time.RFC3339)))
	}
	record("dead", gone.Process.Pid)
	record("live", gone.Process.Pid)
	record("runs", cmd.Process.Pid)
	put(t, home+"/.claude/projects/-x/dead.jsonl", "{}\n")
	return home, atHome(home, table(cmd.Process.Pid), claude(simple("live", agentname.ClaudeCode, adapters.Idle, time.Second)))
}

func records(t *testing.T, home string) string {
	t.Helper()
	entries := must.Get(os.ReadDir(home + "/.claude/agentctl/sessions"))(t)
	var names []string
	for _, e := range entries {
		names = append(names, strings.TrimSuffix(e.Name(), ".json"))
	}
	return strings.Join(names, " ")
}

func TestPrune(t *testing.T) {
	home, d := leftovers(t)
	put(t, home+"/.claude/agentctl/sessions/odd.json", "{")
	r := run(t, d, "prune", "-n")
	if r.code != Done || !strings.Contains(r.out, "~/.claude/agentctl/sessions/dead.json  ") || !strings.Contains(r.out, "has ended, and no session with this id is live\n1 file, ") ||
		!strings.Contains(r.err, "odd.json: format not recognised") || records(t, home) != "dead live odd runs" {
		t.Errorf("dry run: %+v", r)
	}
	if r := run(t, d, "prune"); r.code != Usage || records(t, home) != "dead live odd runs" {
		t.Errorf("nobody to ask: %+v", r)
	}
	if r := runOn(t.Context(), t, Streams{In: strings.NewReader("\n")}, d, "prune"); r.code != Failure || !strings.Contains(r.err, "nothing was removed") {
		t.Errorf("no: %+v", r)
	}
	r = runOn(t.Context(), t, Streams{In: strings.NewReader("y\n")}, d, "prune")
	if r.code != Done || !strings.Contains(r.out, "removed ~/.claude/agentctl/sessions/dead.json: ~/.local/share/Trash/files/dead.json\n") || records(t, home) != "live odd runs" {
		t.Errorf("yes: %+v", r)
	}
	if !there(home+"/.local/share/Trash/info/dead.json.trashinfo") || !there(home+"/.claude/projects/-x/dead.jsonl") {
		t.Error("not in the trash, or the transcript is gone")
	}
	if r := run(t, d, "prune", "-y"); r.code != Done || !strings.Contains(r.out, "nothing to remove") {
		t.Errorf("again: %+v", r)
	}
	if r := run(t, d, "prune", "x"); r.code != Usage {
		t.Errorf("%+v", r)
	}
}

func TestPruneJSON(t *testing.T) {
	home, d := leftovers(t)
	put(t, home+"/.claude/agentctl/sessions/odd.json", "{")
	r := run(t, d, "prune", "--json")
	want := []string{"at", "items", "items[].bytes", "items[].kind", "items[].modified_at", "items[].path", "items[].why", "problems", "schema", "total_bytes"}
	if diff := cmp.Diff(want, keys(t, r.out)); diff != "" || records(t, home) != "dead live odd runs" {
		t.Errorf("%s; left: %s", diff, records(t, home))
	}
	r = run(t, d, "prune", "--json", "-y")
	var got struct {
		Items []struct {
			Path, Where string
			Removed     bool
		}
	}
	if err := json.Unmarshal([]byte(r.out), &got); err != nil || len(got.Items) != 1 || !got.Items[0].Removed || !there(got.Items[0].Where) || there(got.Items[0].Path) {
		t.Errorf("%v: %+v", err, r)
	}
	if r := run(t, d, "prune", "--json"); r.code != Done || !strings.Contains(r.out, `"items":[]`) {
		t.Errorf("%+v", r)
	}
}

// TestPruneFails: a trash that can't be made is reported, and nothing is lost.
func TestPruneFails(t *testing.T) {
	home, d := leftovers(t)
	put(t, home+"/.local/share/Trash", "a file")
	r := run(t, d, "prune", "-y")
	if r.code != Failure || !strings.Contains(r.err, "not a folder that belongs to you") || !strings.Contains(r.err, "1 of 1 file not removed") || records(t, home) != "dead live runs" {
		t.Errorf("%+v", r)
	}
	if r := run(t, d, "prune", "-y", "--json"); r.code != Failure || !strings.Contains(r.out, `"error":`) {
		t.Errorf("%+v", r)
	}
}

func TestPruneInDoubt(t *testing.T) {
	home, d := leftovers(t)
	_, tab := d.Open()
	broken := claude()
	broken.err = adapters.Unreadable("/x", os.ErrPermission)
	d = atHome(home, tab.(*few), broken)
	r := run(t, d, "prune", "-y")
	if r.code != Done || records(t, home) != "dead live runs" || !strings.Contains(r.err, "the live sessions of claude-code are not all known") {
		t.Errorf("%+v", r)
	}
}

func TestPruneHostile(t *testing.T) {
	home, d := leftovers(t)
	id := hostileName
	record, err := json.Marshal(map[string]any{"sessionId": id, "pid": 1 << 30, "launchedAt": "2026-01-01T00:00:00Z"})
	must.Do(t, err)
	put(t, home+"/.claude/agentctl/sessions/"+id+".json", string(record))
	put(t, home+"/.claude/agentctl/sessions/x"+id+".json", "{")
	for _, args := range []string{"prune -n", "prune --json", "prune -y"} {
		r := run(t, d, strings.Fields(args)...)
		if r.code != Done || !strings.Contains(r.out, "red") {
			t.Errorf("%s: %+v", args, r)
		}
		safe(t, args, r)
	}
	if got := records(t, home); strings.Contains(got, " "+id+" ") {
		t.Errorf("left: %q", got)
	}
}
