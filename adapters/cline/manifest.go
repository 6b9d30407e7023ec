package cline

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"rollcall/adapters"
	"rollcall/adapters/internal/agentfile"
	"rollcall/adapters/internal/kit"
)

const (
	textLimit     = kit.ShortText // of prompts and titles
	formatVersion = 1             // that Cline 3.0.65 writes into manifests and conversations
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

// parseManifest reads a manifest. There is an error for a file that is being written.
func parseManifest(data []byte) (m manifest, err error) {
	text := func(path ...string) string { return kit.Short(agentfile.Get(data, path...)) }
	at := func(name string) time.Time { return agentfile.Time(agentfile.Get(data, name)) }
	err = agentfile.Top(data, func(_, _ []byte) bool { return true })
	if err != nil {
		return m, err
	}
	m = manifest{id: text("session_id"), status: text("status"), started: at("started_at"), ended: at("ended_at"), model: text("model"), cwd: text("cwd"),
		interactive: agentfile.True(agentfile.Get(data, "interactive")), prompt: promptText(agentfile.Get(data, "prompt")),
		title: text("metadata", "title"), branch: text("metadata", "git", "branch"), version: text("metadata", "sessionHistoryOrigin", "version"),
		turnAt: millis(agentfile.Get(data, "metadata", "checkpoint", "latest", "createdAt")), newer: kit.Count(data, "version") > formatVersion}
	if pid := kit.Count(data, "pid"); pid < 1<<31 {
		m.pid = int(pid)
	}
	m.lost = m.status == "failed" && text("metadata", "terminal_marker") == lostProcess // a process that resumed the session since has written another status
	if usage := agentfile.Get(data, "metadata", "usage"); usage != nil {
		m.stated = new(tokens(usage))
		m.cost, _ = agentfile.Float(agentfile.Get(usage, "totalCost"))
	}
	if m.id == "" || m.status == "" || m.started.IsZero() {
		return manifest{}, errors.New("it has no session_id, status or started_at")
	}
	return m, nil
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
func tokens(raw []byte) adapters.Tokens {
	read, write := kit.Count(raw, "cacheReadTokens"), kit.Count(raw, "cacheWriteTokens")
	return adapters.Tokens{Input: max(kit.Count(raw, "inputTokens")-read-write, 0), Output: kit.Count(raw, "outputTokens"), CacheRead: read, CacheWrite: write}
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

// factsFormat must be raised when the same facts get another meaning.
const factsFormat = 1

// facts holds what a file says, which is a manifest or a conversation. Copies share the ledger, to which nothing is added any more.
type facts struct {
	kit.OneRecord
	manifest manifest
	talk     conversation
}

// Line implements kit.Gatherer.
func (f *facts) Line(data []byte) (err error) {
	if agentfile.Get(data, "messages") != nil {
		f.talk, err = parseConversation(data)
	} else {
		f.manifest, err = parseManifest(data)
	}
	if err != nil {
		return fmt.Errorf("%w: %w", kit.ErrForm, err)
	}
	return nil
}

// SkippedRecords implements kit.Gatherer.
func (f *facts) SkippedRecords() map[string]int { return f.talk.skipped }

// Clone implements kit.Gatherer.
func (f *facts) Clone() facts { return *f }
