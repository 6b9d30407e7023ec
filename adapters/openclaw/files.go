package openclaw

import (
	"bufio"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"rollcall/adapters"
	"rollcall/adapters/internal/agentfile"
	"rollcall/adapters/internal/kit"
)

// A gateway that does not run, or that grants Rollcall no right to list its sessions, leaves them in its state folder: each agent has a
// database (2026.9.6), or a sessions.json with a transcript of each session beside it (2026.4.15).

const (
	// maxStore is the largest size of a sessions.json in bytes. It has some 15 kB for
	// each session.
	maxStore = 256 << 20
	// openingSize and openingLine limit the part of a transcript that is read for its
	// beginning.
	openingSize = 1 << 20
	openingLine = 256 << 10
	// longEvent is the longest record of a transcript that is read, in bytes.
	longEvent = 16 << 20
)

// isMissingScope reports whether a gateway accepted Rollcall and then refused to answer
// it.
func isMissingScope(err error) bool {
	var r *refusal
	return errors.As(err, &r) && (r.Message == "missing scope: "+scopeRead || r.detail("missingScope") == scopeRead)
}

// agentStore holds the paths of what a gateway keeps of one agent. One of the two exists.
type agentStore struct {
	agent    string
	database string // of 2026.9.6; empty: there is none
	list     string // sessions.json
}

// stores returns the stores of the agents of a gateway on this machine.
func (t *target) stores() (list []agentStore) {
	if t.stateDir == "" {
		return nil
	}
	agents, _ := fs.Glob(os.DirFS(t.stateDir), "agents/*")
	for _, name := range agents {
		dir := filepath.Join(t.stateDir, name)
		s := agentStore{agent: filepath.Base(dir), database: filepath.Join(dir, "agent", "openclaw-agent.sqlite"), list: filepath.Join(dir, "sessions", "sessions.json")}
		if _, err := os.Stat(s.database); err == nil {
			list = append(list, s) // a sessions.json beside it was left when the sessions were moved
			continue
		}
		s.database = ""
		if exists(s.list) {
			list = append(list, s)
		}
	}
	return list
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// storedRow is a row of a store with what its transcript has.
type storedRow struct {
	row
	began   opening
	last    string
	tokens  *adapters.Tokens
	cost    float64
	archive bool
	file    string
}

// opening holds the folder and the first prompt with which a transcript began.
type opening struct{ cwd, prompt string }

// stored adds the sessions in the state folder of a gateway to its answer. refused is why the gateway did not list them itself; empty: it
// does not run. ok reports whether there was something to read.
func (a *Adapter) stored(ctx context.Context, t *target, q adapters.Query, refused string, ans *answer) (ok bool) {
	var rows []storedRow
	version := ""
	for _, s := range t.stores() {
		ok = true
		list, v, err := a.readStore(ctx, s, q, ans.skipped)
		if err != nil {
			ans.problems = append(ans.problems, err)
		}
		rows, version = append(rows, list...), cmp.Or(version, v)
		a.Watch.Add(filepath.Dir(cmp.Or(s.database, s.list)))
	}
	said := &hello{}
	said.Server.Version = version
	v := gatewayView{target: t, hello: said, now: a.Now(), refused: refused, workspaces: t.workspaces}
	plain := make([]row, len(rows))
	for i := range rows {
		plain[i] = rows[i].row
	}
	a.ids.enter(t, plain)
	for i := range rows {
		r := &rows[i]
		s := v.session(&r.row, a.ids.idOf(t, r.Key))
		s.Parent = a.ids.parent(t, &r.row, s.ID)
		s.FirstPrompt = r.began.prompt
		s.LastPrompt = cmp.Or(r.last, r.began.prompt)
		s.CWD = cmp.Or(r.began.cwd, s.CWD)
		s.Archived = r.archive
		s.Tokens = r.tokens
		s.CostUSD = r.cost
		s.Files = []string{r.file}
		if refused != "" || !s.LastActivityAt.Before(q.Since) || slices.Contains(q.IDs, s.ID) {
			t.auth.redactSession(&s)
			ans.sessions = append(ans.sessions, s)
		}
	}
	return ok
}

// readStore reads the sessions of one agent, and the version of the program that wrote them, where it is stored.
func (a *Adapter) readStore(ctx context.Context, s agentStore, q adapters.Query, skipped map[string]int) ([]storedRow, string, error) {
	if s.database != "" {
		return a.readDatabase(ctx, s, q.Totals, skipped)
	}
	b, _, err := agentfile.ReadSmall(s.list, maxStore)
	if err != nil {
		return nil, "", adapters.Unreadable(s.list, err)
	}
	list, err := parseStore(b, skipped)
	if err != nil {
		return nil, "", &adapters.Problem{Kind: adapters.ErrFormat, Path: s.list, Err: err}
	}
	rows := make([]storedRow, len(list))
	for i := range list {
		r := &rows[i]
		r.row, r.file = list[i], s.list
		r.AgentID = s.agent
		path, ok := s.transcript(&r.row)
		if !ok {
			continue
		}
		r.began, r.file = readOpening(path), path
		if q.Totals {
			r.tokens, r.cost = sumTranscript(ctx, path)
		}
	}
	return rows, "", nil
}

// transcript returns the path of a session's transcript. ok is false if its name does not stay within the folder.
func (s *agentStore) transcript(r *row) (path string, ok bool) {
	name := r.SessionID + ".jsonl"
	if r.File != "" { // a topic of a chat has a separate transcript
		name = filepath.Base(r.File)
	}
	return filepath.Join(filepath.Dir(s.list), name), r.SessionID != "" && plainName(name)
}

// plainName reports whether a name stays within its folder.
func plainName(s string) bool {
	return s != "" && s != "." && s != ".." && !strings.ContainsAny(s, `/\`+"\x00") && len(s) < 200
}

// parseStore reads a sessions.json: an object of sessions by their keys.
func parseStore(b []byte, skipped map[string]int) ([]row, error) {
	var store map[string]json.RawMessage
	if err := json.Unmarshal(b, &store); err != nil {
		return nil, fmt.Errorf("not an object with sessions: %w", err)
	}
	var rows []row
	for key, raw := range store {
		if r, ok := storedEntry(key, raw); ok {
			rows = append(rows, r)
		} else {
			skipped["session in sessions.json without an id"]++
		}
	}
	slices.SortFunc(rows, func(a, b row) int { return strings.Compare(a.Key, b.Key) })
	return rows, nil
}

// storedEntry reads an entry of a session, which a database and a sessions.json have in the same form.
func storedEntry(key string, raw []byte) (r row, ok bool) {
	_ = json.Unmarshal(raw, &r) // members of another type are zero
	r.Key = key
	r.stored = true
	r.Active = nil
	return r, r.SessionID != ""
}

// decideStored returns the state of a session of a store. A gateway that was killed in a run left its status as it was.
func (v *gatewayView) decideStored(r *row) adapters.State {
	if v.refused != "" {
		return kit.Unknown(v.says(v.refused))
	}
	const over = "it does not run; "
	switch {
	case r.Status == "running":
		return kit.Stopped(adapters.Died, v.says(over+"it ended during a run of the session"))
	case r.Status == "" && !r.Aborted:
		return kit.Stopped("", v.says(over+"how the last run ended is not recorded"))
	}
	return kit.Stopped(r.outcome(), v.says(over+"the last run: "+oneLine(cmp.Or(r.Status, "aborted"))+v.since(r.Ended, ", ")))
}

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
		o.prompt = promptOf(line)
	}
	return o
}

// promptOf returns the user's words in a record of a transcript, and "" for any other record.
func promptOf(record []byte) string {
	if agentfile.String(agentfile.Get(record, "message", "role")) != "user" {
		return ""
	}
	e := entry{Content: json.RawMessage(agentfile.Get(record, "message", "content"))}
	for _, p := range e.parts() {
		if words := userText(p.Text); words != "" && !isGatewayText(words) {
			return adapters.Cut(words)
		}
	}
	return ""
}

// spent is the usage of an answer in a transcript.
type spent struct {
	Message struct {
		Usage *struct {
			Input      number `json:"input"`
			Output     number `json:"output"`
			CacheRead  number `json:"cacheRead"`
			CacheWrite number `json:"cacheWrite"`
			Cost       struct {
				Total number `json:"total"`
			} `json:"cost"`
		} `json:"usage"`
	} `json:"message"`
}

// sumTranscript adds up what the answers in a transcript used; nil if it can't be read whole.
func sumTranscript(ctx context.Context, path string) (*adapters.Tokens, float64) {
	f, _, err := agentfile.OpenRegular(path)
	if err != nil {
		return nil, 0
	}
	defer f.Close()
	var sum adapters.Tokens
	cost := 0.0
	_, stats, err := agentfile.Forward(ctx, f, 0, longEvent, func(line []byte, _ int64) error {
		var s spent
		if json.Unmarshal(line, &s) == nil && s.Message.Usage != nil {
			u := s.Message.Usage
			sum.Add(adapters.Tokens{Input: u.Input.count(), Output: u.Output.count(), CacheRead: u.CacheRead.count(), CacheWrite: u.CacheWrite.count()})
			cost += max(0, float64(u.Cost.Total))
		}
		return nil
	})
	if err != nil || stats.Long > 0 {
		return nil, 0
	}
	return &sum, cost
}

// storedHistory returns the conversation of a session from the state folder of its gateway.
func (a *Adapter) storedHistory(ctx context.Context, t *target, key string) (h history, err error) {
	for _, s := range t.stores() {
		found := false
		if s.database != "" {
			found, err = s.databaseHistory(ctx, key, &h)
		} else {
			found, err = s.fileHistory(ctx, key, &h)
		}
		if found || err != nil {
			return h, err
		}
	}
	return h, &adapters.Problem{Kind: adapters.ErrUnreadable, Path: t.stateDir, Err: errors.New("the gateway does not run, and its state folder has no such session"), Fix: startHint()}
}

func (s *agentStore) fileHistory(ctx context.Context, key string, h *history) (found bool, err error) {
	b, _, err := agentfile.ReadSmall(s.list, maxStore)
	if err != nil {
		return false, adapters.Unreadable(s.list, err)
	}
	rows, err := parseStore(b, map[string]int{})
	i := slices.IndexFunc(rows, func(r row) bool { return r.Key == key })
	if err != nil || i < 0 {
		return false, err
	}
	path, ok := s.transcript(&rows[i])
	if !ok {
		return false, nil
	}
	f, _, err := agentfile.OpenRegular(path)
	if err != nil {
		return true, adapters.AsProblem(path, err)
	}
	defer f.Close()
	_, _, err = agentfile.Forward(ctx, f, 0, longEvent, func(line []byte, _ int64) error {
		h.add(line)
		return nil
	})
	if err != nil {
		err = adapters.AsProblem(path, err)
	}
	return true, err
}

// add adds a record of a transcript, if it is a message, in the form that a gateway gives it.
func (h *history) add(record []byte) {
	var r struct {
		Type    string                     `json:"type"`
		ID      string                     `json:"id"`
		Message map[string]json.RawMessage `json:"message"`
	}
	if json.Unmarshal(record, &r) != nil || r.Type != "message" || r.Message == nil {
		return
	}
	id, _ := json.Marshal(map[string]string{"id": r.ID})
	r.Message["__openclaw"] = id
	if message, err := json.Marshal(r.Message); err == nil {
		h.Messages = append(h.Messages, message)
		h.Total++
	}
}
