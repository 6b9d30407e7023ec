package openclaw

import (
	"bufio"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"rollcall/adapters"
	"rollcall/adapters/internal/agentfile"
	"rollcall/adapters/internal/kit"
)

// From 2026.3.12 to 2026.4.24 a gateway grants no scope to a client without a paired
// device, not even on loopback with its token. Rollcall pairs no device, since that
// would write into the gateway's state. Such a gateway still accepts the connection, so
// it is known to be running. Its sessions are read from its state folder: sessions.json
// lists them, and the locks show which of them has a run (see transcripts.go).

const (
	// maxStore is the largest size of a sessions.json in bytes. It has some 15 kB for
	// each session.
	maxStore = 256 << 20
	// openingSize and openingLine limit the part of a transcript that is read for its
	// beginning.
	openingSize = 1 << 20
	openingLine = 256 << 10
)

// isMissingScope reports whether a gateway accepted Rollcall and then refused to answer
// it.
func isMissingScope(err error) bool {
	var r *refusal
	return errors.As(err, &r) && (r.Message == "missing scope: "+scopeRead || r.detail("missingScope") == scopeRead)
}

// files lists the sessions from the state folder of a gateway that does not permit
// Rollcall to list them. ok reports whether there was something to read.
func (a *Adapter) files(t *target, h *hello, ans *answer) (ok bool) {
	if t.stateDir == "" {
		return false
	}
	stores, _ := filepath.Glob(filepath.Join(t.stateDir, "agents", "*", "sessions", "sessions.json"))
	var rows []row
	read := false
	for _, path := range stores {
		if _, err := os.Stat(filepath.Join(filepath.Dir(filepath.Dir(path)), "agent", "openclaw-agent.sqlite")); err == nil {
			continue // a newer version moved them there, and left this file
		}
		read = true
		b, _, err := agentfile.ReadSmall(path, maxStore)
		if err != nil {
			ans.problems = append(ans.problems, adapters.Unreadable(path, err))
			continue
		}
		list, err := parseStore(b, ans.skipped)
		if err != nil {
			ans.problems = append(ans.problems, &adapters.Problem{Kind: adapters.ErrFormat, Path: path, Err: err})
			continue
		}
		for i := range list {
			list[i].AgentID = filepath.Base(filepath.Dir(filepath.Dir(path)))
		}
		rows = append(rows, list...)
		a.watched.Add(filepath.Dir(path))
	}
	v := gatewayView{target: t, hello: h, now: a.now(), alive: a.alive, outcomes: &a.outcomes, workspaces: t.workspaces}
	a.ids.enter(t, rows)
	for i := range rows {
		r := &rows[i]
		s := v.session(r, a.ids.idOf(t, r.Key))
		s.Parent = a.ids.parent(t, r, s.ID)
		if path, ok := v.transcript(r); ok {
			began := readOpening(path)
			s.FirstPrompt, s.CWD = began.prompt, cmp.Or(began.cwd, s.CWD)
		}
		ans.sessions = append(ans.sessions, s)
	}
	return read
}

// parseStore reads a sessions.json: an object of sessions by their keys.
func parseStore(b []byte, skipped map[string]int) ([]row, error) {
	var store map[string]json.RawMessage
	if err := json.Unmarshal(b, &store); err != nil {
		return nil, fmt.Errorf("not an object with sessions: %w", err)
	}
	var rows []row
	for key, raw := range store {
		var r row
		_ = json.Unmarshal(raw, &r) // members of another type are zero
		if r.SessionID == "" {
			skipped["session in sessions.json without an id"]++
			continue
		}
		r.Key, r.stored, r.Active = key, true, nil
		rows = append(rows, r)
	}
	slices.SortFunc(rows, func(a, b row) int { return strings.Compare(a.Key, b.Key) })
	return rows, nil
}

// decideStored returns the verdict on a session of a sessions.json. The status in the
// file is not used: a gateway that crashed left it as it was.
func (v *gatewayView) decideStored(r *row) kit.Verdict {
	if d, ok := v.decideByLock(r); ok {
		return d
	}
	return kit.Unknown(v.says("it doesn't grant Rollcall " + scopeRead +
		", and the session has no transcript in " + filepath.Join(v.target.stateDir, "agents")))
}

// opening holds the folder and the first prompt with which a transcript began.
type opening struct{ cwd, prompt string }

func readOpening(path string) opening {
	f, _, err := agentfile.OpenRegular(path)
	if err != nil {
		return opening{}
	}
	defer f.Close()
	return parseOpening(io.LimitReader(f, openingSize))
}

func parseOpening(r io.Reader) (o opening) {
	lines := bufio.NewScanner(r)
	lines.Buffer(nil, openingLine)
	for o.prompt == "" && lines.Scan() {
		line := lines.Bytes()
		if agentfile.String(agentfile.Get(line, "type")) == "session" {
			o.cwd = agentfile.String(agentfile.Get(line, "cwd"))
		}
		if agentfile.String(agentfile.Get(line, "message", "role")) != "user" {
			continue
		}
		e := entry{Content: json.RawMessage(agentfile.Get(line, "message", "content"))}
		for _, p := range e.parts() {
			if words := userText(p.Text); words != "" && !isGatewayText(words) {
				o.prompt = adapters.Cut(words)
				break
			}
		}
	}
	return o
}
