package openclaw

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"rollcall/adapters"
	"rollcall/adapters/internal/uuid"
)

var (
	_ adapters.Answerer = (*Adapter)(nil)
	_ adapters.Prompter = (*Adapter)(nil)
)

const (
	scopeApprovals = "operator.approvals"
	scopeQuestions = "operator.questions"
	scopeWrite     = "operator.write"
)

// approval is an entry of a list of approvals (2026.9.6).
type approval struct {
	ID      string `json:"id"`
	Status  string `json:"status"`
	Created int64  `json:"createdAtMs"`
	Expires int64  `json:"expiresAtMs"`
	Session string `json:"sessionKey"`
	Request struct {
		Session   string   `json:"sessionKey"`
		Command   string   `json:"command"`
		CWD       string   `json:"cwd"`
		Host      string   `json:"host"`
		Title     string   `json:"title"`
		Decisions []string `json:"allowedDecisions"`
	} `json:"request"`
}

// question is an entry of the list of questions (2026.9.6).
type question struct {
	ID        string `json:"id"`
	Status    string `json:"status"`
	Session   string `json:"sessionKey"`
	Created   int64  `json:"createdAtMs"`
	Expires   int64  `json:"expiresAtMs"`
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

// Pending implements adapters.Answerer. A gateway lists the requests of other clients only to
// operator.admin, on loopback with its own token.
func (a *Adapter) Pending(ctx context.Context, s adapters.Session) ([]adapters.Request, error) {
	if s.Status != adapters.Waiting {
		return nil, nil // each question takes a connection with all rights
	}
	t, key, err := a.locate(ctx, s)
	if err != nil {
		return nil, err
	}
	c, err := a.connectToAnswer(ctx, t)
	if err != nil {
		return nil, err
	}
	defer c.close()
	return c.requests(ctx, t, s, key)
}

// connectToAnswer opens a connection that may see and decide requests. It is closed as soon
// as that is done: while it lasts, it counts as a user who decides approvals.
func (a *Adapter) connectToAnswer(ctx context.Context, t *target) (*client, error) {
	c, err := t.connect(ctx, a.cfg.AllowPlaintext, []string{scopeRead, scopeApprovals, scopeQuestions, scopeAdmin}, nil)
	if err != nil {
		return nil, t.problem(err)
	}
	switch {
	case !c.hello.has("exec.approval.resolve"):
		err = errors.New("this version of OpenClaw takes no answers over its gateway")
	case !c.hello.granted(scopeAdmin):
		err = errors.New("the gateway doesn't grant Rollcall " + scopeAdmin + ", without which it shows no requests of other clients; " +
			"reach it on loopback with its own token, or answer with: openclaw approvals")
	default:
		return c, nil
	}
	c.close()
	return nil, fmt.Errorf("%w: %s: %w", adapters.ErrAnswerElsewhere, t.url, err)
}

// requests returns what the session with this key waits for.
func (c *client) requests(ctx context.Context, t *target, s adapters.Session, key string) ([]adapters.Request, error) {
	var out []adapters.Request
	for _, method := range []string{"exec.approval.list", "plugin.approval.list", "openclaw.approval.list"} {
		if !c.hello.has(method) {
			continue
		}
		var list requests
		if err := c.call(ctx, method, struct{}{}, &list); err != nil {
			return nil, t.problem(err)
		}
		for _, raw := range list {
			var p approval
			_ = json.Unmarshal(raw, &p) // a member of another type leaves the others as they are
			if p.ID != "" && cmp.Or(p.Session, p.Request.Session) == key && (p.Status == "" || p.Status == "pending") {
				out = append(out, p.request(s, raw, method == "exec.approval.list"))
			}
		}
	}
	questions, err := c.questions(ctx, t, s, key)
	if err != nil {
		return nil, err
	}
	out = append(out, questions...)
	for i := range out {
		out[i].Text, out[i].Reason = t.auth.redact(out[i].Text), t.auth.redact(out[i].Reason)
	}
	slices.SortStableFunc(out, func(a, b adapters.Request) int { return a.AskedAt.Compare(b.AskedAt) })
	return out, nil
}

func (c *client) questions(ctx context.Context, t *target, s adapters.Session, key string) (out []adapters.Request, err error) {
	if !c.hello.has("question.list") {
		return nil, nil
	}
	var list requests
	if err := c.call(ctx, "question.list", struct{}{}, &list); err != nil {
		return nil, t.problem(err)
	}
	for _, raw := range list {
		var q question
		_ = json.Unmarshal(raw, &q)
		if q.ID != "" && q.Session == key && (q.Status == "" || q.Status == "pending") {
			out = append(out, q.request(s))
		}
	}
	return out, nil
}

// gatewayName is what a gateway is called for the user.
const gatewayName = "the OpenClaw gateway"

// request returns an approval for the user. One that is not of a command is shown as it came,
// and answered in OpenClaw.
func (p *approval) request(s adapters.Session, raw json.RawMessage, exec bool) adapters.Request {
	r := adapters.Request{Agent: adapters.OpenClaw, Session: s.ID, ID: p.ID, Kind: adapters.AsksPermission, Text: string(raw),
		Folder: p.Request.CWD, Options: p.Request.Decisions, AskedAt: since(p.Created), ExpiresAt: since(p.Expires), Where: gatewayName}
	if !exec || p.Request.Command == "" {
		return r
	}
	r.Kind, r.Text = adapters.AsksCommand, p.Request.Command
	if p.Request.Host != "" && p.Request.Host != "gateway" {
		r.Reason = "runs on " + p.Request.Host
	}
	offers := func(d string) bool { return len(r.Options) == 0 || slices.Contains(r.Options, d) }
	r.CanAllow, r.CanDeny = offers("allow-once"), offers("deny")
	return r
}

func (q *question) request(s adapters.Session) adapters.Request {
	r := adapters.Request{Agent: adapters.OpenClaw, Session: s.ID, ID: q.ID, Kind: adapters.AsksQuestion, CanDeny: true,
		AskedAt: since(q.Created), ExpiresAt: since(q.Expires), Where: gatewayName}
	var texts []string
	secret := false
	for _, one := range q.Questions {
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
	return r
}

func since(ms int64) time.Time {
	if ms <= 0 {
		return time.Time{}
	}
	return time.UnixMilli(ms)
}

// Answer implements adapters.Answerer. The gateway takes the first answer to an id, and refuses
// the others.
func (a *Adapter) Answer(ctx context.Context, s adapters.Session, shown adapters.Request, d adapters.Decision) (adapters.Result, error) {
	if err := d.Check(&shown); err != nil {
		return adapters.Result{}, err
	}
	t, key, err := a.locate(ctx, s)
	if err != nil {
		return adapters.Result{}, err
	}
	c, err := a.connectToAnswer(ctx, t)
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
	var done struct{}
	if err := c.call(ctx, method, params, &done); err != nil {
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

// notTaken returns the error of an answer that the gateway did not take.
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
// sender: one that Rollcall sent runs no command that needs an approval.
func (a *Adapter) Send(ctx context.Context, s adapters.Session, prompt string) error {
	if s.Status != adapters.Idle {
		return adapters.ErrBusy
	}
	return a.Queue(ctx, s, prompt)
}

// Queue implements adapters.Prompter: the gateway itself queues what comes while a run is open.
func (a *Adapter) Queue(ctx context.Context, s adapters.Session, prompt string) error {
	t, key, err := a.locate(ctx, s)
	if err != nil {
		return err
	}
	c, err := t.connect(ctx, a.cfg.AllowPlaintext, []string{scopeRead, scopeWrite}, nil)
	if err != nil {
		return t.problem(err)
	}
	defer c.close()
	var done struct{}
	if err := c.call(ctx, "chat.send", map[string]any{"sessionKey": key, "message": prompt, "idempotencyKey": uuid.New()}, &done); err != nil {
		return t.problem(err)
	}
	return nil
}
