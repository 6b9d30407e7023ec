package opener

import (
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"rollcall/internal/must"
)

// TestTerminal starts real programs in place of terminals.
func TestTerminal(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("the stand-ins are shell scripts")
	}
	bin, folder := t.TempDir(), t.TempDir()
	said := filepath.Join(bin, "said")
	script := func(name, body string) {
		must.Do(t, os.WriteFile(filepath.Join(bin, name), []byte("#!/bin/sh\n"+body+"\n"), 0o755))
	}
	m := &Opener{GOOS: "linux", FailTime: 5 * time.Second,
		Getenv: func(string) string { return "" },
		LookPath: func(name string) (string, error) {
			return exec.LookPath(filepath.Join(bin, filepath.Base(name)))
		}}

	if _, err := m.Terminal(folder, []string{"/bin/claude", "--a", "b c; $(d)"}); err == nil || !strings.Contains(err.Error(), "TERMINAL in the environment") {
		t.Errorf("without a terminal: %v", err)
	}
	if _, err := m.Terminal(filepath.Join(folder, "gone"), []string{"/bin/claude", "--a", "b c; $(d)"}); err == nil || !strings.Contains(err.Error(), "not a folder") {
		t.Errorf("without the folder: %v", err)
	}

	script("xterm", "echo cannot open display >&2; exit 1")
	if _, err := m.Terminal(folder, []string{"/bin/claude", "--a", "b c; $(d)"}); err == nil || !strings.Contains(err.Error(), "xterm: exit status 1: cannot open display") {
		t.Errorf("the terminal's own words are lost: %v", err)
	}

	record := "pwd > '" + said + "'; echo \"$@\" >> '" + said + "'; ps -o sid= -p $$ >> '" + said + "'"
	for name, args := range map[string]string{
		"xfce4-terminal": "--working-directory=" + folder + " -x /bin/claude --a b c; $(d)", "konsole": "--workdir " + folder + " -e /bin/claude --a b c; $(d)",
		"gnome-terminal": "--working-directory=" + folder + " -- /bin/claude --a b c; $(d)", "x-terminal-emulator": "-e /bin/claude --a b c; $(d)", "own": "-e /bin/claude --a b c; $(d)",
	} {
		script(name, record)
		if name == "own" {
			m.Getenv = func(string) string { return "/usr/bin/own" }
		}
		got, err := m.Terminal(folder, []string{"/bin/claude", "--a", "b c; $(d)"})
		if err != nil || got != name {
			t.Errorf("opened %q (%v), want %q", got, err, name)
		}
		text, _ := os.ReadFile(said)
		lines := strings.Split(string(text), "\n")
		if lines[0] != folder || lines[1] != args {
			t.Errorf("%s ran in %q with %q, want %q with %q", name, lines[0], lines[1], folder, args)
		}
		m.Getenv = func(string) string { return "" }
		_ = os.Remove(filepath.Join(bin, name))
	}
}

// TestSettings: the user's own commands go before all that is found, and fail by themselves.
func TestSettings(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("the stand-ins are shell scripts")
	}
	bin, folder := t.TempDir(), filepath.Join(t.TempDir(), "a b")
	must.Do(t, os.Mkdir(folder, 0o700))
	said := filepath.Join(bin, "said")
	for _, name := range []string{"xterm", "mine", "code", "vim", "xdg-open", "open"} {
		must.Do(t, os.WriteFile(filepath.Join(bin, name), []byte("#!/bin/sh\nfor a in "+name+" \"$@\"; do echo \"[$a]\"; done >'"+said+"'\n"), 0o700))
	}
	environment := map[string]string{}
	o := &Opener{GOOS: "linux", FailTime: 5 * time.Second, Getenv: func(name string) string { return environment[name] },
		LookPath: func(name string) (string, error) { return exec.LookPath(filepath.Join(bin, filepath.Base(name))) }}
	check := func(what, want string, err error) {
		t.Helper()
		text, _ := os.ReadFile(said)
		if got := strings.ReplaceAll(strings.TrimSpace(string(text)), "\n", ""); err != nil || got != want {
			t.Errorf("%s: %v, %s, want %s", what, err, got, want)
		}
	}
	o.TerminalSetting = "mine --in {folder} -- {command}"
	_, err := o.Terminal(folder, []string{"claude", "a; b"})
	check("terminal", "[mine][--in]["+folder+"][--][claude][a; b]", err)
	o.TerminalSetting = "gone"
	if _, err := o.Terminal(folder, []string{"claude"}); err == nil || err.Error() != "gone is not installed" {
		t.Errorf("a terminal that is not there: %v", err)
	}
	o.TerminalSetting = ""
	_, err = o.Editor(folder)
	check("an editor that is found", "[code]["+folder+"]", err)
	environment["EDITOR"] = "vim -u NONE"
	_, err = o.Editor(folder)
	check("EDITOR", "[xterm][-e][vim][-u][NONE]["+folder+"]", err)
	environment["VISUAL"] = "/usr/bin/code --wait"
	_, err = o.Editor(folder)
	check("VISUAL", "[code]["+folder+"]", err)
	o.EditorSetting = "mine {folder}/x"
	_, err = o.Editor(folder)
	check("editor", "[mine]["+folder+"/x]", err)
	check("folder", "[xdg-open]["+folder+"]", o.Folder(folder))
	o.GOOS = "darwin"
	check("a folder that may be an application", "[open][-R]["+folder+"]", o.Folder(folder))
	o.GOOS = "windows"
	if err := o.Folder(filepath.Join(bin, "a.exe,b")); err == nil || !strings.Contains(err.Error(), "comma") {
		t.Errorf("a folder that the Explorer would take for a program and a folder: %v", err)
	}
	o.GOOS = "linux"
	if err := o.Folder(filepath.Join(folder, "gone")); err == nil || !strings.Contains(err.Error(), "not a folder") {
		t.Errorf("a folder that is not there: %v", err)
	}
}
