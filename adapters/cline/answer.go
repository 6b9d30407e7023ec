package cline

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"rollcall/adapters"
	"rollcall/adapters/internal/agentfile"
	"rollcall/adapters/internal/kit"
)

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

// request returns an approval for the user, with everything that the tool gets.
func (p *approval) request(s *adapters.Session) adapters.Request {
	r := adapters.Request{Agent: Name, Session: s.ID, ID: p.ID, Kind: adapters.AsksPermission, Folder: s.CWD, CanAllow: true, CanDeny: true,
		CanExplain: true, Where: "Cline's hub", Text: p.Tool + " " + p.Input}
	var input map[string][]string
	if json.Unmarshal([]byte(p.Input), &input) == nil && len(input) == 1 && len(input["commands"]) > 0 && p.Tool == "run_commands" {
		r.Kind, r.Text = adapters.AsksCommand, strings.Join(input["commands"], "\n")
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
