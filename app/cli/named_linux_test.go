package cli

import (
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"rollcall/internal/eventually"
	"rollcall/internal/must"
)

// inPIDNamespace runs a shell script with the program as $R in a pid namespace of its own, whose processes end with it, and returns what it printed.
func inPIDNamespace(t *testing.T, env []string, script string) string {
	t.Helper()
	must.Have(t, "unshare")
	args := []string{"--pid", "--fork", "--mount-proc", "--kill-child"}
	if os.Getuid() != 0 {
		args = append(args, "--user", "--map-root-user")
	}
	ctx, cancel := context.WithTimeout(t.Context(), 4*eventually.Limit) // for a dozen commands on a busy machine
	defer cancel()
	cmd := exec.CommandContext(ctx, "unshare", append(args, "sh", "-eu", "-c", script)...)
	cmd.Env = append(slices.Clone(env), "R="+program(t))
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	return string(out)
}

// TestNamedAgent: an agent of the settings is started in a terminal and by launch, is seen, occupies its folder, is left alone by stop --idle, is stopped, and
// its end is listed with its exit code.
func TestNamedAgent(t *testing.T) {
	must.Have(t, "script")
	home := t.TempDir()
	bin, folder, other := filepath.Join(home, "bin"), filepath.Join(home, "shop"), filepath.Join(home, "bank")
	config := filepath.Join(home, ".config", "rollcall")
	for _, dir := range []string{bin, folder, other, config} {
		must.Do(t, os.MkdirAll(dir, 0o700))
	}
	must.Do(t, os.WriteFile(filepath.Join(config, "config.toml"), []byte("[[agent]]\nname = \"my-agent\"\nlaunch = [\"--message\", \"{prompt}\"]\nresume = [\"--again\"]\n"), 0o600))
	must.Do(t, os.WriteFile(filepath.Join(bin, "my-agent"), []byte(`#!/bin/sh
case "${1-} ${2-}" in "--message quick") sleep 5; exit 3;; --again*) echo again; exit 0;; esac
sleep 1000 & wait
`), 0o700))
	env := []string{"HOME=" + home, "PATH=" + bin + ":" + os.Getenv("PATH"), "TERM=dumb"}
	out := inPIDNamespace(t, env, `
cd "$HOME/shop"
script -qec my-agent /dev/null </dev/null >/dev/null 2>&1 &
until "$R" list --json | grep -q my-agent; do sleep 0.1; done
echo "@ terminal"; "$R" list --json
echo "@ idle"; "$R" stop --idle --yes || true
echo "@ occupied"; "$R" launch my-agent -p work --cwd "$HOME/shop" || true
echo "@ launched"; "$R" launch my-agent -p work --cwd "$HOME/bank"; "$R" list --json --agent my-agent
echo "@ stopped"; "$R" stop --yes "$("$R" list --json | sed 's/.*"id":"\(process-[^"]*\)".*/\1/')"
"$R" watch --json >"$HOME/events" & watch=$!
echo "@ quick"; "$R" launch my-agent -p quick --cwd "$HOME" --force --wait || echo "code $?"
"$R" list --all --json
until grep -q '"event":"ended"' "$HOME/events"; do sleep 0.1; done
"$R" list >/dev/null; kill $watch; wait $watch || true
echo "@ events"; cat "$HOME/events"
echo "@ resume"; "$R" resume "$(grep '"event":"ended"' "$HOME/events" | sed 's/.*"id":"\(l-[^"]*\)","agent.*/\1/')" --terminal --dry-run || true
`)
	parts := map[string]string{}
	for _, part := range strings.Split(out, "@ ")[1:] {
		name, text, _ := strings.Cut(part, "\n")
		parts[name] = text
	}
	var d document
	must.Do(t, json.Unmarshal([]byte(parts["terminal"]), &d))
	if len(d.Sessions) != 1 || d.Sessions[0].Status != "unknown" || d.Sessions[0].CWD != folder || !strings.Contains(d.Sessions[0].Evidence, "in pts/") ||
		!strings.Contains(d.Sessions[0].Evidence, "Rollcall does not read my-agent's files") {
		t.Errorf("in a terminal: %s", parts["terminal"])
	}
	for name, want := range map[string]string{"idle": "no idle session", "occupied": "is in use: my-agent process", "stopped": "stopped", "quick": "code 11"} {
		if !strings.Contains(strings.ToLower(parts[name]), want) {
			t.Errorf("%s: %s, want %s", name, parts[name], want)
		}
	}
	if text := parts["launched"]; !strings.Contains(text, `"prompt":"work"`) || !strings.Contains(text, other) || strings.Contains(text, `"status":"working"`) {
		t.Errorf("launched: %s", text)
	}
	if !strings.Contains(parts["quick"], "with exit code 3") || !strings.Contains(parts["quick"], `"exit_code":3`) {
		t.Errorf("after its end: %s", parts["quick"])
	}
	if text := parts["events"]; strings.Count(text, `"event":"ended"`) != 1 {
		t.Errorf("events: %s", text)
	}
	if text := parts["resume"]; !strings.Contains(text, "my-agent --again") {
		t.Errorf("resume: %s", text)
	}
}

// TestNamedInstalled: of an agent that is known by its name alone, doctor says that its program is installed and its files are not read, usage that what it
// used is not known, and launch what is missing; shells complete its name. One that is neither installed nor named is in none of them.
func TestNamedInstalled(t *testing.T) {
	home := t.TempDir()
	bin, config := filepath.Join(home, "bin"), filepath.Join(home, ".config", "rollcall")
	must.Do(t, os.MkdirAll(bin, 0o700))
	must.Do(t, os.MkdirAll(config, 0o700))
	must.Do(t, os.WriteFile(filepath.Join(config, "config.toml"), []byte("[[agent]]\nname = \"my-agent\"\nlaunch = [\"{prompt}\"]\n"), 0o600))
	for _, name := range []string{"aider", "goose"} {
		must.Do(t, os.WriteFile(filepath.Join(bin, name), []byte("#!/bin/sh\nsleep 1000 & wait\n"), 0o700))
	}
	out := inPIDNamespace(t, []string{"HOME=" + home, "PATH=" + bin + ":" + os.Getenv("PATH"), "TERM=dumb"}, `
cd "$HOME"
goose </dev/null >/dev/null 2>&1 &
until "$R" list --json | grep -q '"goose"'; do sleep 0.1; done
echo "@ doctor"; "$R" doctor
echo "@ json"; "$R" doctor --json
echo "@ usage"; "$R" usage 2>&1
echo "@ usage of one"; "$R" usage --agent aider 2>&1
echo "@ launch"; "$R" launch aider -p x 2>&1 || true
echo "@ complete"; "$R" __complete launch "" 2>/dev/null
`)
	parts := map[string]string{}
	for _, part := range strings.Split(out, "@ ")[1:] {
		name, text, _ := strings.Cut(part, "\n")
		parts[name] = text
	}
	for name, wants := range map[string][]string{
		"doctor": {"- Aider: installed; its files are not read: it is seen while it runs\n    program   ~/bin/aider\n", "+ Goose: 1 session in ", "; its files are not read\n",
			"problem   my-agent: the program my-agent was not found; is its folder in PATH?\n"},
		"json":         {`"name":"aider","state":"absent"`},
		"usage":        {"Goose is not read: what it used is not known"},
		"usage of one": {"Aider is not read: what it used is not known"},
		"launch":       {`aider: Rollcall does not know how it is started: add launch to its [[agent]] in config.toml, such as launch = ["--message", "{prompt}"]`},
		"complete":     {"aider\tAider", "goose\tGoose", "my-agent\tmy-agent"},
	} {
		for _, want := range wants {
			if !strings.Contains(parts[name], want) {
				t.Errorf("%s: no %q in\n%s", name, want, parts[name])
			}
		}
		if strings.Contains(parts[name], "crush") || strings.Contains(parts[name], "Crush") {
			t.Errorf("%s: has what is not installed:\n%s", name, parts[name])
		}
	}
	if strings.Contains(parts["doctor"], "format") {
		t.Errorf("a format of files that are not read: %s", parts["doctor"])
	}
}
