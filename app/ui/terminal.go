package ui

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"time"
)

// system is what the launch and agents pages ask of the machine. All of it may
// block, so none of it is asked on the UI goroutine.
type system interface {
	// agentPath returns where the program of an agent is, or an error.
	agentPath(program string) (string, error)
	exists(path string) bool
	isFolder(path string) bool
	// openTerminal opens a terminal that runs program in folder, and returns
	// the terminal's name.
	openTerminal(folder, program string) (string, error)
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

func (m *machine) agentPath(program string) (string, error) {
	path, err := m.lookPath(program)
	if err != nil {
		return "", err
	}
	return filepath.Abs(path)
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

// terminals are those to try, the user's own choice first.
func (m *machine) terminals(folder, program string) []terminal {
	switch m.goos {
	case "darwin":
		// The script reads its arguments, so nothing is quoted into it.
		return []terminal{{"Terminal", []string{"osascript",
			"-e", "on run argv",
			"-e", `tell application "Terminal" to do script "cd " & quoted form of (item 1 of argv) & " && " & quoted form of (item 2 of argv)`,
			"-e", `tell application "Terminal" to activate`,
			"-e", "end run", folder, program}}}
	case "windows":
		return []terminal{
			{"Windows Terminal", []string{"wt.exe", "-d", folder, "cmd.exe", "/k", program}},
			{"Command Prompt", []string{"cmd.exe", "/c", "start", "Rollcall", "/D", folder, "cmd.exe", "/k", program}},
		}
	}
	list := []terminal{
		{"x-terminal-emulator", []string{"x-terminal-emulator", "-e", program}},
		{"gnome-terminal", []string{"gnome-terminal", "--working-directory=" + folder, "--", program}},
		{"konsole", []string{"konsole", "--workdir", folder, "-e", program}},
		{"xfce4-terminal", []string{"xfce4-terminal", "--working-directory=" + folder, "-x", program}},
		{"xterm", []string{"xterm", "-e", program}},
	}
	if own := m.getenv("TERMINAL"); own != "" {
		list = append([]terminal{{filepath.Base(own), []string{own, "-e", program}}}, list...)
	}
	return list
}

// openTerminal tries one terminal after the other. One that ends with an error
// at once counts as failed: it said why, and the user shall read it.
func (m *machine) openTerminal(folder, program string) (string, error) {
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
