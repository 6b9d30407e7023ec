package scene

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"
	"time"

	"rollcall/adapters"
	"rollcall/internal/agentname"
)

// claude plays Claude Code 2.1.329.
type claude struct{ *Environment }

// ClaudeCode plays Claude Code 2.1.329: the registry of running processes, and
// transcripts.
func ClaudeCode(w *Environment) Agent { return claude{w} }

func (c claude) Name() adapters.Name { return agentname.ClaudeCode }
func (c claude) Store() string       { return c.Path(".claude") }

func (c claude) Install() {
	c.check(os.MkdirAll(c.Path(".claude", "projects"), 0o755))
	c.check(os.MkdirAll(c.Path(".claude", "sessions"), 0o755))
}

// claudeState is what a running process knows.
type claudeState struct {
	messages int
	status   string
	waiting  string
	left     []string // registry entries of killed processes
}

func (c claude) Start(cwd, prompt string) *Session {
	c.Install()
	s := newSession(agentname.ClaudeCode, c, c.chosenID(), cwd)
	slug := strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' {
			return r
		}
		return '-'
	}, cwd)
	s.File = c.Path(".claude", "projects", slug, s.ID+".jsonl")
	s.state = &claudeState{}
	c.resume(s, prompt)
	return s
}

func (c claude) resume(s *Session, prompt string) {
	c.open(s)
	c.prompt(s, prompt)
}

func (c claude) open(s *Session) adapters.Outcome {
	s.Process = c.Procs.Start(Spec{Comm: "claude", Exe: ClaudeProgram, CWD: s.CWD,
		Args: []string{"claude"}, Env: []string{"HOME=" + c.Home}})
	s.state.(*claudeState).status = "idle"
	c.register(s)
	return s.Truth().Outcome
}

// register writes the registry's entry as the program does: truncated, then
// written.
func (c claude) register(s *Session) {
	st, now := s.state.(*claudeState), time.Now().UnixMilli()
	entry := map[string]any{
		"pid": s.Process.PID, "sessionId": s.ID, "cwd": s.CWD, "startedAt": now, "procStart": fmt.Sprint(s.Process.Start),
		"version": "2.1.329", "kind": "interactive", "entrypoint": "cli", "pidDomain": c.Table.Domain(),
		"name": "proj-35", "nameSource": "derived", "status": st.status, "updatedAt": now, "statusUpdatedAt": now,
	}
	if st.waiting != "" {
		entry["waitingFor"] = st.waiting
	}
	text, err := json.Marshal(entry)
	c.check(err)
	c.Write(c.entry(s), string(text))
}

func (c claude) entry(s *Session) string {
	return c.Path(".claude", "sessions", fmt.Sprintf("%d.json", s.Process.PID))
}

func (c claude) set(s *Session, status, waiting string) {
	st := s.state.(*claudeState)
	st.status, st.waiting = status, waiting
	c.register(s)
}

// line is a record of the transcript: what all have, and more.
func (c claude) line(s *Session, more string) string {
	return fmt.Sprintf(`{"parentUuid":null,"isSidechain":false,%s,"uuid":%q,"timestamp":%q,"userType":"external","entrypoint":"cli","cwd":%q,"sessionId":%q,"version":"2.1.329","gitBranch":"main"}`,
		more, c.uuid(4), stamp(), s.CWD, s.ID)
}

func (c claude) prompt(s *Session, text string) {
	if st := s.state.(*claudeState); st.status == "waiting" { // granted: the tool has run
		c.Append(s.File, c.line(s, `"type":"user","message":{"role":"user","content":[{"tool_use_id":"toolu_1","type":"tool_result","content":"ok"}]}`))
		c.set(s, "busy", "")
		return
	}
	c.set(s, "busy", "")
	quoted, _ := json.Marshal(text)
	c.Append(s.File, c.line(s, `"type":"user","message":{"role":"user","content":`+string(quoted)+`}`))
}

// message writes an assistant's record with one block.
func (c claude) message(s *Session, stop, block string) {
	st := s.state.(*claudeState)
	st.messages++
	c.Append(s.File, c.line(s, fmt.Sprintf(`"type":"assistant","requestId":"r","message":{"id":"msg_%d","type":"message","role":"assistant","model":"claude-opus-5-5","content":[%s],"stop_reason":%q,"usage":{"input_tokens":10,"cache_creation_input_tokens":2,"cache_read_input_tokens":30,"output_tokens":4}}`,
		st.messages, block, stop)))
}

func (c claude) answer(s *Session, text string) {
	quoted, _ := json.Marshal(text)
	c.message(s, "end_turn", `{"type":"text","text":`+string(quoted)+`}`)
	c.set(s, "idle", "")
}

func (c claude) waitsFor() adapters.WaitingFor { return adapters.ForPermission }

func (c claude) ask(s *Session) {
	c.message(s, "tool_use", `{"type":"tool_use","id":"toolu_1","name":"Bash","input":{"command":"make"}}`)
	c.set(s, "waiting", "permission prompt")
}

func (c claude) exit(s *Session) {
	c.drop(s)
	c.Procs.End(s.Process.PID)
}

func (c claude) drop(s *Session) { _ = os.Remove(c.entry(s)) }

func (c claude) kill(s *Session) {
	st := s.state.(*claudeState)
	st.left = append(st.left, c.entry(s))
	c.Procs.End(s.Process.PID)
}

func (c claude) forget(s *Session) {
	for _, entry := range s.state.(*claudeState).left {
		text, err := os.ReadFile(entry)
		if errors.Is(err, fs.ErrNotExist) || err == nil && !strings.Contains(string(text), s.ID) {
			continue // another session's process has had this pid since
		}
		c.check(errors.Join(err, os.Remove(entry)))
	}
	c.check(os.Remove(s.File))
}

func (c claude) strange(s *Session) {
	c.Append(s.File, fmt.Sprintf(`{"type":"moonshine","sessionId":%q,"phase":{"of":["the","moon"]}}`, s.ID))
}
