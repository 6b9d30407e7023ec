package cline

import (
	"errors"
	"strings"
	"time"

	"rollcall/adapters"
	"rollcall/adapters/internal/agentfile"
)

const (
	manifestLimit     = 4 << 20
	conversationLimit = 64 << 20
	textLimit         = 4 << 10 // of prompts and titles
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
	newer                  bool      // the form is newer than known
	turnAt                 time.Time // of the last checkpoint, which Cline makes in a repository when a turn begins
	modified               time.Time
	agent                  string // of a sub-agent: the name of its conversation
}

// parseManifest reads a manifest. The error is agentfile.ErrSyntax for a file that is being written.
func parseManifest(data []byte) (m manifest, err error) {
	var version, id, status, pid, started, ended, interactive, model, cwd, prompt, metadata []byte
	err = agentfile.Members(data, agentfile.Into("version", &version), agentfile.Into("session_id", &id), agentfile.Into("status", &status),
		agentfile.Into("pid", &pid), agentfile.Into("started_at", &started), agentfile.Into("ended_at", &ended), agentfile.Into("interactive", &interactive),
		agentfile.Into("model", &model), agentfile.Into("cwd", &cwd), agentfile.Into("prompt", &prompt), agentfile.Into("metadata", &metadata))
	if err != nil {
		return m, err
	}
	m.id, m.status, m.model, m.cwd, m.prompt = head(id), head(status), head(model), head(cwd), promptText(prompt)
	m.started, m.ended, m.interactive = agentfile.Time(started), agentfile.Time(ended), agentfile.True(interactive)
	form, _ := agentfile.Int(version)
	m.newer = form > formatVersion
	if n, ok := agentfile.Int(pid); ok && n > 0 && n < 1<<31 {
		m.pid = int(n)
	}
	m.describe(metadata)
	if m.id == "" || m.status == "" || m.started.IsZero() {
		return manifest{}, errors.New("it has no session_id, status or started_at")
	}
	return m, nil
}

// describe reads the metadata of a session.
func (m *manifest) describe(raw []byte) {
	m.title, m.branch, m.version = head(agentfile.Get(raw, "title")), head(agentfile.Get(raw, "git", "branch")), head(agentfile.Get(raw, "sessionHistoryOrigin", "version"))
	// A process that resumed the session since has written another status.
	m.lost = m.status == "failed" && head(agentfile.Get(raw, "terminal_marker")) == lostProcess
	m.turnAt = millis(agentfile.Get(raw, "checkpoint", "latest", "createdAt"))
	if usage := agentfile.Get(raw, "usage"); usage != nil {
		m.stated = new(tokens(usage))
		m.cost, _ = agentfile.Float(agentfile.Get(usage, "totalCost"))
	}
}

// head returns a text, cut.
func head(raw []byte) string {
	text, _ := agentfile.Head(raw, textLimit)
	return text
}

// millis returns the time that a number of milliseconds is.
func millis(raw []byte) time.Time {
	if n, ok := agentfile.Int(raw); ok && n > 0 && n < 1<<50 {
		return time.UnixMilli(n)
	}
	return time.Time{}
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
