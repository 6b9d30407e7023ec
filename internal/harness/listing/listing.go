// Package listing asks coding agents which sessions they have, by their own commands and protocols. It imports nothing of Rollcall's, so that it shares no
// rule with an adapter: what it reads is the truth with which Rollcall's list is compared.
package listing

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"time"
)

// Session is one that an agent lists.
type Session struct {
	ID  string
	PID int    // 0: the listing names none; of a listing that is not Live it can be that of a process that was killed (Cline 3.0.65)
	CWD string // empty: the listing names none
}

// Is reports whether a row with an id and a process can be of s: the listing names that process, none, or one that has ended.
func (s *Session) Is(id string, pid int) bool {
	if s.ID != id || s.PID == 0 || s.PID == pid {
		return s.ID == id
	}
	_, err := os.Stat(fmt.Sprintf("/proc/%d", s.PID))
	return pid == 0 && errors.Is(err, fs.ErrNotExist)
}

// Way is how a release is asked.
type Way struct {
	Args   []string // of its command
	Live   bool     // it lists only sessions that have a process
	Folder bool     // it lists only sessions of the folder, or of its project, in which it runs
	// says are the messages of a conversation, a JSON object a line; the listing is the reply to the last one. nil: the command prints the listing.
	says []string
	read func(output []byte) ([]Session, error)
}

// Ways are those of the agents that have one. Pi 1.6.0 and oh-my-pi 18.2.3 list their sessions only on a screen where one is chosen.
var Ways = map[string][]Way{
	"claude-code": {{Args: []string{"agents", "--json"}, Live: true, read: readJSON}},
	"codex": {{Args: []string{"app-server"}, read: readReply, says: []string{
		`{"id":1,"method":"initialize","params":{"clientInfo":{"name":"listing","version":"1"}}}`, `{"method":"initialized"}`,
		`{"id":2,"method":"thread/list","params":{"limit":1000,"modelProviders":[],"sourceKinds":["cli","vscode","exec","appServer","unknown"]}}`}}},
	"opencode": {{Args: []string{"session", "list", "--format", "json", "-n", "1000"}, Folder: true, read: readJSON}},
	"kilo":     {{Args: []string{"session", "list", "--all", "--format", "json", "-n", "1000"}, read: readJSON}},
	"qwen": {{Args: []string{"sessions", "list", "--json", "--limit", "1000"}, Folder: true, read: readJSON},
		{Args: []string{"sessions", "ps", "--json"}, Live: true, read: readJSON}},
	"copilot": {{Args: []string{"--acp"}, read: readReply, says: acp}},
	"cline":   {{Args: []string{"history", "--json", "--limit", "1000"}, read: readJSON}},
	"gemini":  {{Args: []string{"--list-sessions"}, Folder: true, read: readText}},
	"grok":    {{Args: []string{"sessions", "list", "-n", "1000"}, read: readText}},
	"kimi":    {{Args: []string{"acp"}, read: readReply, says: acp}},
}

// acp asks over the Agent Client Protocol.
var acp = []string{`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":1,"clientCapabilities":{}}}`,
	`{"jsonrpc":"2.0","id":2,"method":"session/list","params":{}}`}

// limit is how long an agent may take to list its sessions on a busy machine.
const limit = 90 * time.Second

// Ask runs the agent with the arguments of the way in a folder and an environment, and returns the sessions that it lists.
func (w Way) Ask(program []string, dir string, env []string) ([]Session, error) {
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	argv := append(append([]string{}, program...), w.Args...)
	cmd := exec.CommandContext(ctx, argv[0], argv[1:]...)
	cmd.Dir, cmd.Env = dir, env
	cmd.WaitDelay = time.Second
	var problems bytes.Buffer
	cmd.Stderr = &problems
	var output []byte
	var err error
	if w.says == nil {
		output, err = cmd.Output()
	} else {
		output, err = w.talk(cmd)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w: %.2000s%.2000s", strings.Join(argv, " "), err, output, problems.Bytes())
	}
	list, err := w.read(output)
	if err != nil {
		return nil, fmt.Errorf("%s: %w: %.2000s%.2000s", strings.Join(argv, " "), err, output, problems.Bytes())
	}
	return list, nil
}

// talk holds the conversation, and returns the reply to its last message.
func (w Way) talk(cmd *exec.Cmd) (reply []byte, err error) {
	in, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	defer func() {
		in.Close()
		_ = cmd.Process.Kill()
		_ = cmd.Wait() // it was killed
	}()
	lines := bufio.NewScanner(out)
	lines.Buffer(nil, 1<<24)
	for _, message := range w.says {
		if _, err := fmt.Fprintln(in, message); err != nil {
			return nil, err
		}
		var asked struct{ ID int }
		if err := json.Unmarshal([]byte(message), &asked); err != nil {
			return nil, err
		}
		if asked.ID == 0 {
			continue
		}
		if reply, err = replyTo(asked.ID, lines); err != nil {
			return nil, err
		}
	}
	return reply, nil
}

func replyTo(id int, lines *bufio.Scanner) ([]byte, error) {
	for lines.Scan() {
		var m struct {
			ID     any
			Method string
		}
		if json.Unmarshal(lines.Bytes(), &m) == nil && m.Method == "" && m.ID == float64(id) {
			return bytes.Clone(lines.Bytes()), nil
		}
	}
	return nil, errors.Join(errors.New("no reply"), lines.Err())
}

// entry is a session in JSON, by the names that the agents have for its members.
type entry struct {
	ID        string
	SessionID string `json:"sessionId"`
	Snake     string `json:"session_id"`
	PID       int
	CWD       string
	Directory string
	Root      string `json:"workspaceRoot"`
	WorkDir   string `json:"workDir"`
}

func sessionsOf(entries []entry) (list []Session, err error) {
	for _, e := range entries {
		s := Session{ID: first(e.SessionID, e.Snake, e.ID), PID: e.PID, CWD: first(e.CWD, e.Directory, e.Root, e.WorkDir)}
		if s.ID == "" {
			return nil, errors.New("a session without an id")
		}
		list = append(list, s)
	}
	return list, nil
}

func first(all ...string) string {
	for _, one := range all {
		if one != "" {
			return one
		}
	}
	return ""
}

// readJSON reads an array, or an object a line. What is printed before it is no listing.
func readJSON(output []byte) ([]Session, error) {
	begin := bytes.IndexAny(output, "[{")
	if begin < 0 {
		if len(bytes.TrimSpace(output)) > 0 {
			return nil, errors.New("no JSON")
		}
		return nil, nil // OpenCode 1.18.33 prints nothing where there is no session
	}
	var entries []entry
	if output[begin] == '[' {
		err := json.Unmarshal(output[begin:], &entries)
		if err != nil {
			return nil, err
		}
		return sessionsOf(entries)
	}
	for decoder := json.NewDecoder(bytes.NewReader(output[begin:])); decoder.More(); {
		var e entry
		if err := decoder.Decode(&e); err != nil {
			return nil, err
		}
		entries = append(entries, e)
	}
	return sessionsOf(entries)
}

// readReply reads the reply of a conversation.
func readReply(reply []byte) ([]Session, error) {
	var r struct {
		Error  json.RawMessage
		Result struct {
			Data, Sessions []entry
			NextCursor     string
		}
	}
	if err := json.Unmarshal(reply, &r); err != nil {
		return nil, err
	}
	if len(r.Error) > 0 || r.Result.NextCursor != "" {
		return nil, errors.New("not all sessions are listed")
	}
	return sessionsOf(append(r.Result.Data, r.Result.Sessions...))
}

var identifier = regexp.MustCompile(`[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}`)

// readText reads a listing for people, with the id of a session in each line that has one.
func readText(output []byte) (list []Session, err error) {
	for line := range strings.Lines(string(output)) {
		if id := identifier.FindString(line); id != "" {
			list = append(list, Session{ID: id})
		}
	}
	return list, nil
}
