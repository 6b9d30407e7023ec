package answer

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"rollcall/adapters"
	"rollcall/app"
	"rollcall/app/present"
	"rollcall/bounded"
)

// ErrNoPrompts reports that a session takes no prompts from outside.
var ErrNoPrompts = errors.New("takes no prompts from here")

// ErrNoInterrupt reports that the turn of a session can't be interrupted from outside.
var ErrNoInterrupt = errors.New("can't be interrupted from here")

// maxPrompt bounds a prompt, in bytes.
const maxPrompt = 4 << 20

// TakesPrompts reports whether Send reaches s: what Rollcall launched as answerable takes prompts even where its agent's adapter sends none. Only the attempt
// shows whether a prompt is accepted. It reads nothing.
func (a *Answers) TakesPrompts(s *app.Session) bool {
	_, ok := a.agent(s).(adapters.Prompter)
	return ok && !s.IsProcess()
}

// TakesInterrupts reports whether Interrupt reaches s. Only the attempt shows whether it is possible. It reads nothing.
func (a *Answers) TakesInterrupts(s *app.Session) bool {
	_, ok := a.agent(s).(adapters.Stopper)
	return ok
}

// CanPrompt reports whether a surface offers to send s a prompt now. Only the attempt shows whether the agent accepts it.
func (a *Answers) CanPrompt(s *app.Session) bool {
	return a.TakesPrompts(s) && s.Live() && s.Machine == "" && s.Stale == nil && !s.Suspended
}

// WhyNoPrompt returns why s takes no prompts from here, in words; empty: it takes them.
func (a *Answers) WhyNoPrompt(s *app.Session) string {
	switch {
	case a.CanPrompt(s):
		return ""
	case !s.Live():
		return "The session has stopped. Resume it to go on."
	case s.Suspended:
		return "Its process is paused, so it takes no prompts now."
	case s.Machine != "":
		return "It takes prompts on " + present.Cut(present.Short(s.Machine), 40) + " only."
	case s.IsProcess():
		return "A session begins with the first prompt that is given there."
	}
	return present.AgentName(s.Agent) + " takes prompts only " + present.Where(&s.Owner) + " here."
}

// CanInterrupt reports whether a surface offers to interrupt s now. Only the attempt shows whether it is possible.
func (a *Answers) CanInterrupt(s *app.Session) bool {
	return a.TakesInterrupts(s) && s.InTurn() && s.Machine == "" && s.Stale == nil && !s.Suspended
}

// Send gives an idle session a prompt. With queue, a session that works gets the prompt after its turn; without queue, Send
// returns adapters.ErrBusy for such a session. Send returns once the agent has the prompt.
func (a *Answers) Send(ctx context.Context, agent adapters.Name, session, prompt string, queue bool) error {
	switch {
	case strings.TrimSpace(prompt) == "":
		return errors.New("the prompt is empty")
	case len(prompt) > maxPrompt:
		return errors.New("the prompt is larger than 4 MB")
	}
	s, err := a.core.Current(ctx, agent, session)
	if err != nil {
		return err
	}
	prompter, ok := a.agent(&s).(adapters.Prompter)
	if (!ok || s.IsProcess()) && s.Live() {
		return fmt.Errorf("%w: type it %s, or resume the session once it has stopped", ErrNoPrompts, There(&s))
	}
	if err := ready(&s, queue); err != nil {
		return err
	}
	limited, cancel := context.WithTimeout(ctx, answerLimit)
	defer cancel()
	defer a.core.RequestAgentRefresh(agent)
	if queue {
		return prompter.Queue(limited, s.Session, prompt)
	}
	return prompter.Send(limited, s.Session, prompt)
}

// ready returns why a session can't take a prompt now; nil if it can.
func ready(s *app.Session, queue bool) error {
	switch {
	case s.Status == adapters.Stopped:
		return fmt.Errorf("%w: it has stopped; resume it with: rollcall resume %s", ErrNoPrompts, s.ID)
	case s.Stale != nil:
		return fmt.Errorf("%w: its last known status is old: %s", app.ErrNoAnswer, s.Stale.Reason)
	case s.Suspended:
		return fmt.Errorf("%w: its process is suspended; continue it first", ErrNoPrompts)
	case queue || s.Status == adapters.Idle:
		return nil
	case s.Status == adapters.Waiting:
		return fmt.Errorf("%w: it waits for an answer: answer it first (rollcall pending), or use --queue to send the prompt after its turn", adapters.ErrBusy)
	}
	return fmt.Errorf("%w: use --queue to send the prompt after its turn", adapters.ErrBusy)
}

// Interrupt ends the open turn of a session; the session stays. No process is signalled. It returns once the session shows that its turn is over.
// ErrNoInterrupt: nothing was done, also because no turn is open. adapters.ErrUnconfirmed: the agent was told, and the turn goes on.
func (a *Answers) Interrupt(ctx context.Context, agent adapters.Name, session string) error {
	s, err := a.core.Current(ctx, agent, session)
	if err != nil {
		return err
	}
	if err := interruptible(&s); err != nil {
		return err
	}
	stopper, ok := a.agent(&s).(adapters.Stopper)
	if !ok {
		return fmt.Errorf("%w: press Esc %s", ErrNoInterrupt, There(&s))
	}
	limited, cancel := context.WithTimeout(ctx, answerLimit)
	defer cancel()
	defer a.core.RequestAgentRefresh(agent)
	a.acting(s.ID)
	if err := stopper.Stop(limited, s.Session); err != nil {
		return fmt.Errorf("%w: %w", ErrNoInterrupt, err)
	}
	if any(stopper) != any(a.core.Adapter(s.Agent)) {
		return nil // Rollcall holds the session's input, and has read the agent's reply
	}
	return a.confirmEnd(ctx, s)
}

// interruptible returns why the turn of a session can't be ended now; nil if it may be possible.
func interruptible(s *app.Session) error {
	switch {
	case s.Status == adapters.Stopped:
		return fmt.Errorf("%w: it has stopped", ErrNoInterrupt)
	case s.Stale != nil:
		return fmt.Errorf("%w: its last known status is old: %s", app.ErrNoAnswer, s.Stale.Reason)
	case s.Suspended:
		return fmt.Errorf("%w: its process is suspended; continue it first", ErrNoInterrupt)
	case s.Status == adapters.Idle:
		return fmt.Errorf("%w: no turn is open", ErrNoInterrupt)
	}
	return nil
}

// interruptLimit is how long an agent may take to show that an interrupted turn is over.
const interruptLimit = 5 * time.Second

// confirmEnd waits until the turn of a session that was told to end it is over.
func (a *Answers) confirmEnd(ctx context.Context, s app.Session) error {
	limited, cancel := context.WithTimeout(ctx, interruptLimit)
	defer cancel()
	for {
		now, err := a.core.Current(limited, s.Agent, s.ID)
		if errors.Is(err, app.ErrNoSession) {
			return nil // it ended with its turn
		}
		if err == nil && (now.Status == adapters.Idle || now.Status == adapters.Stopped || now.TurnStartedAt.After(s.TurnStartedAt)) {
			return nil
		}
		if err := bounded.Wait(limited, confirmPause); err != nil {
			break
		}
	}
	if ctx.Err() != nil {
		return ctx.Err()
	}
	return fmt.Errorf("%w: its agent was told to end the turn, and does not show after %s that it has; check the session %s",
		adapters.ErrUnconfirmed, present.Age(interruptLimit), There(&s))
}
