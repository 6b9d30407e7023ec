package cli

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"rollcall/internal/must"
)

// TestAnswerOfProgram: what a program of the user's says that its agent asks is shown and answered, with a second key always, and once. The agent is a script
// that waits for the answer in a file, and writes what it did with it.
func TestAnswerOfProgram(t *testing.T) {
	must.Have(t, "python3")
	home := t.TempDir()
	bin, shop, config := filepath.Join(home, "bin"), filepath.Join(home, "shop"), filepath.Join(home, ".config", "rollcall")
	for _, dir := range []string{bin, shop, config} {
		must.Do(t, os.MkdirAll(dir, 0o700))
	}
	example := must.Get(os.ReadFile("testdata/asks.py"))(t)
	files := map[string]string{
		filepath.Join(bin, "asks.py"): string(example),
		filepath.Join(bin, "asker"): `#!/bin/sh
ask() { rm -f answer; echo "$1" >ask.new; mv ask.new ask.json; until [ -e answer ]; do sleep 0.05; done; rm ask.json; cat answer >>did; echo >>did; }
ask '{"id": "1", "kind": "command", "text": "sudo rm -rf /srv", "can_allow": true, "can_deny": true}'
ask '{"id": "2", "kind": "question", "can_deny": true, "questions": [{"text": "Which?", "options": [{"label": "Red"}, {"label": "Blue"}]}]}'
ask '{"id": "3", "kind": "command", "text": "ls", "can_allow": true, "can_deny": true}'
sleep 1000
`,
		filepath.Join(config, "config.toml"): "[[agent]]\nname = \"asker\"\nrows = [\"~/bin/asks.py\", \"rows\"]\nrequests = [\"~/bin/asks.py\", \"requests\"]\nanswer = [\"~/bin/asks.py\", \"answer\"]\n",
	}
	for path, text := range files {
		must.Do(t, os.WriteFile(path, []byte(text), 0o700))
	}
	env := []string{"HOME=" + home, "PATH=" + bin + ":" + os.Getenv("PATH")}
	out := inPIDNamespace(t, env, `
cd "$HOME/shop"; asker & until [ -e ask.json ]; do sleep 0.05; done
asks() { until "$R" pending --json >"$HOME/pending" && grep -q "\"id\":\"$1\"" "$HOME/pending"; do sleep 0.1; done; sed 's/.*"request":"\([^"]*\)".*/\1/' "$HOME/pending"; }
key=$(asks 1); id=$(sed 's/.*"session":{"id":"\([^"]*\)".*/\1/' "$HOME/pending"); echo "@ pending"; cat "$HOME/pending"
echo "@ one key"; "$R" answer "$id" --request "$key" --allow 2>&1 || echo "code $?"
echo "@ two keys"; "$R" answer "$id" --request "$key" --allow --second-look 2>&1 || echo "code $?"
echo "@ twice"; "$R" answer "$id" --request "$key" --allow --second-look 2>&1 || echo "code $?"
key=$(asks 2)
echo "@ question"; "$R" answer "$id" --request "$key" --option 2 --second-look 2>&1 || echo "code $?"
key=$(asks 3)
echo "@ denied"; "$R" answer "$id" --request "$key" --deny 2>&1 || echo "code $?"
echo "@ did"; cat did
`)
	parts := map[string]string{}
	for _, part := range strings.Split(out, "@ ")[1:] {
		name, text, _ := strings.Cut(part, "\n")
		parts[name] = text
	}
	var d pendingDocument
	must.Do(t, json.Unmarshal([]byte(parts["pending"]), &d))
	if len(d.Pending) != 1 || len(d.Pending[0].Requests) != 1 {
		t.Fatalf("%s", parts["pending"])
	}
	if r := d.Pending[0].Requests[0]; r.Text != "sudo rm -rf /srv" || r.Harmless || !r.CanAllow || len(r.Dangers) == 0 || r.Folder != shop || r.Via != "the program of answer in config.toml" {
		t.Errorf("%+v", r)
	}
	for name, want := range map[string]string{"one key": "code 13", "two keys": "the file answer was written; the session is", "twice": "code 13",
		"question": "the file answer was written", "denied": "answered after"} {
		if !strings.Contains(parts[name], want) {
			t.Errorf("%s: %s; want %s", name, parts[name], want)
		}
	}
	if got := parts["did"]; got != "allow []\nreply [[\"Blue\"]]\ndeny []\n" {
		t.Errorf("the agent was told %q", got)
	}
}
