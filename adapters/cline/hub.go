package cline

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"net/url"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/coder/websocket"

	"rollcall/adapters"
	"rollcall/adapters/internal/agentfile"
	"rollcall/adapters/internal/kit"
)

const (
	hubLimit   = 10 * time.Second // for an order
	frameLimit = 16 << 20
	clientID   = "rollcall"
	// tokenProtocol begins the WebSocket sub-protocol that carries the hub's token.
	tokenProtocol = "cline-hub-auth."
)

// tokenForm is that of a token, which goes into a header.
var tokenForm = regexp.MustCompile(`^[0-9A-Za-z._~-]{1,512}$`)

// registration is the file in which the hub describes itself. Its token is never kept.
type registration struct {
	PID   int    `json:"pid"`
	URL   string `json:"url"`
	Token string `json:"authToken"`
}

// hub is a connection to a hub, for one goroutine.
type hub struct {
	ws   *websocket.Conn
	free func()
	last int
}

// frame is a message from a hub: a reply to a command, or an event.
type frame struct {
	Kind     string `json:"kind"`
	Envelope struct {
		Request string `json:"requestId"`
		OK      bool   `json:"ok"`
		Error   *refusal
		Event   string          `json:"event"`
		Session string          `json:"sessionId"`
		At      int64           `json:"timestamp"`
		Payload json.RawMessage `json:"payload"`
	} `json:"envelope"`
}

// refusal is the error with which a hub replied.
type refusal struct {
	Code    string `json:"code"`
	Message string `json:"message"`
}

func (r *refusal) Error() string {
	return fmt.Sprintf("it answered %s%s", kit.PlainWord(r.Code), kit.Quoted(r.Message))
}

// hubOf returns the hub that hosts a session, with what it registered.
func (a *Adapter) hubOf(ctx context.Context, s adapters.Session) (*process, registration, error) {
	var none registration
	if len(s.Files) == 0 || s.Parent != "" {
		return nil, none, errors.New("only sessions that a user started are answered, in the program that hosts them")
	}
	processes, err := a.census(ctx)
	if err != nil {
		return nil, none, err
	}
	a.roots(processes, kit.NewAnswer())
	sessions := filepath.Dir(filepath.Dir(s.Files[0]))
	for _, p := range processes {
		if !p.hub || p.Identity != s.Process || p.root == nil || p.root.sessions != sessions {
			continue
		}
		data, err := agentfile.ReadPrivate(p.root.hub(), 64<<10)
		if err != nil {
			return nil, none, err
		}
		var r registration
		if json.Unmarshal(data, &r) != nil || r.PID != p.number {
			return nil, none, fmt.Errorf("%s does not describe process %d", p.root.hub(), p.PID)
		}
		return p, r, nil
	}
	return nil, none, errors.New("its own terminal hosts it, and takes no answers from outside")
}

// connect connects to the hub that hosts a session. The token is sent only to the hub's own process. Close the connection after
// use. An error that wraps adapters.ErrAnswerElsewhere says why no hub can be asked.
func (a *Adapter) connect(ctx context.Context, s adapters.Session) (*hub, error) {
	p, r, err := a.hubOf(ctx, s)
	if err == nil {
		err = r.check()
	}
	if err != nil {
		return nil, fmt.Errorf("%w: %w", adapters.ErrAnswerElsewhere, err)
	}
	client := kit.PeerClient("the token was not sent", hubLimit, hubLimit, func(at netip.AddrPort) error { return a.serves(at, p.Identity) })
	ws, _, err := websocket.Dial(ctx, r.URL, &websocket.DialOptions{HTTPClient: client, Subprotocols: []string{tokenProtocol + r.Token}})
	if err != nil {
		client.CloseIdleConnections()
		var foreign *kit.ListenerError
		if errors.As(err, &foreign) {
			return nil, fmt.Errorf("%w: %w", adapters.ErrNotAllowed, foreign)
		}
		return nil, fmt.Errorf("the hub of Cline can't be reached at port %s: %s", portOf(r.URL), strings.ReplaceAll(err.Error(), r.Token, "…"))
	}
	ws.SetReadLimit(frameLimit)
	return &hub{ws: ws, free: client.CloseIdleConnections}, nil
}

// check reports an address that is not one of this machine, and a token that can't be sent.
func (r *registration) check() error {
	u, err := url.Parse(r.URL)
	if err == nil {
		ip := net.ParseIP(u.Hostname())
		if u.Scheme == "ws" && u.Port() != "" && u.User == nil && ip != nil && ip.IsLoopback() && tokenForm.MatchString(r.Token) {
			return nil
		}
	}
	return fmt.Errorf("the hub registered the address %.100q, which is not one of this machine, or no token", r.URL)
}

func portOf(address string) string {
	u, err := url.Parse(address)
	if err != nil {
		return ""
	}
	return u.Port()
}

// close ends the connection.
func (h *hub) close() {
	_ = h.ws.CloseNow()
	h.free()
}

// subscribe asks for the events of a session. The hub begins with the approvals that wait.
func (h *hub) subscribe(ctx context.Context, session string) error {
	return h.send(ctx, map[string]any{"kind": "stream.subscribe", "clientId": clientID, "sessionId": session})
}

func (h *hub) send(ctx context.Context, what any) error {
	text, err := json.Marshal(what)
	if err != nil {
		return err
	}
	return h.ws.Write(ctx, websocket.MessageText, text)
}

// call sends a command and returns the error of its reply. seen gets the events before the reply, and ends the wait
// by returning true.
func (h *hub) call(ctx context.Context, command, session string, payload map[string]any, seen func(*frame) bool) error {
	h.last++
	id := clientID + "_" + strconv.Itoa(h.last)
	envelope := map[string]any{"version": "v1", "command": command, "requestId": id, "clientId": clientID, "payload": payload}
	if session != "" {
		envelope["sessionId"] = session
	}
	if err := h.send(ctx, map[string]any{"kind": "command", "envelope": envelope}); err != nil {
		return err
	}
	for {
		_, text, err := h.ws.Read(ctx)
		if err != nil {
			return err
		}
		var f frame
		if err := json.Unmarshal(text, &f); err != nil {
			return &kit.FormatError{Err: fmt.Errorf("a message from Cline's hub can't be read: %w", err)}
		}
		switch {
		case f.Kind == "reply" && f.Envelope.Request == id && f.Envelope.OK:
			return nil
		case f.Kind == "reply" && f.Envelope.Request == id && f.Envelope.Error != nil:
			return f.Envelope.Error
		case f.Kind == "reply" && f.Envelope.Request == id:
			return &refusal{Code: "error"}
		case f.Kind == "event" && seen != nil && seen(&f):
			return nil
		}
	}
}
