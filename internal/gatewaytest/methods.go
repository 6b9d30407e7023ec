package gatewaytest

import (
	"cmp"
	"encoding/json"
	"slices"
	"strings"
	"time"
)

type method struct {
	scope  string
	since  int // protocol
	params []string
	answer func(*conn, json.RawMessage) (any, *failure)
}

var methods map[string]method

func init() {
	const read, write, approvals = "operator.read", "operator.write", "operator.approvals"
	methods = map[string]method{
		"health":                {read, 0, []string{"probe"}, (*conn).health},
		"agents.list":           {read, 0, nil, (*conn).agents},
		"sessions.list":         {read, 0, listParams, (*conn).list},
		"sessions.subscribe":    {read, 4, listParams, (*conn).subscribe},
		"sessions.preview":      {read, 0, []string{"keys", "limit", "maxChars"}, (*conn).preview},
		"sessions.resolve":      {read, 0, []string{"sessionId", "key", "label", "agentId"}, (*conn).resolve},
		"sessions.describe":     {read, 4, []string{"key", "agentId", "includeDerivedTitles", "includeLastMessage"}, (*conn).describe},
		"chat.history":          {read, 0, []string{"sessionKey", "limit", "agentId+4", "cursor+4", "maxBytes+4", "offset+4"}, (*conn).history},
		"exec.approval.list":    {approvals, 4, nil, (*conn).approvals},
		"question.list":         {"operator.questions", 4, nil, (*conn).questions},
		"exec.approval.resolve": {approvals, 4, []string{"id", "decision"}, (*conn).resolveApproval},
		"question.resolve":      {"operator.questions", 4, []string{"id", "answers", "cancel"}, (*conn).resolveQuestion},
		"chat.send":             {write, 0, []string{"sessionKey", "message", "idempotencyKey"}, (*conn).chatSend},
		"sessions.usage":        {read, 0, []string{"key", "range", "limit", "startDate", "endDate", "agentId+4", "agentScope+4"}, (*conn).usage},
		"chat.abort":            {write, 0, []string{"sessionKey", "runId", "agentId+4"}, (*conn).chatAbort},
		"sessions.abort":        {write, 4, []string{"key", "runId", "agentId"}, (*conn).sessionsAbort},
		"sessions.delete":       {"operator.admin", 0, []string{"key", "deleteTranscript", "agentId+4"}, (*conn).delete},
	}
}

var listParams = []string{"limit", "activeMinutes", "includeGlobal", "includeUnknown", "includeDerivedTitles",
	"includeLastMessage", "label", "spawnedBy", "agentId", "search", "offset+4", "activeOnly+4", "sortBy+4", "archived+4"}

func (c *conn) health(json.RawMessage) (any, *failure) {
	return map[string]any{"ok": true, "ts": millis(time.Now()), "defaultAgentId": "main"}, nil
}

func (c *conn) agents(json.RawMessage) (any, *failure) {
	return map[string]any{"defaultId": "main", "mainKey": "main", "scope": "per-sender",
		"agents": []map[string]any{{"id": "main", "workspace": "/home/dev/ws"}}}, nil
}

func (c *conn) subscribe(json.RawMessage) (any, *failure) {
	c.mu.Lock()
	c.subscribed = true
	c.mu.Unlock()
	return map[string]any{"subscribed": true}, nil
}

func (c *conn) list(raw json.RawMessage) (any, *failure) {
	var p struct {
		Limit, Offset, ActiveMinutes int
		Titles                       bool `json:"includeDerivedTitles"`
		Last                         bool `json:"includeLastMessage"`
		ActiveOnly                   bool
		Search                       string
		SpawnedBy                    string
	}
	if err := json.Unmarshal(raw, &p); err != nil || p.Limit < 0 || p.Offset < 0 {
		return nil, &failure{Code: "INVALID_REQUEST", Message: "invalid sessions.list params: at /limit: must be integer"}
	}
	sessions := c.g.snapshot()
	slices.SortStableFunc(sessions, func(a, b Session) int { return cmp.Compare(millis(b.UpdatedAt), millis(a.UpdatedAt)) })
	sessions = slices.DeleteFunc(sessions, func(s Session) bool {
		return p.ActiveOnly && !s.Running || p.SpawnedBy != "" && s.SpawnedBy != p.SpawnedBy ||
			p.ActiveMinutes > 0 && time.Since(s.UpdatedAt) > time.Duration(p.ActiveMinutes)*time.Minute ||
			p.Search != "" && !strings.Contains(s.Key+" "+s.SessionID+" "+s.Label, p.Search)
	})
	total := len(sessions)
	if p.Limit == 0 && c.g.opts.MaxProtocol >= 4 {
		p.Limit = 100
	}
	sessions = sessions[min(p.Offset, total):]
	if p.Limit > 0 {
		sessions = sessions[:min(p.Limit, len(sessions))]
	}
	rows := make([]map[string]any, len(sessions))
	for i, s := range sessions {
		rows[i] = c.g.row(s, p.Titles, p.Last)
	}
	answer := map[string]any{"ts": millis(time.Now()), "path": "(multiple)", "count": len(rows), "sessions": rows,
		"defaults": map[string]any{"modelProvider": "mock", "model": "mock-1", "contextTokens": 128000}}
	if c.g.opts.MaxProtocol >= 4 {
		end := p.Offset + len(rows)
		answer["totalCount"] = total
		answer["limitApplied"] = p.Limit
		answer["hasMore"] = end < total
		if !c.g.opts.NoOffset {
			answer["nextOffset"] = nil
			if end < total {
				answer["nextOffset"] = end
			}
		}
	}
	return answer, nil
}

func (g *Gateway) snapshot() []Session {
	g.mu.Lock()
	defer g.mu.Unlock()
	return slices.Clone(g.sessions)
}

func (g *Gateway) find(match func(*Session) bool) (Session, bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if i := slices.IndexFunc(g.sessions, func(s Session) bool { return match(&s) }); i >= 0 {
		return g.sessions[i], true
	}
	return Session{}, false
}

func (c *conn) resolve(raw json.RawMessage) (any, *failure) {
	var p struct{ SessionID, Key string }
	_ = json.Unmarshal(raw, &p)
	s, ok := c.g.find(func(s *Session) bool { return s.SessionID == p.SessionID || s.Key == p.Key })
	if !ok {
		return nil, &failure{Code: "INVALID_REQUEST", Message: "No session found: " + p.Key + p.SessionID}
	}
	return map[string]any{"ok": true, "key": s.Key, "agentId": "main"}, nil
}

func (c *conn) describe(raw json.RawMessage) (any, *failure) {
	var p struct{ Key string }
	_ = json.Unmarshal(raw, &p)
	s, ok := c.g.find(func(s *Session) bool { return s.Key == p.Key })
	if !ok {
		return map[string]any{"session": nil}, nil
	}
	row := c.g.row(s, true, true)
	delete(row, "hasActiveRun") // as recorded: describe doesn't tell it
	return map[string]any{"session": row}, nil
}

func (c *conn) approvals(json.RawMessage) (any, *failure) {
	return c.pending(func(g *Gateway) []Approval { return g.approvals }, Approval.row), nil
}

func (c *conn) questions(json.RawMessage) (any, *failure) {
	return map[string]any{"questions": c.pending(func(g *Gateway) []Approval { return g.questions }, Approval.question)}, nil
}

// pending returns the requests that the client may see: none but with operator.admin,
// as they were all made by other clients.
func (c *conn) pending(of func(*Gateway) []Approval, row func(Approval) map[string]any) []map[string]any {
	rows := []map[string]any{}
	if !c.has("operator.admin") {
		return rows
	}
	c.g.mu.Lock()
	defer c.g.mu.Unlock()
	for _, a := range of(c.g) {
		rows = append(rows, row(a))
	}
	return rows
}

// resolveApproval takes the first decision on an approval, as 2026.9.6 does.
func (c *conn) resolveApproval(raw json.RawMessage) (any, *failure) {
	var p struct{ ID, Decision string }
	_ = json.Unmarshal(raw, &p)
	if p.Decision != "allow-once" && p.Decision != "deny" {
		return nil, &failure{Code: "INVALID_REQUEST", Message: "the double allows once or denies"}
	}
	if f := c.decide(p.ID, p.Decision, func(g *Gateway) []Approval { return g.approvals }); f != nil {
		return nil, f
	}
	return map[string]any{"ok": true}, nil
}

func (c *conn) resolveQuestion(raw json.RawMessage) (any, *failure) {
	var p struct{ ID string }
	_ = json.Unmarshal(raw, &p)
	if f := c.decide(p.ID, string(raw), func(g *Gateway) []Approval { return g.questions }); f != nil {
		return nil, f
	}
	return map[string]any{"status": "answered"}, nil
}

// decide notes the decision on a request and takes the request back.
func (c *conn) decide(id, decision string, of func(*Gateway) []Approval) *failure {
	c.g.mu.Lock()
	_, decided := c.g.decided[id]
	waits := slices.ContainsFunc(of(c.g), func(a Approval) bool { return a.ID == id })
	if waits {
		c.g.decided[id] = decision
	}
	c.g.mu.Unlock()
	switch {
	case !c.has("operator.admin") || !waits && !decided:
		return &failure{Code: "INVALID_REQUEST", Message: "unknown or expired approval id", Details: map[string]any{"reason": "APPROVAL_NOT_FOUND"}}
	case !waits:
		return &failure{Code: "INVALID_REQUEST", Message: "approval already resolved", Details: map[string]any{"reason": "APPROVAL_ALREADY_RESOLVED"}}
	}
	c.g.Answer(id)
	return nil
}

// chatSend takes a prompt; the run that it begins is the test's business.
func (c *conn) chatSend(json.RawMessage) (any, *failure) {
	return map[string]any{"runId": newID(), "status": "started"}, nil
}

func (c *conn) chatAbort(raw json.RawMessage) (any, *failure) {
	var p struct{ SessionKey string }
	_ = json.Unmarshal(raw, &p)
	run, f := c.abort(p.SessionKey)
	if f != nil {
		return nil, f
	}
	if run == "" {
		return map[string]any{"ok": true, "aborted": false, "runIds": []string{}}, nil
	}
	return map[string]any{"ok": true, "aborted": true, "runIds": []string{run}}, nil
}

func (c *conn) sessionsAbort(raw json.RawMessage) (any, *failure) {
	var p struct{ Key string }
	_ = json.Unmarshal(raw, &p)
	run, f := c.abort(p.Key)
	if f != nil {
		return nil, f
	}
	if run == "" {
		return map[string]any{"ok": true, "abortedRunId": nil, "status": "no-active-run"}, nil
	}
	return map[string]any{"ok": true, "abortedRunId": run, "status": "aborted"}, nil
}

// abort ends a run. They were all started by others, so that without
// operator.admin it is refused.
func (c *conn) abort(key string) (run string, f *failure) {
	s, ok := c.g.find(func(s *Session) bool { return s.Key == key })
	if !ok || !s.Running {
		return "", nil
	}
	if !c.has("operator.admin") {
		return "", &failure{Code: "INVALID_REQUEST", Message: "unauthorized"}
	}
	run = cmp.Or(s.RunID, "run-"+s.SessionID)
	c.g.Change(key, func(s *Session) {
		s.Running = false
		s.Status = "killed"
		s.Aborted = true
		s.EndedAt, s.UpdatedAt = time.Now(), time.Now()
	})
	c.g.mu.Lock()
	drop := func(a Approval) bool { return a.SessionKey == key }
	c.g.approvals = slices.DeleteFunc(c.g.approvals, drop)
	c.g.questions = slices.DeleteFunc(c.g.questions, drop)
	c.g.mu.Unlock()
	return run, nil
}

func (c *conn) delete(raw json.RawMessage) (any, *failure) {
	var p struct{ Key string }
	_ = json.Unmarshal(raw, &p)
	return map[string]any{"ok": true, "key": p.Key, "deleted": c.g.Delete(p.Key), "archived": []string{}}, nil
}
