package macos

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"rollcall/internal/must"
)

// fakes are the programs of macOS that check-mac asks, and what they print.
var fakes = map[string]string{
	"uname": `case $1 in -s) echo Darwin;; *) echo arm64;; esac`, "sw_vers": "echo ProductVersion: 15.1", "csrutil": "echo enabled", "sysctl": "echo 61440",
	"codesign": "echo 'flags=0x10000(runtime)' >&2", "launchctl": "echo '\"io.github.rollcall\" => enabled'", "plutil": "true", "spctl": "true", "log": "true",
	"rollcall": `echo "rollcall $1 for $USERNAME in $HOME/x"`, "id": `case $1 in -un) echo annabel;; *) echo 501;; esac`,
	"ps": `case "$*" in
*-axo*) echo "  77 codex /opt/codex exec SECRET"; echo "  78 2.1.332 claude SECRET"; echo "  79 Finder /x/Finder";;
*-E*) echo "codex HOME=/Users/annabel PATH=/bin SECRET=1";;
*command=*) echo "77 /opt/codex exec SECRET";;
*stat=*ucomm=*) echo "77 1 S codex /opt/codex";;
*) echo T;;
esac`,
}

// The script says what it prints before anything else, prints all of it, and neither command lines nor names unless asked. It ran on Linux, with stand-ins
// for the programs of macOS.
func TestCheckMac(t *testing.T) {
	must.Have(t, "bash", "awk")
	dir, home := t.TempDir(), filepath.Join(t.TempDir(), "annabel")
	must.Do(t, os.Mkdir(home, 0o700))
	for name, text := range fakes {
		must.Do(t, os.WriteFile(filepath.Join(dir, name), []byte("#!/bin/bash\n"+text+"\n"), 0o700))
	}
	check := func(args ...string) string {
		t.Helper()
		cmd := exec.Command("bash", append([]string{"check-mac"}, args...)...)
		cmd.Env = []string{"PATH=" + dir + ":/usr/bin:/bin", "HOME=" + home, "USERNAME=annabel"}
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		return string(out)
	}
	out := check()
	for _, want := range []string{"ProductVersion: 15.1", "rollcall version for USER in ~/x", "77 1 S codex", "77: HOME PATH  flags=0x10000(runtime)", "rollcall doctor for USER", "stopped: T"} {
		if !strings.Contains(out, want) {
			t.Errorf("no %q in\n%s", want, out)
		}
	}
	for _, part := range []string{"1 system", "2 versions", "3 names", "4 env", "5 lsof", "6 rollcall", "7 susp", "8 app", "9 denied", "10 please"} {
		if strings.Count(out, "\n## "+part) != 1 {
			t.Errorf("part %s is not printed once", part)
		}
	}
	if !strings.HasPrefix(out, "Usage: check-mac") || strings.Contains(out, "SECRET") || strings.Contains(out, "annabel") || strings.Contains(out, "Finder") || strings.Contains(out, "not found") {
		t.Errorf("it prints what it must not, or lacks a program:\n%s", out)
	}
	if out := check("--command-lines"); !strings.Contains(out, "exec SECRET") {
		t.Errorf("asked for command lines:\n%s", out)
	}
}
