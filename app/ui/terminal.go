package ui

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"rollcall/bounded"
)

// system is the machine that the window runs on. Its methods may take seconds, so they must not be called on Fyne's
// goroutine. They do not wait for a file system that does not answer.
type system interface {
	placeNote(path string) string // see machine.placeNote
	// openTerminal opens a terminal that runs a program with its arguments in folder, and returns the terminal's name.
	openTerminal(folder string, program []string) (string, error)
}

type machine struct {
	goos     string
	getenv   func(string) string
	lookPath func(string) (string, error)
	failTime time.Duration // how long a terminal may take to fail
}

func realSystem() system {
	return &machine{goos: runtime.GOOS, getenv: os.Getenv, lookPath: exec.LookPath, failTime: 700 * time.Millisecond}
}

// placeNote returns what is wrong with a place where an agent's files are read; "" if it exists.
func (m *machine) placeNote(path string) string {
	_, err := bounded.In(path, bounded.ReadLimit, func(context.Context) (os.FileInfo, error) { return os.Stat(path) })
	switch {
	case errors.Is(err, bounded.ErrNoAnswer):
		return "does not respond"
	case err != nil:
		return "does not exist"
	}
	return ""
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
func (m *machine) terminals(folder string, program []string) []terminal {
	with := func(words ...string) []string { return append(words, program...) }
	switch m.goos {
	case "darwin":
		argv := []string{"osascript"}
		for _, line := range macScript {
			argv = append(argv, "-e", line)
		}
		return []terminal{{"Terminal", append(append(argv, folder), program...)}}
	case "windows":
		return []terminal{
			{"Windows Terminal", append([]string{"wt.exe", "-d", escapeWT(folder)}, escapeWTs(program)...)},
			{"the console", with("conhost.exe")},
		}
	}
	list := []terminal{
		{"x-terminal-emulator", with("x-terminal-emulator", "-e")},
		{"gnome-terminal", with("gnome-terminal", "--working-directory="+folder, "--")},
		{"konsole", with("konsole", "--workdir", folder, "-e")},
		{"xfce4-terminal", with("xfce4-terminal", "--working-directory="+folder, "-x")},
		{"kitty", with("kitty", "--directory", folder)},
		{"alacritty", with("alacritty", "--working-directory", folder, "-e")},
		{"foot", with("foot", "--working-directory="+folder)},
		{"xterm", with("xterm", "-e")},
	}
	own := m.getenv("TERMINAL")
	if own == "" {
		return list
	}
	first := terminal{filepath.Base(own), with(own, "-e")}
	for _, t := range list {
		if t.name == first.name { // it has its own flags
			first.argv = append([]string{own}, t.argv[1:]...)
		}
	}
	return append([]terminal{first}, list...)
}

// escapeWT escapes semicolons, which separate commands of Windows Terminal.
func escapeWT(word string) string { return strings.ReplaceAll(word, ";", `\;`) }

func escapeWTs(words []string) []string {
	out := slices.Clone(words)
	for i := range out {
		out[i] = escapeWT(out[i])
	}
	return out
}

// openTerminal tries one terminal after the other. A terminal that ends with an error within failTime counts as failed;
// its error is returned if no other terminal opens. A folder that does not answer within bounded.WriteLimit is an error.
func (m *machine) openTerminal(folder string, program []string) (string, error) {
	return bounded.In(folder, bounded.WriteLimit, func(left context.Context) (string, error) {
		return m.tryTerminals(left, folder, program)
	})
}

// tryTerminals does the work of openTerminal. It starts no terminal after left is done.
func (m *machine) tryTerminals(left context.Context, folder string, program []string) (string, error) {
	if info, err := os.Stat(folder); err != nil || !info.IsDir() {
		return "", fmt.Errorf("%s is not a folder", folder)
	}
	var failures []string
	for _, t := range m.terminals(folder, program) {
		path, err := m.lookPath(t.argv[0])
		if err != nil {
			continue
		}
		if err := left.Err(); err != nil {
			return "", err
		}
		if err := m.run(path, t.argv[1:], folder); err != nil {
			failures = append(failures, t.name+": "+err.Error())
			continue
		}
		return t.name, nil
	}
	if len(failures) > 0 {
		return "", errors.New(strings.Join(failures, "; "))
	}
	return "", errors.New("no terminal found; set TERMINAL to the program of your terminal, or copy the command")
}

// run starts a terminal that outlives this process, and waits up to failTime for it to fail.
func (m *machine) run(path string, args []string, folder string) error {
	cmd := exec.Command(path, args...)
	cmd.Dir = folder
	cmd.SysProcAttr = detached()
	stderr := m.captureStderr(cmd)
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
			return nil // a terminal that was running opens the window
		}
		return withOutput(err, stderr)
	case <-time.After(m.failTime):
		return nil
	}
}

// captureStderr makes the terminal write its errors to a file; a pipe would have no reader once the window is open. It
// returns nil on Windows, where the open file could not be removed and terminals show errors in windows.
func (m *machine) captureStderr(cmd *exec.Cmd) *os.File {
	if m.goos == "windows" {
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
	if first := short(string(text[:n])); first != "" {
		return fmt.Errorf("%w: %s", err, first)
	}
	return err
}
