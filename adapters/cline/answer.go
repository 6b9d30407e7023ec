package cline

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"rollcall/adapters"
	"rollcall/adapters/internal/agentfile"
	"rollcall/adapters/internal/kit"
)

var (
	_ adapters.Answerer    = (*Adapter)(nil)
	_ adapters.Prompter    = (*Adapter)(nil)
	_ adapters.Stopper     = (*Adapter)(nil)
	_ adapters.StopChecker = (*Adapter)(nil)
)

// where is how an answer reaches Cline, for the user.
const where = "Cline's hub"

// approval is what the hub says of an approval.
type approval struct {
	ID    string `json:"approvalId"`
	Tool  string `json:"toolName"`
	Input string `json:"inputJson"`
}

// Pending implements adapters.Answerer for the sessions that the hub hosts. A subscription begins with the approvals that
// wait, and changes nothing. A question is answered in the terminal that shows it.
func (a *Adapter) Pending(ctx context.Context, s adapters.Session) ([]adapters.Request, error) {
	if s.Status != adapters.Waiting {
		return nil, nil
	}
	if s.WaitingFor == adapters.ForQuestion {
		return nil, fmt.Errorf("%w: Cline takes the answer to a question %s only", adapters.ErrAnswerElsewhere, s.Where())
	}
	ctx, cancel := context.WithTimeout(ctx, hubLimit)
	defer cancel()
	h, err := a.connect(ctx, s)
	if err != nil {
		return nil, err
	}
	defer h.close()
	return h.pending(ctx, &s)
}

// pending returns the requests of a session, and subscribes to its events.
func (h *hub) pending(ctx context.Context, s *adapters.Session) ([]adapters.Request, error) {
	if err := h.subscribe(ctx, s.ID); err != nil {
		return nil, err
	}
	var list []adapters.Request
	err := h.call(ctx, "hub.status", "", nil, func(f *frame) bool {
		e := &f.Envelope
		var p approval
		if e.Event == "approval.requested" && e.Session == s.ID && json.Unmarshal(e.Payload, &p) == nil && p.ID != "" {
			r := p.request(s)
			if e.At > 0 && e.At < 1<<50 {
				r.AskedAt = time.UnixMilli(e.At)
			}
			list = append(list, r)
		}
		return false
	})
	var refused *refusal
	if err != nil && !errors.As(err, &refused) { // a hub without the command has answered as well
		return nil, err
	}
	return list, nil
}

// request returns an approval for the user, with everything that the tool gets.
func (p *approval) request(s *adapters.Session) adapters.Request {
	r := adapters.Request{Agent: Name, Session: s.ID, ID: p.ID, Kind: adapters.AsksPermission, Folder: s.CWD, CanAllow: true, CanDeny: true,
		CanExplain: true, Where: where, Text: p.Tool + " " + p.Input}
	if commands, only := commandsOf([]byte(p.Input)); p.Tool == "run_commands" && only {
		r.Kind, r.Text = adapters.AsksCommand, strings.Join(commands, "\n")
	}
	return r
}

// commandsOf returns the commands of a call of run_commands. ok is false if the input has anything else.
func commandsOf(input []byte) (commands []string, ok bool) {
	members := 0
	ok = true
	err := agentfile.Top(input, func(key, raw []byte) bool {
		members++
		ok = ok && string(key) == "commands"
		if eachErr := agentfile.Each(raw, func(one []byte) bool {
			var text string
			ok = ok && json.Unmarshal(one, &text) == nil
			commands = append(commands, text)
			return true
		}); eachErr != nil {
			ok = false
		}
		return true
	})
	return commands, ok && err == nil && members == 1 && len(commands) > 0
}

// Answer implements adapters.Answerer. The hub takes the first answer to an approval, and knows no approval after it.
func (a *Adapter) Answer(ctx context.Context, s adapters.Session, shown adapters.Request, d adapters.Decision) (adapters.Result, error) {
	if err := d.Check(&shown); err != nil {
		return adapters.Result{}, err
	}
	ctx, cancel := context.WithTimeout(ctx, hubLimit)
	defer cancel()
	h, err := a.connect(ctx, s)
	if err != nil {
		return adapters.Result{}, err
	}
	defer h.close()
	list, err := h.pending(ctx, &s)
	if err != nil {
		return adapters.Result{}, err
	}
	r, err := adapters.Match(list, &shown)
	if err != nil {
		return adapters.Result{}, err
	}
	payload := map[string]any{"approvalId": r.ID, "approved": d.Verdict == adapters.AllowOnce}
	if d.Message != "" {
		payload["reason"] = d.Message
	}
	err = h.call(ctx, "approval.respond", s.ID, payload, nil)
	var refused *refusal
	switch {
	case errors.As(err, &refused) && refused.Code == "approval_not_found":
		return adapters.Result{}, adapters.ErrNotPending
	case refused != nil:
		return adapters.Result{}, fmt.Errorf("%w: %w", adapters.ErrNotAllowed, err)
	case err != nil:
		return adapters.Result{}, fmt.Errorf("%w: %w", adapters.ErrUnconfirmed, err)
	}
	return adapters.Result{Confirmed: true, Evidence: "the hub resolved " + kit.PlainWord(r.ID)}, nil
}

// Send implements adapters.Prompter. The hub says that a turn began, or why not.
func (a *Adapter) Send(ctx context.Context, s adapters.Session, prompt string) error {
	if s.Status != adapters.Idle {
		return adapters.ErrBusy
	}
	return a.input(ctx, s, prompt, false)
}

// Queue implements adapters.Prompter.
func (a *Adapter) Queue(ctx context.Context, s adapters.Session, prompt string) error {
	return a.input(ctx, s, prompt, s.Status != adapters.Idle)
}

// input gives a session a prompt. The reply comes at the end of the turn: what counts is the event of its beginning, or the prompt in the queue.
func (a *Adapter) input(ctx context.Context, s adapters.Session, prompt string, queue bool) error {
	ctx, cancel := context.WithTimeout(ctx, hubLimit)
	defer cancel()
	h, err := a.connect(ctx, s)
	if err != nil {
		return err
	}
	defer h.close()
	if err := h.subscribe(ctx, s.ID); err != nil {
		return err
	}
	payload := map[string]any{"sessionId": s.ID, "prompt": prompt}
	begun := "run.started"
	if queue {
		payload["delivery"], begun = "queue", "session.pending_prompts"
	}
	err = h.call(ctx, "session.send_input", s.ID, payload, func(f *frame) bool { return f.Envelope.Event == begun && f.Envelope.Session == s.ID })
	if err != nil {
		return fmt.Errorf("the hub of Cline did not take the prompt: %w", err)
	}
	return nil
}

// CanStop implements adapters.StopChecker.
func (a *Adapter) CanStop(ctx context.Context, s adapters.Session) error {
	_, _, err := a.hubOf(ctx, s)
	return err
}

// Stop implements adapters.Stopper for the sessions that the hub hosts, which continues to run.
func (a *Adapter) Stop(ctx context.Context, s adapters.Session) error {
	if s.Status != adapters.Working && s.Status != adapters.Waiting {
		return nil // over already
	}
	ctx, cancel := context.WithTimeout(ctx, hubLimit)
	defer cancel()
	h, err := a.connect(ctx, s)
	if err == nil {
		defer h.close()
		err = h.call(ctx, "run.abort", s.ID, map[string]any{"sessionId": s.ID}, nil)
	}
	if err != nil {
		return fmt.Errorf("the turn was not interrupted: %w; press Esc %s", err, s.Where())
	}
	return nil
}
