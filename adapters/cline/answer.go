package cline

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/netip"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/coder/websocket"
	"github.com/coder/websocket/wsjson"

	"rollcall/adapters"
	"rollcall/adapters/internal/agentfile"
	"rollcall/adapters/internal/kit"
	"rollcall/bounded"
)

const (
	hubLimit   = 10 * time.Second // for an order
	frameLimit = 16 << 20
	clientID   = "rollcall"

	tokenProtocol = "cline-hub-auth." // begins the WebSocket sub-protocol that carries the hub's token
)

// tokenForm is that of a token, which goes into a header. A limit of its length in the expression would make it a large one.
var tokenForm = regexp.MustCompile(`^[0-9A-Za-z._~-]+$`)

// registration is the file in which the hub describes itself. Its token is never kept.
type registration struct {
	PID   int    `json:"pid"`
	URL   string `json:"url"`
	Token string `json:"authToken"`
}

// hub is a connection to a hub for orders about a session, for one goroutine.
type hub struct {
	ws      *websocket.Conn
	session string
	last    int
}

// refusal is the error with which a hub replied.
type refusal struct{ Code, Message string }

func (r *refusal) Error() string {
	return fmt.Sprintf("it answered %s%s", kit.PlainWord(r.Code), kit.Quoted(r.Message))
}

// hubOf returns what the hub that hosts a session registered.
func (a *Adapter) hubOf(s *adapters.Session) (r registration, err error) {
	switch {
	case s.Parent != "":
		return r, errors.New("only sessions that a user started are answered, in the program that hosts them")
	case !s.Shared || s.Process.IsZero():
		return r, errors.New("its own terminal hosts it, and takes no answers from outside")
	case !bounded.Answers(s.Home):
		return r, adapters.Unresponsive(s.Home)
	}
	path := filepath.Join(s.Home, "locks", "hub", "production.json")
	data, err := agentfile.ReadPrivate(path, 64<<10)
	_ = json.Unmarshal(data, &r) // another text names no process
	host, _, _ := strings.Cut(strings.TrimPrefix(r.URL, "ws://"), "/")
	at, other := netip.ParseAddrPort(host)
	if err == nil && (r.PID != a.number(s.Process) || other != nil || !strings.HasPrefix(r.URL, "ws://") || !at.Addr().IsLoopback() || len(r.Token) > 512 || !tokenForm.MatchString(r.Token)) {
		err = fmt.Errorf("%s does not describe process %d with an address of this machine and a token", path, s.Process.PID)
	}
	return r, err
}

// ask calls do with a connection to the hub that hosts a session, whose events it sends, at first for the approvals that wait. The token is sent only to the hub's own process. An error that wraps
// adapters.ErrAnswerElsewhere says why no hub can be asked.
func (a *Adapter) ask(ctx context.Context, s adapters.Session, do func(context.Context, *hub) error) error {
	ctx, cancel := context.WithTimeout(ctx, hubLimit)
	defer cancel()
	r, err := a.hubOf(&s)
	if err != nil {
		return fmt.Errorf("%w: %w", adapters.ErrAnswerElsewhere, err)
	}
	client := kit.PeerClient("the token was not sent", hubLimit, hubLimit, func(at netip.AddrPort) error { return a.serves(at, s.Process) })
	defer client.CloseIdleConnections()
	ws, _, err := websocket.Dial(ctx, r.URL, &websocket.DialOptions{HTTPClient: client, Subprotocols: []string{tokenProtocol + r.Token}})
	if err != nil {
		if foreign, is := errors.AsType[*kit.ListenerError](err); is {
			return fmt.Errorf("%w: %w", adapters.ErrNotAllowed, foreign)
		}
		return fmt.Errorf("the hub of Cline can't be reached: %s", strings.ReplaceAll(err.Error(), r.Token, "…"))
	}
	defer func() { _ = ws.CloseNow() }()
	ws.SetReadLimit(frameLimit)
	if err := wsjson.Write(ctx, ws, map[string]any{"kind": "stream.subscribe", "clientId": clientID, "sessionId": s.ID}); err != nil {
		return err
	}
	return do(ctx, &hub{ws: ws, session: s.ID})
}

// call sends a command and returns the error of its reply. seen gets the events of the session before the reply, with their names, and ends the
// wait by returning true.
func (h *hub) call(ctx context.Context, command string, payload map[string]any, seen func(name string, event []byte) bool) error {
	h.last++
	id := clientID + "_" + strconv.Itoa(h.last)
	envelope := map[string]any{"version": "v1", "command": command, "requestId": id, "clientId": clientID, "sessionId": h.session, "payload": payload}
	if err := wsjson.Write(ctx, h.ws, map[string]any{"kind": "command", "envelope": envelope}); err != nil {
		return err
	}
	for {
		_, data, err := h.ws.Read(ctx)
		if err != nil {
			return err
		}
		envelope := agentfile.Get(data, "envelope")
		text := func(path ...string) string { return agentfile.String(agentfile.Get(envelope, path...)) }
		switch kind := agentfile.String(agentfile.Get(data, "kind")); {
		case kind == "event" && seen != nil && text("sessionId") == h.session && seen(text("event"), envelope):
			return nil
		case kind != "reply" || text("requestId") != id:
		case agentfile.True(agentfile.Get(envelope, "ok")):
			return nil
		default:
			return &refusal{cmp.Or(text("error", "code"), "error"), text("error", "message")}
		}
	}
}

// approval is what the hub says of an approval.
type approval struct{ ID, Tool, Input string }

// Pending implements adapters.Answerer for the sessions that the hub hosts. A subscription begins with the approvals that
// wait, and changes nothing. A question is answered in the terminal that shows it.
func (a *Adapter) Pending(ctx context.Context, s adapters.Session) (list []adapters.Request, err error) {
	if s.Status != adapters.Waiting {
		return nil, nil
	}
	if s.WaitingFor == adapters.ForQuestion {
		return nil, fmt.Errorf("%w: Cline takes the answer to a question %s only", adapters.ErrAnswerElsewhere, s.Where())
	}
	err = a.ask(ctx, s, func(ctx context.Context, h *hub) error {
		list, err = h.pending(ctx, &s)
		return err
	})
	return list, err
}

// pending returns the requests of a session.
func (h *hub) pending(ctx context.Context, s *adapters.Session) (list []adapters.Request, err error) {
	err = h.call(ctx, "hub.status", nil, func(name string, event []byte) bool {
		text := func(path ...string) string { return agentfile.String(agentfile.Get(event, path...)) }
		p := approval{text("payload", "approvalId"), text("payload", "toolName"), text("payload", "inputJson")}
		if name == "approval.requested" && p.ID != "" {
			r := p.request(s)
			approvalMembers.Check(&r, "", agentfile.Get(event, "payload"))
			r.AskedAt = millis(agentfile.Get(event, "timestamp"))
			list = append(list, r)
		}
		return false
	})
	if _, refused := errors.AsType[*refusal](err); err != nil && !refused { // a hub without the command has answered as well
		return nil, err
	}
	return list, nil
}

// request returns an approval for the user, with everything that the tool gets. Of several commands Cline gives each to a shell of its own, all at the same
// time (3.0.65): together they are no script.
func (p *approval) request(s *adapters.Session) adapters.Request {
	r := adapters.Request{Agent: Name, Session: s.ID, ID: p.ID, Kind: adapters.AsksPermission, Folder: s.CWD, CanAllow: true, CanDeny: true,
		CanExplain: true, Where: "Cline's hub", Text: p.Tool + "\n" + p.Input}
	var input map[string][]string
	if json.Unmarshal([]byte(p.Input), &input) == nil && len(input) == 1 && len(input["commands"]) == 1 && p.Tool == "run_commands" {
		r.Kind, r.Text = adapters.AsksCommand, input["commands"][0]
	}
	return r
}

// Answer implements adapters.Answerer. The hub takes the first answer to an approval, and knows no approval after it.
func (a *Adapter) Answer(ctx context.Context, s adapters.Session, shown adapters.Request, d adapters.Decision) (adapters.Result, error) {
	if err := d.Check(&shown); err != nil {
		return adapters.Result{}, err
	}
	err := a.ask(ctx, s, func(ctx context.Context, h *hub) error {
		list, err := h.pending(ctx, &s)
		if err != nil {
			return err
		}
		r, err := adapters.Match(list, &shown)
		if err != nil {
			return err
		}
		payload := map[string]any{"approvalId": r.ID, "approved": d.Verdict == adapters.AllowOnce}
		if d.Message != "" {
			payload["reason"] = d.Message
		}
		err = h.call(ctx, "approval.respond", payload, nil)
		switch refused, is := errors.AsType[*refusal](err); {
		case is && refused.Code == "approval_not_found":
			return adapters.ErrNotPending
		case is:
			return fmt.Errorf("%w: %w", adapters.ErrNotAllowed, err)
		case err != nil:
			return fmt.Errorf("%w: %w", adapters.ErrUnconfirmed, err)
		}
		return nil
	})
	if err != nil {
		return adapters.Result{}, err
	}
	return adapters.Result{Confirmed: true, Evidence: "the hub resolved " + kit.PlainWord(shown.ID)}, nil
}

// Send implements adapters.Prompter. The hub says that a turn began, or why not.
func (a *Adapter) Send(ctx context.Context, s adapters.Session, prompt string) error {
	if s.Status != adapters.Idle {
		return adapters.ErrBusy
	}
	return a.Queue(ctx, s, prompt)
}

// Queue implements adapters.Prompter. The reply comes at the end of the turn: what counts is the event of its beginning, or the prompt in the queue.
func (a *Adapter) Queue(ctx context.Context, s adapters.Session, prompt string) error {
	payload, begun := map[string]any{"sessionId": s.ID, "prompt": prompt}, "run.started"
	if s.Status != adapters.Idle {
		payload["delivery"], begun = "queue", "session.pending_prompts"
	}
	return a.ask(ctx, s, func(ctx context.Context, h *hub) error {
		err := h.call(ctx, "session.send_input", payload, func(name string, _ []byte) bool { return name == begun })
		if err != nil {
			return fmt.Errorf("the hub of Cline did not take the prompt: %w", err)
		}
		return nil
	})
}

// CanStop implements adapters.StopChecker.
func (a *Adapter) CanStop(_ context.Context, s adapters.Session) error {
	_, err := a.hubOf(&s)
	return err
}

// Stop implements adapters.Stopper for the sessions that the hub hosts, which continues to run.
func (a *Adapter) Stop(ctx context.Context, s adapters.Session) error {
	if s.Status != adapters.Working && s.Status != adapters.Waiting {
		return nil // over already
	}
	err := a.ask(ctx, s, func(ctx context.Context, h *hub) error {
		return h.call(ctx, "run.abort", map[string]any{"sessionId": s.ID}, nil)
	})
	if err != nil {
		return fmt.Errorf("the turn was not interrupted: %w; press Esc %s", err, s.Where())
	}
	return nil
}
