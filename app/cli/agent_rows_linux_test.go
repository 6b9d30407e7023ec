package cli

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"rollcall/internal/must"
)

// TestExampleOfRows: the program of docs/adapters-of-others.md reads runs of Droid, as ../shared/ground-truth recorded them: one that works, one that is over, one
// that died. Its rows are those of the list, and the process of the live one can be stopped. The name of its process is that of a stand-in.
func TestExampleOfRows(t *testing.T) {
	must.Have(t, "python3")
	home := t.TempDir()
	example := must.Get(os.ReadFile("../../docs/examples/droid_rows.py"))(t)
	if lines := strings.Count(string(example), "\n"); lines > 60 {
		t.Errorf("the example has %d lines", lines)
	}
	bin, shop, config := filepath.Join(home, "bin"), filepath.Join(home, "shop"), filepath.Join(home, ".config", "rollcall")
	store := filepath.Join(home, ".factory", "sessions", "-shop")
	for _, dir := range []string{bin, shop, config, store} {
		must.Do(t, os.MkdirAll(dir, 0o700))
	}
	files := map[string]string{
		filepath.Join(bin, "droid_rows.py"):   string(example),
		filepath.Join(bin, "droid"):           "#!/bin/sh\nsleep 1000 & wait\n",
		filepath.Join(config, "config.toml"):  "[[agent]]\nname = \"droid\"\nrows = [\"~/bin/droid_rows.py\"]\n",
		filepath.Join(store, "over.jsonl"):    run1(shop) + `{"type":"agent_turn_outcome","turnId":"u1","reason":"completed"}` + "\n",
		filepath.Join(store, "refused.jsonl"): run1(shop) + `{"type":"agent_turn_outcome","turnId":"u1","reason":"model_request_rejected"}` + "\n",
		filepath.Join(store, "died.jsonl"):    run1("/gone"),
	}
	for path, text := range files {
		must.Do(t, os.WriteFile(path, []byte(text), 0o700))
	}
	must.Do(t, os.WriteFile(filepath.Join(home, "live"), []byte(run1(shop)), 0o600))
	env := []string{"HOME=" + home, "PATH=" + bin + ":" + os.Getenv("PATH")}
	out := inPIDNamespace(t, env, `
cd "$HOME/shop"; droid & until [ "$(cat /proc/$!/comm)" = droid ]; do :; done
cp "$HOME/live" "$HOME/.factory/sessions/-shop/live.jsonl"
"$R" list --all --json
echo "@ stop"; "$R" stop --yes droid:live
echo "@ test"; "$R" agent test "$HOME/bin/droid_rows.py"
`)
	first, rest, _ := strings.Cut(out, "@ stop")
	var d document
	must.Do(t, json.Unmarshal([]byte(first), &d))
	got := map[string]string{}
	for _, s := range d.Sessions {
		got[s.ID] = string(s.Status) + " " + string(s.Outcome)
		if s.ID == "droid:live" && (s.PID == 0 || s.CWD != shop || s.LastPrompt != "fix it" || !s.Headless) {
			t.Errorf("%+v", s)
		}
	}
	for id, want := range map[string]string{"droid:live": "working ", "droid:over": "stopped completed", "droid:refused": "stopped failed", "droid:died": "stopped died"} {
		if got[id] != want {
			t.Errorf("%s: %q, want %q", id, got[id], want)
		}
	}
	if len(got) != 4 || !strings.Contains(rest, "stopped") || !strings.Contains(rest, "all 16 promises hold") {
		t.Errorf("%v %s", got, out)
	}
}

// run1 returns the records of a run of Droid 0.225.2 in a folder, with an open turn.
func run1(folder string) string {
	return `{"type":"session_start","id":"x","title":"Fix","version":2,"cwd":"` + folder + `"}
{"type":"message","id":"context-1","message":{"role":"user","content":[{"type":"text","text":"<system-reminder>"}]}}
{"type":"message","id":"u1","message":{"role":"user","content":[{"type":"text","text":"fix it"}]}}
{"type":"message","id":"a1","message":{"role":"assistant","content":[{"type":"tool_use"}]}}
{"type":"message","id":"u2","message":{"role":"user","content":[{"type":"tool_result"}]}}
`
}
