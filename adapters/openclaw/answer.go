package openclaw

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"rollcall/adapters"
	"rollcall/adapters/internal/kit"
)

const (
	scopeApprovals = "operator.approvals"
	scopeQuestions = "operator.questions"
	scopeWrite     = "operator.write"
)

// asked is an entry of a list of approvals or of questions (2026.9.6).
type asked struct {
	ID      string `json:"id"`
	Status  string `json:"status"`
	Created number `json:"createdAtMs"`
	Expires number `json:"expiresAtMs"`
	Session string `json:"sessionKey"`
	Request struct {
		Session   string   `json:"sessionKey"`
		Command   string   `json:"command"`
		Argv      []string `json:"commandArgv"`
		CWD       string   `json:"cwd"`
		Host      string   `json:"host"`
		Title     string   `json:"title"`
		Decisions []string `json:"allowedDecisions"`
	} `json:"request"`
	Questions []struct {
		ID      string          `json:"questionId"`
		Header  string          `json:"header"`
		Text    string          `json:"question"`
		Several bool            `json:"multiSelect"`
		Secret  bool            `json:"isSecret"`
		Store   json.RawMessage `json:"secretStore"`
		Options []struct {
			Label string `json:"label"`
			Says  string `json:"description"`
		} `json:"options"`
	} `json:"questions"`
}

func readAsked(raw json.RawMessage) (p asked) {
	_ = json.Unmarshal(raw, &p) // a member of another type leaves the others as they are
	return p
}

// session returns the key of the session that waits, and "" if the request no longer waits.
func (p *asked) session() string {
	if p.Status != "" && p.Status != "pending" {
		return ""
	}
	return cmp.Or(p.Session, p.Request.Session)
}

// requestLists are the methods that list requests, and what the session of each waits for.
var requestLists = []struct {
	method string
	what   adapters.WaitingFor
}{{"exec.approval.list", adapters.ForPermission}, {"plugin.approval.list", adapters.ForPermission},
	{"openclaw.approval.list", adapters.ForPermission}, {"question.list", adapters.ForQuestion}}

// Pending implements adapters.Answerer. A gateway lists the requests of other clients only to
// operator.admin, on loopback with its own token.
func (a *Adapter) Pending(ctx context.Context, s adapters.Session) ([]adapters.Request, error) {
	if s.Status != adapters.Waiting {
		return nil, nil // each question takes a connection with all rights
	}
	c, t, key, err := a.connectToAnswer(ctx, s)
	if err != nil {
		return nil, err
	}
	defer c.close()
	return c.requests(ctx, t, s, key)
}

// connectTo opens a connection with these scopes to the gateway of a session, and returns it with the gateway and the
// session's key there. Close it after use.
func (a *Adapter) connectTo(ctx context.Context, s adapters.Session, scopes ...string) (c *client, t *target, key string, err error) {
	t, key, err = a.locate(ctx, s)
	if err != nil {
		return nil, nil, "", err
	}
	c, err = t.connect(ctx, scopes, nil)
	if err != nil {
		return nil, nil, "", t.problem(err)
	}
	return c, t, key, nil
}

// scopesToAnswer are the scopes that permit a client to list and decide requests.
var scopesToAnswer = []string{scopeRead, scopeApprovals, scopeQuestions, scopeAdmin}

// connectToAnswer opens a connection that may see and decide requests. Close it as soon as the
// request is decided: while it is open, it counts as a user who decides approvals.
func (a *Adapter) connectToAnswer(ctx context.Context, s adapters.Session) (c *client, t *target, key string, err error) {
	c, t, key, err = a.connectTo(ctx, s, scopesToAnswer...)
	if err != nil {
		return nil, nil, "", err
	}
	switch {
	case !c.hello.has("exec.approval.resolve"):
		err = errors.New("this version of OpenClaw takes no answers over its gateway")
	case !c.hello.granted(scopeAdmin):
		err = errors.New("the gateway doesn't grant Rollcall " + scopeAdmin + ", without which it shows no requests of other clients; " +
			"reach it on loopback with its own token, or answer with: openclaw approvals")
	default:
		return c, t, key, nil
	}
	c.close()
	return nil, nil, "", fmt.Errorf("%w: %s: %w", adapters.ErrAnswerElsewhere, t.url, err)
}

// requests returns what the session with this key waits for.
func (c *client) requests(ctx context.Context, t *target, s adapters.Session, key string) ([]adapters.Request, error) {
	var out []adapters.Request
	for _, l := range requestLists {
		if !c.hello.has(l.method) {
			continue
		}
		var list requests
		if err := c.call(ctx, l.method, struct{}{}, &list); err != nil {
			return nil, t.problem(err)
		}
		for _, raw := range list {
			p := readAsked(raw)
			switch {
			case p.ID == "" || p.session() != key:
			case l.what == adapters.ForQuestion:
				out = append(out, p.question(s, raw))
			default:
				out = append(out, p.approval(s, raw, l.method == "exec.approval.list"))
			}
		}
	}
	for i := range out {
		out[i].Text, out[i].Reason = t.auth.redact(out[i].Text), t.auth.redact(out[i].Reason)
		for d := range out[i].Details {
			out[i].Details[d].Text = t.auth.redact(out[i].Details[d].Text)
		}
	}
	slices.SortStableFunc(out, func(a, b adapters.Request) int { return a.AskedAt.Compare(b.AskedAt) })
	return out, nil
}

// gatewayName returns the name of a gateway for the user.
const gatewayName = "the OpenClaw gateway"

// approval returns an approval for the user. An approval that is not of a command is shown as
// it was received, and can only be answered in OpenClaw.
func (p *asked) approval(s adapters.Session, raw json.RawMessage, exec bool) adapters.Request {
	r := adapters.Request{Agent: Name, Session: s.ID, ID: p.ID, Kind: adapters.AsksPermission, Text: string(raw),
		Folder: p.Request.CWD, Options: p.Request.Decisions, AskedAt: p.Created.time(), ExpiresAt: p.Expires.time(), Where: gatewayName}
	if !exec || p.Request.Command == "" {
		return r
	}
	r.Kind, r.Text = adapters.AsksCommand, p.Request.Command
	if p.Request.Host != "" && p.Request.Host != "gateway" {
		r.Reason = "runs on " + p.Request.Host
	}
	offers := func(d string) bool { return len(r.Options) == 0 || slices.Contains(r.Options, d) }
	r.CanAllow, r.CanDeny = offers("allow-once"), offers("deny")
	p.checkMembers(&r, raw)
	return r
}

// question returns a question for the user.
func (p *asked) question(s adapters.Session, raw json.RawMessage) adapters.Request {
	r := adapters.Request{Agent: Name, Session: s.ID, ID: p.ID, Kind: adapters.AsksQuestion, CanDeny: true,
		AskedAt: p.Created.time(), ExpiresAt: p.Expires.time(), Where: gatewayName}
	var texts []string
	secret := false
	for _, one := range p.Questions {
		n := adapters.Question{ID: one.ID, Header: one.Header, Text: one.Text, Several: one.Several, Secret: one.Secret, FreeText: true}
		for _, o := range one.Options {
			n.Options = append(n.Options, adapters.Option{Label: o.Label, Says: o.Says})
		}
		secret = secret || one.Secret || len(one.Store) > 0 && string(one.Store) != "null"
		r.Questions, texts = append(r.Questions, n), append(texts, one.Text)
	}
	r.Text = strings.Join(texts, "\n")
	if secret || slices.ContainsFunc(r.Questions, func(n adapters.Question) bool { return n.ID == "" }) {
		r.Questions = nil // a secret goes into OpenClaw's own store: its own form asks for it
	}
	questionMembers.Check(&r, "", raw)
	return r
}

// Answer implements adapters.Answerer. The gateway accepts the first answer to an id, and
// refuses the others.
func (a *Adapter) Answer(ctx context.Context, s adapters.Session, shown adapters.Request, d adapters.Decision) (adapters.Result, error) {
	if err := d.Check(&shown); err != nil {
		return adapters.Result{}, err
	}
	c, t, key, err := a.connectToAnswer(ctx, s)
	if err != nil {
		return adapters.Result{}, err
	}
	defer c.close()
	list, err := c.requests(ctx, t, s, key)
	if err != nil {
		return adapters.Result{}, err
	}
	r, err := adapters.Match(list, &shown)
	if err != nil {
		return adapters.Result{}, err
	}
	method, params := resolve(&r, d)
	if err := c.call(ctx, method, params, nil); err != nil {
		return adapters.Result{}, t.notTaken(err)
	}
	return adapters.Result{Confirmed: true, Evidence: "the gateway resolved " + r.ID}, nil
}

// resolve returns the call that gives a decision. "allow-always" is never sent.
func resolve(r *adapters.Request, d adapters.Decision) (method string, params any) {
	if r.Kind == adapters.AsksQuestion {
		if d.Verdict == adapters.Deny {
			return "question.resolve", map[string]any{"id": r.ID, "cancel": true}
		}
		answers := map[string][]string{}
		for i, q := range r.Questions {
			answers[q.ID] = d.Answers[i]
		}
		return "question.resolve", map[string]any{"id": r.ID, "answers": map[string]any{"answers": answers}}
	}
	decision := "deny"
	if d.Verdict == adapters.AllowOnce {
		decision = "allow-once"
	}
	return "exec.approval.resolve", map[string]any{"id": r.ID, "decision": decision}
}

// notTaken returns the error of an answer that the gateway did not accept.
func (t *target) notTaken(err error) error {
	var r *refusal
	if !errors.As(err, &r) {
		return fmt.Errorf("%w: %w", adapters.ErrUnconfirmed, t.problem(err))
	}
	code := cmp.Or(r.detail("reason"), r.detail("code"), r.Code)
	switch all := strings.ToUpper(code + " " + r.Code + " " + r.Message); {
	case strings.Contains(all, "EXPIRED"):
		return adapters.ErrRequestExpired
	case strings.Contains(all, "ALREADY"), strings.Contains(all, "NOT_FOUND"), strings.Contains(all, "NOT FOUND"), strings.Contains(all, "UNKNOWN OR EXPIRED"):
		return adapters.ErrNotPending
	}
	return fmt.Errorf("%w: %w", adapters.ErrNotAllowed, t.problem(err))
}

// Send implements adapters.Prompter, by chat.send (2026.9.6). A run has the rights of its
// sender: a run for a prompt from Rollcall can't run commands that need an approval.
func (a *Adapter) Send(ctx context.Context, s adapters.Session, prompt string) error {
	if s.Status != adapters.Idle {
		return adapters.ErrBusy
	}
	return a.Queue(ctx, s, prompt)
}

// Queue implements adapters.Prompter: the gateway itself queues prompts that arrive while a run is open.
func (a *Adapter) Queue(ctx context.Context, s adapters.Session, prompt string) error {
	c, t, key, err := a.connectTo(ctx, s, scopeRead, scopeWrite)
	if err != nil {
		return err
	}
	defer c.close()
	if err := c.call(ctx, "chat.send", map[string]any{"sessionKey": key, "message": prompt, "idempotencyKey": kit.New()}, nil); err != nil {
		return t.problem(err)
	}
	return nil
}

// pending returns the requests that wait for the user. A gateway lists approvals only
// to the client that made the request and to operator.admin (2026.9.6), so pending
// needs a separate connection. It closes the connection soon and requests only lists: a
// client with the scope for approvals could otherwise count as a user who decides them.
// whyUnknown is the reason why this gateway hides requests permanently; an error is
// temporary.
func (t *target) pending(ctx context.Context, c *client) (found map[string]request, whyUnknown string, err error) {
	if !c.hello.has(requestLists[0].method) {
		return nil, "this version of OpenClaw has no list of approvals", nil
	}
	admin, err := t.connect(ctx, scopesToAnswer, nil)
	if err != nil {
		var r *refusal
		if errors.As(err, &r) {
			return nil, t.problem(err).Err.Error(), nil
		}
		return nil, "", err
	}
	defer admin.close()
	if !admin.hello.granted(scopeAdmin) {
		whyUnknown = "the gateway doesn't grant " + scopeAdmin
	}
	found = map[string]request{}
	for _, l := range requestLists {
		if !c.hello.has(l.method) {
			continue
		}
		var list requests
		err := admin.call(ctx, l.method, struct{}{}, &list)
		var r *refusal
		switch {
		case errors.As(err, &r):
			whyUnknown = cmp.Or(whyUnknown, oneLine(r.Error()))
			continue
		case err != nil:
			return nil, "", err
		}
		list.enter(found, l.what)
	}
	return found, whyUnknown, nil
}

// requests is the answer to a list of approvals (an array) or of questions (an
// object with one), in 2026.9.6.
type requests []json.RawMessage

// UnmarshalJSON implements json.Unmarshaler.
func (l *requests) UnmarshalJSON(b []byte) error {
	if bytes.HasPrefix(bytes.TrimSpace(b), []byte("[")) {
		return json.Unmarshal(b, (*[]json.RawMessage)(l))
	}
	var object struct {
		Questions []json.RawMessage `json:"questions"`
		Approvals []json.RawMessage `json:"approvals"`
	}
	if err := json.Unmarshal(b, &object); err != nil {
		return err
	}
	*l = slices.Concat(object.Questions, object.Approvals)
	return nil
}

// enter adds the requests to those of each session.
func (l requests) enter(found map[string]request, what adapters.WaitingFor) {
	for _, raw := range l {
		p := readAsked(raw)
		key := p.session()
		if key == "" {
			continue
		}
		w, known := found[key]
		switch {
		case known:
			w.more++
		case len(p.Questions) > 0:
			w = request{what: what, text: cmp.Or(p.Questions[0].Text, p.Questions[0].Header)}
		default:
			w = request{what: what, text: cmp.Or(p.Request.Command, p.Request.Title)}
		}
		found[key] = w
	}
}
