// Package opener opens terminals, editors and folders for the user. No command is run by a shell.
package opener

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"rollcall/app/present"
	"rollcall/app/settings"
	"rollcall/bounded"
)

// Opener opens terminals, editors and folders. Its methods may take seconds, so they must not be called on the goroutine of a
// window. They do not wait for a file system that does not answer. What they open outlives Rollcall.
type Opener struct {
	GOOS     string
	Getenv   func(string) string
	LookPath func(string) (string, error)
	FailTime time.Duration // how long a program may take to fail

	// TerminalSetting and EditorSetting are the user's own commands; empty: one is found.
	TerminalSetting, EditorSetting settings.Command
}

// New returns the Opener of this machine with the user's settings.
func New(set *settings.Settings) *Opener {
	return &Opener{GOOS: runtime.GOOS, Getenv: os.Getenv, LookPath: exec.LookPath, FailTime: 700 * time.Millisecond,
		TerminalSetting: set.Terminal, EditorSetting: set.Editor}
}

// terminal is a program that runs another program in a window.
type terminal struct {
	name string
	argv []string
}

// macScript receives the folder and the command as arguments, so that nothing has to be quoted.
var macScript = []string{
	"on run argv",
	`set c to "cd " & quoted form of (item 1 of argv) & " && exec"`,
	"repeat with a in (rest of argv)",
	`set c to c & " " & quoted form of (contents of a)`,
	"end repeat",
	`tell application "Terminal" to do script c`,
	`tell application "Terminal" to activate`,
	"end run",
}

// terminals returns the terminals to try, the user's choice first. Each receives the program and its arguments
// separately; none receives a line for a shell.
func (o *Opener) terminals(folder string, program []string) []terminal {
	with := func(words ...string) []string { return append(words, program...) }
	switch o.GOOS {
	case "darwin":
		argv := []string{"osascript"}
		for _, line := range macScript {
			argv = append(argv, "-e", line)
		}
		return []terminal{{"Terminal", append(append(argv, folder), program...)}}
	case "windows":
		wt := with("wt.exe", "-d", folder)
		for i, word := range wt {
			wt[i] = strings.ReplaceAll(word, ";", `\;`) // a semicolon separates commands of Windows Terminal
		}
		return []terminal{{"Windows Terminal", wt}, {"the console", with("conhost.exe")}}
	}
	list := []terminal{
		{"xdg-terminal-exec", with("xdg-terminal-exec")},
		{"x-terminal-emulator", with("x-terminal-emulator", "-e")},
		{"gnome-terminal", with("gnome-terminal", "--working-directory="+folder, "--")},
		{"konsole", with("konsole", "--workdir", folder, "-e")},
		{"xfce4-terminal", with("xfce4-terminal", "--working-directory="+folder, "-x")},
		{"kitty", with("kitty", "--directory", folder)},
		{"alacritty", with("alacritty", "--working-directory", folder, "-e")},
		{"foot", with("foot", "--working-directory="+folder)},
		{"xterm", with("xterm", "-e")},
	}
	own := o.Getenv("TERMINAL")
	if own == "" {
		return list
	}
	first := terminal{filepath.Base(own), with(own, "-e")}
	for _, t := range list {
		if t.name == first.name { // a terminal of the list gets its own flags
			first.argv = append([]string{own}, t.argv[1:]...)
		}
	}
	return append([]terminal{first}, list...)
}

// Terminal opens a terminal that runs a program with its arguments in folder, and returns the terminal's name. It tries the user's
// own command, or else one terminal after the other. A terminal that ends with an error within FailTime counts as failed; its
// error is returned if no other terminal opens. A folder that does not answer within bounded.WriteLimit is an error.
func (o *Opener) Terminal(folder string, program []string) (string, error) {
	return bounded.In(folder, bounded.WriteLimit, func(left context.Context) (string, error) {
		return o.tryTerminals(left, folder, program)
	})
}

// tryTerminals does the work of Terminal. It starts no terminal after left is done.
func (o *Opener) tryTerminals(left context.Context, folder string, program []string) (string, error) {
	if err := checkFolder(folder); err != nil {
		return "", err
	}
	switch argv, err := o.TerminalSetting.Expand(folder, program); {
	case err != nil:
		return "", err
	case argv != nil:
		return o.start(left, folder, argv)
	}
	var failures []string
	for _, t := range o.terminals(folder, program) {
		path, err := o.LookPath(t.argv[0])
		if err != nil {
			continue
		}
		if err := left.Err(); err != nil {
			return "", err
		}
		if err := o.run(path, t.argv[1:], folder); err != nil {
			failures = append(failures, t.name+": "+err.Error())
			continue
		}
		return t.name, nil
	}
	if len(failures) > 0 {
		return "", errors.New(strings.Join(failures, "; "))
	}
	return "", errors.New("no terminal found; set terminal in config.toml, or TERMINAL in the environment, or copy the command")
}

func checkFolder(folder string) error {
	if info, err := os.Stat(folder); err != nil || !info.IsDir() {
		return fmt.Errorf("%s is not a folder", folder)
	}
	return nil
}

// run starts a program that outlives this process, and waits up to FailTime for it to fail.
func (o *Opener) run(path string, args []string, folder string) error {
	cmd := exec.Command(path, args...)
	cmd.Dir = folder
	cmd.SysProcAttr = detached()
	stderr := o.captureStderr(cmd)
	if stderr != nil {
		defer os.Remove(stderr.Name())
		defer stderr.Close()
	}
	if err := cmd.Start(); err != nil {
		return err
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	select {
	case err := <-ended:
		if err == nil {
			return nil // a terminal that was already running opens the window
		}
		return withOutput(err, stderr)
	case <-time.After(o.FailTime):
		return nil
	}
}

// captureStderr makes the terminal write its errors to a file; a pipe would have no reader once the window is open. It
// returns nil on Windows, where the open file could not be removed and terminals show errors in windows.
func (o *Opener) captureStderr(cmd *exec.Cmd) *os.File {
	if o.GOOS == "windows" {
		return nil
	}
	file, err := os.CreateTemp("", "rollcall-terminal-")
	if err != nil {
		return nil
	}
	cmd.Stderr = file
	return file
}

// withOutput adds the start of file to err; file may be nil.
func withOutput(err error, file *os.File) error {
	if file == nil {
		return err
	}
	text := make([]byte, 2000)
	n, _ := file.ReadAt(text, 0)
	if first := present.Cut(present.Line(present.Head(string(text[:n]))), 300); first != "" {
		return fmt.Errorf("%w: %s", err, first)
	}
	return err
}
