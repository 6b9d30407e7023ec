package gatewaytest

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"sync"
	"time"

	"github.com/coder/websocket"
)

// conn is one client.
type conn struct {
	g      *Gateway
	ws     *websocket.Conn
	ctx    context.Context // of the connection
	cancel context.CancelFunc
	origin bool
	id     string

	mu         sync.Mutex
	scopes     []string
	subscribed bool
	ready      bool
	seq        int
}

type request struct {
	Type   string          `json:"type"`
	ID     string          `json:"id"`
	Method string          `json:"method"`
	Params json.RawMessage `json:"params"`
}

// failure is the error of a response; when close isn't 0, the connection ends
// with that code.
type failure struct {
	Code         string         `json:"code"`
	Message      string         `json:"message"`
	Details      map[string]any `json:"details,omitempty"`
	Retryable    bool           `json:"retryable,omitempty"`
	RetryAfterMs int            `json:"retryAfterMs,omitempty"`
	close        websocket.StatusCode
	reason       string
}

func invalid(message string, details map[string]any) *failure {
	return &failure{Code: "INVALID_REQUEST", Message: message, Details: details, close: 1008, reason: message}
}

func (g *Gateway) serveWS(w http.ResponseWriter, r *http.Request) {
	g.waitWhileHung()
	ws, err := websocket.Accept(w, r, &websocket.AcceptOptions{InsecureSkipVerify: true})
	if err != nil {
		return
	}
	defer func() { _ = ws.CloseNow() }()
	ws.SetReadLimit(25 << 20)
	ctx, cancel := context.WithCancel(r.Context())
	defer cancel()
	c := &conn{g: g, ws: ws, ctx: ctx, cancel: cancel, origin: r.Header.Get("Origin") != "", id: newID()}
	g.mu.Lock()
	g.conns[c] = true
	g.accepted++
	g.mu.Unlock()
	defer func() {
		g.mu.Lock()
		delete(g.conns, c)
		g.mu.Unlock()
	}()
	c.send(map[string]any{"type": "event", "event": "connect.challenge", "payload": map[string]any{
		"nonce": newID(), "ts": millis(time.Now()),
	}})
	c.serve()
}

func (c *conn) serve() {
	for {
		_, b, err := c.ws.Read(c.ctx)
		if err != nil {
			return
		}
		c.g.waitWhileHung()
		c.g.note(b)
		var r request
		if err := json.Unmarshal(b, &r); err != nil || r.Type != "req" || r.ID == "" {
			_ = c.ws.Close(1008, "invalid request frame")
			return
		}
		if c.g.drops(r.Method) {
			_ = c.ws.CloseNow()
			return
		}
		payload, fail := c.handle(r)
		if fail == nil {
			c.send(map[string]any{"type": "res", "id": r.ID, "ok": true, "payload": payload})
			continue
		}
		c.send(map[string]any{"type": "res", "id": r.ID, "ok": false, "error": fail})
		if fail.close != 0 {
			_ = c.ws.Close(fail.close, fmt.Sprintf("%.120s", fail.reason))
			return
		}
	}
}

func (g *Gateway) note(b []byte) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if len(g.received) >= 10_000 {
		g.received = g.received[1_000:]
	}
	g.received = append(g.received, slices.Clone(b))
}

func (c *conn) send(frame map[string]any) {
	b, err := json.Marshal(frame)
	if err != nil {
		return
	}
	ctx, cancel := context.WithTimeout(c.ctx, 10*time.Second)
	defer cancel()
	_ = c.ws.Write(ctx, websocket.MessageText, b)
}

// has reports whether the client was granted a scope, as the gateway's own check does.
func (c *conn) has(scope string) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Contains(c.scopes, scope) || slices.Contains(c.scopes, "operator.admin") ||
		scope == "operator.read" && slices.Contains(c.scopes, "operator.write")
}

func (c *conn) handle(r request) (any, *failure) {
	c.g.mu.Lock()
	c.g.calls[r.Method]++
	refusal, refused := c.g.refused[r.Method]
	c.g.mu.Unlock()
	if refused {
		return nil, &failure{Code: refusal.Code, Message: refusal.Message, Details: refusal.Details}
	}
	c.mu.Lock()
	ready := c.ready
	c.mu.Unlock()
	switch {
	case !ready && r.Method != "connect":
		return nil, invalid("invalid handshake: first request must be connect", nil)
	case !ready:
		return c.connect(r.Params)
	}
	m, known := methods[r.Method]
	if !known || m.since > c.g.opts.MaxProtocol {
		if c.has("operator.admin") {
			return nil, &failure{Code: "INVALID_REQUEST", Message: "unknown method: " + r.Method}
		}
		return nil, missing("operator.admin")
	}
	if !c.has(m.scope) {
		return nil, missing(m.scope)
	}
	params := m.params
	if c.g.opts.NoOffset && r.Method == "sessions.list" {
		params = slices.DeleteFunc(slices.Clone(params), func(name string) bool { return name == "offset+4" })
	}
	if unknown := unexpected(r.Params, params, c.g.opts.MaxProtocol); unknown != "" {
		return nil, &failure{Code: "INVALID_REQUEST", Message: fmt.Sprintf(
			"invalid %s params: at root: unexpected property '%s'", r.Method, unknown)}
	}
	return m.answer(c, r.Params)
}

func missing(scope string) *failure {
	return &failure{Code: "FORBIDDEN", Message: "missing scope: " + scope, Details: map[string]any{
		"code": "MISSING_SCOPE", "missingScope": scope, "requiredScopes": []string{scope}}}
}

// unexpected returns a parameter that the method doesn't know; a name with the
// suffix "+4" is known to protocol 4 only.
func unexpected(params json.RawMessage, known []string, protocol int) string {
	var m map[string]json.RawMessage
	_ = json.Unmarshal(params, &m)
	for name := range m {
		if !slices.Contains(known, name) && (protocol < 4 || !slices.Contains(known, name+"+4")) {
			return name
		}
	}
	return ""
}

// broadcast sends an event to the clients that subscribed.
func (g *Gateway) broadcast(event string, payload any) {
	g.broadcastTo(event, payload, func(c *conn) bool {
		c.mu.Lock()
		defer c.mu.Unlock()
		return c.subscribed
	})
}

func (g *Gateway) broadcastTo(event string, payload any, wanted func(*conn) bool) {
	g.mu.Lock()
	var list []*conn
	for c := range g.conns {
		list = append(list, c)
	}
	hung := g.hung != nil
	g.mu.Unlock()
	if hung {
		return
	}
	for _, c := range list {
		c.mu.Lock()
		ready := c.ready
		c.mu.Unlock()
		if !ready || !wanted(c) {
			continue
		}
		c.mu.Lock()
		c.seq++
		seq := c.seq
		c.mu.Unlock()
		c.send(map[string]any{"type": "event", "event": event, "payload": payload, "seq": seq})
	}
}

// Event sends any event to all clients that may read.
func (g *Gateway) Event(event string, payload any) {
	g.broadcastTo(event, payload, func(c *conn) bool { return c.has("operator.read") })
}

func (g *Gateway) agentEvent(key, phase, approval string) {
	g.Event("agent", map[string]any{"sessionKey": key, "stream": "lifecycle", "agentId": "main",
		"data": map[string]any{"phase": phase, "approvalId": approval}, "ts": millis(time.Now())})
}

func (g *Gateway) changed(s Session, reason string) {
	g.broadcast("sessions.changed", map[string]any{
		"sessionKey": s.Key, "sessionId": s.SessionID, "agentId": "main", "reason": reason,
		"ts": millis(time.Now()), "session": g.row(s, true, true),
	})
}
