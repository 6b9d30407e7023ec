package gatewaytest

import (
	"crypto/rand"
	"fmt"
	"maps"
	"slices"
	"time"
)

// Session is a row of sessions.list. Zero fields are left out, as the gateway
// leaves them out.
type Session struct {
	Key       string // "agent:main:main"
	SessionID string // "": one is made up
	// Running says that a turn is open. Status is then "running", unless it says
	// otherwise. Protocol 3 tells neither.
	Running bool
	Status  string // done, failed, killed, timeout or "" (after a crash)
	Aborted bool   // abortedLastRun

	Label, DisplayName string
	DerivedTitle       string // told when asked for with includeDerivedTitles
	LastMessage        string // likewise, with includeLastMessage
	RunID              string
	LastRunError       string
	Model, Provider    string
	SpawnedBy          string // key of the session that started this sub-agent
	ParentKey          string // parentSessionKey; also of what a user created
	WorkspaceDir       string

	// Tokens and costs of the only run; sessions.usage adds nothing to them. Total
	// is what the context holds.
	Input, Output, Total  int64
	CacheRead, CacheWrite int64
	ContextTokens         int64
	CostUSD               float64

	CreatedAt, UpdatedAt, StartedAt, EndedAt time.Time

	Messages []Message      // chat.history
	Extra    map[string]any // further members of the row, as they are
}

// Message is one of a session's conversation.
type Message struct {
	Role    string // user, assistant, toolResult
	Text    string
	Tool    string // with assistant: the tool it calls
	Command string // its argument
	CallID  string
	Failed  bool // with toolResult
	Hidden  bool // a record of the conversation that no client is shown
	At      time.Time
}

// Approval is a permission, or a question, that the user has to answer.
type Approval struct {
	Members    map[string]any // further ones of the request
	ID         string
	SessionKey string
	Command    string // or the question
}

func newID() string {
	var b [16]byte
	_, _ = rand.Read(b[:])
	b[6], b[8] = b[6]&0x0f|0x40, b[8]&0x3f|0x80
	return fmt.Sprintf("%x-%x-%x-%x-%x", b[:4], b[4:6], b[6:8], b[8:10], b[10:])
}

// Set replaces all sessions, and tells those who subscribed.
func (g *Gateway) Set(sessions []Session) {
	g.mu.Lock()
	g.sessions = g.sessions[:0:0]
	for _, s := range sessions {
		g.sessions = append(g.sessions, complete(s))
	}
	g.mu.Unlock()
	g.broadcast("sessions.changed", map[string]any{"reason": "set", "ts": millis(time.Now())})
}

// Update adds a session or changes the one with its key, and tells those who
// subscribed. It returns the row as it is now.
func (g *Gateway) Update(s Session) Session {
	g.mu.Lock()
	i := slices.IndexFunc(g.sessions, func(o Session) bool { return o.Key == s.Key })
	if i >= 0 && s.SessionID == "" {
		s.SessionID = g.sessions[i].SessionID
	}
	s = complete(s)
	if i >= 0 {
		g.sessions[i] = s
	} else {
		g.sessions = append(g.sessions, s)
	}
	g.mu.Unlock()
	g.changed(s, "update")
	return s
}

// Change edits the session with that key, if there is one, and tells those who
// subscribed.
func (g *Gateway) Change(key string, edit func(*Session)) bool {
	g.mu.Lock()
	i := slices.IndexFunc(g.sessions, func(o Session) bool { return o.Key == key })
	if i < 0 {
		g.mu.Unlock()
		return false
	}
	edit(&g.sessions[i])
	s := g.sessions[i]
	g.mu.Unlock()
	g.changed(s, "update")
	return true
}

// Delete removes a session, and tells those who subscribed.
func (g *Gateway) Delete(key string) bool {
	g.mu.Lock()
	n := len(g.sessions)
	g.sessions = slices.DeleteFunc(g.sessions, func(o Session) bool { return o.Key == key })
	gone := len(g.sessions) < n
	g.mu.Unlock()
	if gone {
		g.broadcast("sessions.changed", map[string]any{"sessionKey": key, "reason": "delete", "ts": millis(time.Now())})
	}
	return gone
}

// Crash forgets what a gateway killed in the middle forgets: the next one says
// of its open runs neither a status nor an active run.
func (g *Gateway) Crash() {
	g.mu.Lock()
	for i := range g.sessions {
		if g.sessions[i].Running {
			g.sessions[i].Running, g.sessions[i].Status = false, ""
		}
	}
	g.approvals, g.questions = nil, nil
	g.mu.Unlock()
	g.Drop()
}

// Ask makes a session wait for the permission to run a command. Its row goes on
// saying that it runs. As with 2026.9.6 the request is listed only to clients with
// operator.admin. It returns the request's id.
func (g *Gateway) Ask(sessionKey, command string) string {
	return g.AskWith(sessionKey, command, nil)
}

// AskWith is Ask with further members of the request.
func (g *Gateway) AskWith(sessionKey, command string, members map[string]any) string {
	a := Approval{ID: newID(), SessionKey: sessionKey, Command: command, Members: members}
	g.mu.Lock()
	g.approvals = append(g.approvals, a)
	g.mu.Unlock()
	g.agentEvent(sessionKey, "waiting-approval", a.ID)
	g.broadcastTo("exec.approval.requested", a.row(), func(c *conn) bool { return c.has("operator.admin") })
	return a.ID
}

// Question makes a session wait for the answer to a question.
func (g *Gateway) Question(sessionKey, question string) string {
	a := Approval{ID: newID(), SessionKey: sessionKey, Command: question}
	g.mu.Lock()
	g.questions = append(g.questions, a)
	g.mu.Unlock()
	g.broadcastTo("question.requested", a.question(), func(c *conn) bool { return c.has("operator.questions") })
	return a.ID
}

// Answer takes back an approval or a question.
func (g *Gateway) Answer(id string) {
	g.mu.Lock()
	var key string
	drop := func(a Approval) bool {
		if a.ID == id {
			key = a.SessionKey
		}
		return a.ID == id
	}
	g.approvals = slices.DeleteFunc(g.approvals, drop)
	g.questions = slices.DeleteFunc(g.questions, drop)
	g.mu.Unlock()
	if key != "" {
		g.agentEvent(key, "approval-resolved", id)
		g.broadcastTo("exec.approval.resolved", map[string]any{"id": id, "decision": "allow-once"},
			func(c *conn) bool { return c.has("operator.admin") })
	}
}

func complete(s Session) Session {
	if s.SessionID == "" {
		s.SessionID = newID()
	}
	if s.CreatedAt.IsZero() {
		s.CreatedAt = time.Now()
	}
	if s.UpdatedAt.IsZero() {
		s.UpdatedAt = s.CreatedAt
	}
	return s
}

func millis(t time.Time) int64 { return t.UnixMilli() }

func (a Approval) row() map[string]any {
	now := time.Now()
	row := map[string]any{
		"id": a.ID, "approvalKind": "exec", "createdAtMs": millis(now), "expiresAtMs": millis(now.Add(30 * time.Minute)),
		"request": map[string]any{"command": a.Command, "sessionKey": a.SessionKey, "sessionId": nil, "agentId": "main",
			"host": "gateway", "allowedDecisions": []string{"allow-once", "deny"}},
	}
	request, _ := row["request"].(map[string]any)
	maps.Copy(request, a.Members)
	return row
}

func (a Approval) question() map[string]any {
	return map[string]any{
		"id": a.ID, "status": "pending", "sessionKey": a.SessionKey, "agentId": "main", "createdAtMs": millis(time.Now()),
		"questions": []map[string]any{{"questionId": "q1", "question": a.Command, "header": "Q",
			"options": []map[string]any{{"label": "Red"}, {"label": "Blue", "description": "cold"}}}},
	}
}
