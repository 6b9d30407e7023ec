package cli

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"rollcall/adapters"
	"rollcall/internal/adaptertest"
	"rollcall/internal/agentname"
	"rollcall/internal/must"
	"rollcall/internal/testfs"
)

// listed are the sessions that list prints, and what it says beside them.
func listed(t *testing.T, rec *adaptertest.Recording) (sessions []printed, said string) {
	t.Helper()
	r := execute(t, adaptertest.Env(rec), "list", "--all", "--json")
	var doc struct{ Sessions []printed }
	if err := json.Unmarshal([]byte(r.out), &doc); err != nil {
		t.Fatalf("exit %d, %q, %q", r.code, r.out, r.err)
	}
	for i := range doc.Sessions { // what else differs tells how long ago something was
		s := &doc.Sessions[i]
		doc.Sessions[i] = printed{ID: s.ID, Agent: s.Agent, Status: s.Status, WaitingFor: s.WaitingFor, Outcome: s.Outcome, PID: s.PID, CWD: s.CWD}
	}
	return doc.Sessions, r.err + r.out
}

// neighbours are processes of recordedStores that a terminal interface can be made
// after, and a file that it has open.
var neighbours = map[adapters.Name]struct {
	pid  int
	file string
}{
	agentname.ClaudeCode: {pid: 9652},
	agentname.Codex:      {pid: 22968},
	agentname.OpenCode:   {10033, ".local/share/opencode/opencode.db"},
	agentname.Pi:         {pid: 21086},
}

// An agent whose working folder, or whose home, is on a file system that does not
// answer costs no other session of that agent: it is listed with what the process
// table says of it, and the folder is named if it should have been read.
func TestAgentInAFolderThatHangs(t *testing.T) {
	program(t)
	for _, r := range recordedStores {
		for _, what := range []string{"working folder", "home"} {
			t.Run(string(r.agent)+" "+what, func(t *testing.T) {
				rec := adaptertest.Replay(t, filepath.Join("../../adapters", r.recording))
				behind := t.TempDir()
				for _, dir := range []string{"work", "home"} {
					must.Do(t, os.MkdirAll(filepath.Join(behind, dir, r.store), 0o700))
				}
				mount := testfs.Mount(t, behind)
				cwd, home := filepath.Join(mount.Path, "work"), rec.Home
				if what == "home" {
					home = filepath.Join(mount.Path, "home")
				}
				like := neighbours[r.agent]
				double := adaptertest.Changes{CWD: cwd, Env: map[string]string{"PWD": filepath.Join(cwd, "link"), "HOME": home}}
				if like.file != "" {
					double.Files = []string{filepath.Join(home, like.file)}
				}
				pid := rec.Double(t, like.pid, double)
				before, said := listed(t, rec)
				if strings.Contains(said, "no answer") {
					t.Fatalf("%q", said)
				}
				mount.Hang(t)
				after, said := listed(t, rec)
				found := false
				others := func(list []printed) []printed {
					return slices.DeleteFunc(slices.Clone(list), func(s printed) bool { return s.PID == pid })
				}
				for _, s := range after {
					found = found || s.PID == pid && s.CWD == cwd && (s.Status == adapters.Unknown) == (what == "home")
				}
				if !slices.Equal(others(before), others(after)) || len(others(before)) == 0 || !found {
					t.Errorf("before:\n%+v\nafter:\n%+v\n%s", before, after, said)
				}
				if named := strings.Contains(said, mount.Path+"/home") && strings.Contains(said, "no answer"); named != (what == "home") {
					t.Errorf("the folder is named: %v: %q", named, said)
				}
			})
		}
	}
}
