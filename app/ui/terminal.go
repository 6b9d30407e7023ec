package ui

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"
)

// system is what the pages ask of the machine. All of it may block, so none of
// it is asked on the UI goroutine.
type system interface {
	exists(path string) bool
	isFolder(path string) bool
	// openTerminal opens a terminal that runs a program with its arguments in
	// folder, and returns the terminal's name.
	openTerminal(folder string, program []string) (string, error)
}

type machine struct {
	goos     string
	getenv   func(string) string
	lookPath func(string) (string, error)
	patience time.Duration // how long a terminal may take to fail
}

func realSystem() system {
	return &machine{goos: runtime.GOOS, getenv: os.Getenv, lookPath: exec.LookPath, patience: 700 * time.Millisecond}
}

func (m *machine) exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

func (m *machine) isFolder(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}

// A terminal is a program that shows another one in a window.
type terminal struct {
	name string
	argv []string
}

// macScript reads its arguments, so nothing is quoted into it.
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

// terminals are those to try, the user's own choice first. Each gets the program
// and its arguments as they are: none is given a line for a shell.
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
		if t.name == first.name { // it has its own way of being told
			first.argv = append([]string{own}, t.argv[1:]...)
		}
	}
	return append([]terminal{first}, list...)
}

// escapeWT keeps Windows Terminal from taking a semicolon for the end of a
// command of its own.
func escapeWT(word string) string { return strings.ReplaceAll(word, ";", `\;`) }

func escapeWTs(words []string) []string {
	out := slices.Clone(words)
	for i := range out {
		out[i] = escapeWT(out[i])
	}
	return out
}

// openTerminal tries one terminal after the other. One that ends with an error
// at once counts as failed: it said why, and the user shall read it.
func (m *machine) openTerminal(folder string, program []string) (string, error) {
	if !m.isFolder(folder) {
		return "", fmt.Errorf("%s is not a folder", folder)
	}
	var failures []string
	for _, t := range m.terminals(folder, program) {
		path, err := m.lookPath(t.argv[0])
		if err != nil {
			continue
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
	return "", errors.New("no terminal found; set TERMINAL to the program of yours, or copy the command")
}

// run starts a terminal that outlives this process, and gives it a moment to
// fail.
func (m *machine) run(path string, args []string, folder string) error {
	cmd := exec.Command(path, args...)
	cmd.Dir = folder
	cmd.SysProcAttr = detached()
	said := m.listen(cmd)
	if said != nil {
		defer os.Remove(said.Name())
		defer said.Close()
	}
	if err := cmd.Start(); err != nil {
		return err
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	select {
	case err := <-ended:
		if err == nil {
			return nil // it handed over to one that runs already
		}
		return failure(err, said)
	case <-time.After(m.patience):
		return nil
	}
}

// listen lets the terminal complain into a file: nobody would read a pipe once
// it has its window. Windows could not remove the file in time, and its
// terminals complain in windows.
func (m *machine) listen(cmd *exec.Cmd) *os.File {
	if m.goos == "windows" {
		return nil
	}
	said, err := os.CreateTemp("", "rollcall-terminal-")
	if err != nil {
		return nil
	}
	cmd.Stderr = said
	return said
}

func failure(err error, said *os.File) error {
	if said == nil {
		return err
	}
	text := make([]byte, 2000)
	n, _ := said.ReadAt(text, 0)
	if first := short(string(text[:n])); first != "" {
		return fmt.Errorf("%w: %s", err, first)
	}
	return err
}
