package pistore

import (
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"

	"rollcall/adapters"
	"rollcall/adapters/internal/agentproc"
)

// Program finds the program of Pi or of pi_agent_rust among those of these names: both
// are called pi, and only that of pi_agent_rust is native. look is exec.LookPath or a
// function like it; its error is returned when there is no such program.
func Program(native bool, look func(string) (string, error), names ...string) (string, error) {
	var failed error
	for _, name := range names {
		path, err := look(name)
		if err != nil {
			failed = err
			continue
		}
		if is, err := isNative(path); err == nil && is == native {
			return path, nil
		}
		failed = errors.New(path + " is the other agent with that name")
	}
	return "", failed
}

// isNative reports whether a program is a binary in the system's own format. npm's
// shims are scripts on every system.
func isNative(path string) (bool, error) {
	switch strings.ToLower(filepath.Ext(path)) {
	case ".cmd", ".bat", ".ps1", ".js":
		return false, nil
	}
	f, err := os.Open(path)
	if err != nil {
		return false, err
	}
	defer func() { _ = f.Close() }()
	head := make([]byte, 4)
	if _, err := io.ReadFull(f, head); err != nil {
		return false, err
	}
	for _, magic := range []string{"\x7fELF", "MZ", "\xcf\xfa\xed\xfe", "\xce\xfa\xed\xfe", "\xca\xfe\xba\xbe"} {
		if bytes.HasPrefix(head, []byte(magic)) {
			return true, nil
		}
	}
	return false, nil
}

// Modes implements adapters.Launcher: neither agent asks for permission.
func (s *Store) Modes() []adapters.Mode { return nil }

// Command implements adapters.Launcher (Pi 0.73.1 and 1.5.2; pi_agent_rust according to its documentation), with the
// options that both programs have. In the background the prompt goes to standard input; in a terminal it must be an
// argument. Pi before --session-id, and pi_agent_rust, choose the id of a new session
// themselves.
func (s *Store) Command(program string, t adapters.Task) (adapters.Command, error) {
	c := adapters.Command{Path: program, Session: t.Resume}
	if err := agentproc.UseHome(&c, t.Home, s.agentDir(), "PI_CODING_AGENT_DIR", ""); err != nil {
		return c, err
	}
	switch {
	case t.Terminal:
	case t.Answerable:
		c.Args = []string{"--mode", "rpc"}
		c.Stdin = string(promptLine("", t.Prompt, false)) + "\n"
		c.Pipe = true
	default:
		c.Args, c.Stdin = []string{"-p", "--mode", "json"}, t.Prompt
	}
	if t.Resume != "" {
		if dir := s.resumeDir(t.Resume); dir != "" {
			c.Args = append(c.Args, "--session-dir", dir)
		}
		c.Args = append(c.Args, "--session", t.Resume)
	}
	if t.Model != "" {
		c.Args = append(c.Args, "--model", t.Model)
	}
	if t.Terminal && t.Prompt != "" {
		c.Args = append(c.Args, asMessage(t.Prompt))
	}
	return c, nil
}

// asMessage returns the prompt in a form that Pi does not read as an option or as the name of a file.
func asMessage(prompt string) string {
	if strings.HasPrefix(prompt, "-") || strings.HasPrefix(prompt, "@") {
		return " " + prompt
	}
	return prompt
}
