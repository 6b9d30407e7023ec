package cline

import (
	"errors"
	"strings"
	"time"

	"rollcall/adapters"
	"rollcall/adapters/internal/agentfile"
)

const (
	manifestLimit = 4 << 20
	textLimit     = 4 << 10 // of prompts and titles
	// formatVersion is the version that Cline 3.0.65 writes into manifests and conversations.
	formatVersion = 1
	// lostProcess marks the sessions of which the hub found at its start that their process had ended.
	lostProcess = "failed_external_process_exit"
)

// manifest is a session as its manifest, or its row in the database, describes it.
type manifest struct {
	id, status, parent     string
	pid                    int
	started, ended         time.Time
	interactive            bool
	model, cwd, branch     string
	title, prompt, version string
	lost                   bool // the hub found that the process that the manifest names had ended
	stated                 *adapters.Tokens
	cost                   float64
	newer                  int64     // the version of the form, where it is newer than known
	turnAt                 time.Time // of the last checkpoint, which Cline makes in a repository when a turn begins
	modified               time.Time
	agent                  string // of a sub-agent: the name of its conversation
}

// parseManifest reads a manifest. The error is agentfile.ErrSyntax for a file that is being written.
func parseManifest(data []byte) (manifest, error) {
	var m manifest
	texts := map[string]*string{"session_id": &m.id, "status": &m.status, "model": &m.model, "cwd": &m.cwd}
	err := agentfile.Top(data, func(key, raw []byte) bool {
		switch name := string(key); name {
		case "version":
			if n, _ := agentfile.Int(raw); n > formatVersion {
				m.newer = n
			}
		case "pid":
			if n, ok := agentfile.Int(raw); ok && n > 0 && n < 1<<31 {
				m.pid = int(n)
			}
		case "started_at":
			m.started = agentfile.Time(raw)
		case "ended_at":
			m.ended = agentfile.Time(raw)
		case "interactive":
			m.interactive = agentfile.True(raw)
		case "prompt":
			m.prompt = promptText(raw)
		case "metadata":
			m.describe(raw)
		default:
			if to := texts[name]; to != nil {
				*to, _ = agentfile.Head(raw, textLimit)
			}
		}
		return true
	})
	if err != nil {
		return manifest{}, err
	}
	m.lost = m.lost && m.status == "failed" // a process that resumed the session has written it since
	if m.id == "" || m.status == "" || m.started.IsZero() {
		return manifest{}, errors.New("it has no session_id, status or started_at")
	}
	return m, nil
}

// describe reads the metadata of a session.
func (m *manifest) describe(raw []byte) {
	m.title, _ = agentfile.Head(agentfile.Get(raw, "title"), textLimit)
	m.branch, _ = agentfile.Head(agentfile.Get(raw, "git", "branch"), textLimit)
	m.version, _ = agentfile.Head(agentfile.Get(raw, "sessionHistoryOrigin", "version"), 40)
	m.lost = string(agentfile.Text(agentfile.Get(raw, "terminal_marker"))) == lostProcess
	if at, ok := agentfile.Int(agentfile.Get(raw, "checkpoint", "latest", "createdAt")); ok && at > 0 && at < 1<<50 {
		m.turnAt = time.UnixMilli(at)
	}
	if usage := agentfile.Get(raw, "usage"); usage != nil {
		m.stated = new(tokens(usage))
		m.cost, _ = agentfile.Float(agentfile.Get(usage, "totalCost"))
	}
}

// tokens reads the counts of tokens of an answer, or of a session. The input that Cline states includes what came
// from the cache.
func tokens(raw []byte) (t adapters.Tokens) {
	for name, to := range map[string]*int64{"inputTokens": &t.Input, "outputTokens": &t.Output, "cacheReadTokens": &t.CacheRead, "cacheWriteTokens": &t.CacheWrite} {
		if n, ok := agentfile.Int(agentfile.Get(raw, name)); ok && n > 0 && n < 1<<50 {
			*to = n
		}
	}
	t.Input = max(t.Input-t.CacheRead-t.CacheWrite, 0)
	return t
}

// promptText returns the prompt in the JSON string raw. The terminal interface wraps it: <user_input mode="act">…</user_input>.
func promptText(raw []byte) string {
	text, _ := agentfile.Head(raw, textLimit+len(`<user_input mode="plan"></user_input>`))
	return adapters.CutTo(unwrapped(text), textLimit)
}

func unwrapped(text string) string {
	if rest, ok := strings.CutPrefix(text, "<user_input"); ok {
		if _, inner, ok := strings.Cut(rest, ">"); ok {
			text, _, _ = strings.Cut(inner, "</user_input>")
		}
	}
	return strings.TrimSpace(text)
}
