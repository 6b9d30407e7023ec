package qwen

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"time"

	"rollcall/adapters"
	"rollcall/adapters/internal/kit"
)

// channel is a way to give a session answers and prompts.
type channel interface {
	pending(ctx context.Context, s *adapters.Session) ([]adapters.Request, error)
	// decide gives a decision on a request, and returns once Qwen Code has confirmed it.
	decide(ctx context.Context, s *adapters.Session, r *adapters.Request, d adapters.Decision) error
	// prompt begins a turn of a session that is idle, and adds the prompt to those that wait for the end of the turn of another one.
	prompt(ctx context.Context, s *adapters.Session, text string) error
}

// orderLimit is how long an answer or a prompt may take on an idle machine: a terminal looks at its file twice a second.
const orderLimit = 8 * time.Second

// limited returns a context for an answer or a prompt.
func (a *Adapter) limited(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithTimeout(ctx, kit.Delay(orderLimit, a.Table.Pressure()))
}

// channelOf returns the channel to a session. The error says why there is none.
func (a *Adapter) channelOf(s *adapters.Session) (c channel, err error) {
	if s.Shared {
		c, err = a.serverOf(s)
	} else {
		c, err = a.remoteOf(s)
	}
	if err != nil {
		return nil, fmt.Errorf("%w: %w", adapters.ErrAnswerElsewhere, err)
	}
	return c, nil
}

// Pending implements adapters.Answerer.
func (a *Adapter) Pending(ctx context.Context, s adapters.Session) ([]adapters.Request, error) {
	if s.Status != adapters.Waiting {
		return nil, nil
	}
	c, err := a.channelOf(&s)
	if err != nil {
		return nil, err
	}
	return c.pending(ctx, &s)
}

// Answer implements adapters.Answerer.
func (a *Adapter) Answer(ctx context.Context, s adapters.Session, shown adapters.Request, d adapters.Decision) (none adapters.Result, err error) {
	if err := d.Check(&shown); err != nil {
		return none, err
	}
	ctx, cancel := a.limited(ctx)
	defer cancel()
	c, err := a.channelOf(&s)
	if err != nil {
		return none, err
	}
	list, err := c.pending(ctx, &s)
	if err != nil {
		return none, err
	}
	asked, err := adapters.Match(list, &shown)
	if err != nil {
		return none, err
	}
	if err := c.decide(ctx, &s, &asked, d); err != nil {
		return none, err
	}
	return adapters.Result{Confirmed: true, Evidence: "Qwen Code reports the decision on " + kit.PlainWord(asked.ID)}, nil
}

// Send implements adapters.Prompter.
func (a *Adapter) Send(ctx context.Context, s adapters.Session, prompt string) error {
	if s.Status != adapters.Idle {
		return adapters.ErrBusy
	}
	return a.Queue(ctx, s, prompt)
}

// Queue implements adapters.Prompter.
func (a *Adapter) Queue(ctx context.Context, s adapters.Session, prompt string) error {
	ctx, cancel := a.limited(ctx)
	defer cancel()
	c, err := a.channelOf(&s)
	if errors.Is(err, errNoRemote) {
		return a.sendToInbox(ctx, &s, prompt)
	}
	if err != nil {
		return err
	}
	return c.prompt(ctx, &s, prompt)
}

// questionsOf returns the questions of a call of questionTool, with their places as ids. Each takes another text as well (0.24.4).
func questionsOf(raw []byte) (list []adapters.Question) {
	var all []struct {
		Text    string            `json:"question"`
		Header  string            `json:"header"`
		Several bool              `json:"multiSelect"`
		Options []adapters.Option `json:"options"`
	}
	_ = json.Unmarshal(raw, &all) // another form can't be answered
	for i, q := range all {
		list = append(list, adapters.Question{ID: strconv.Itoa(i), Header: q.Header, Text: q.Text, Options: q.Options, Several: q.Several, FreeText: true})
	}
	return list
}
