package pane

import (
	"context"
	"errors"
	"fmt"
	"time"

	"rollcall/adapters"
	"rollcall/bounded"
	"rollcall/proc"
)

// Shown is a request that the pane of an agent shows exactly as the agent's records have it.
type Shown struct {
	pane   Pane
	screen []string
	prompt *Prompt
}

// Read returns what the pane of a process shows, if it is a request with exactly these parts. It sets in r what the pane offers: its options, and whether
// they allow once and deny. An error wraps adapters.ErrAnswerElsewhere.
func (s *Style) Read(ctx context.Context, table proc.Lister, id proc.Identity, r *adapters.Request, parts ...Part) (*Shown, error) {
	p, err := Find(ctx, table, id)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", adapters.ErrAnswerElsewhere, err)
	}
	screen, err := p.Screen(ctx)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", adapters.ErrAnswerElsewhere, err)
	}
	prompt, ok := s.Find(screen)
	if !ok || !prompt.Shows(parts...) {
		return nil, fmt.Errorf("%w: %s does not show exactly this request", adapters.ErrAnswerElsewhere, p.Name())
	}
	r.Where, r.Options = p.Name(), prompt.Options
	r.CanAllow = r.CanAllow && prompt.key(s.Allow) != ""
	r.CanDeny = prompt.key(s.Deny) != ""
	return &Shown{p, screen, prompt}, nil
}

// Decided is what an agent's records say of a request.
type Decided uint8

// What became of a request. Open also stands for what the records do not show yet.
const (
	Open Decided = iota
	Allowed
	Denied
)

const (
	decideTime = 4 * time.Second // in which an agent acts on a key and records it
	decideTick = 20 * time.Millisecond
)

// Decide presses the key of a verdict on r, if the pane still shows the request, and returns once decided, which reads the agent's records, has the decision.
func (s *Shown) Decide(ctx context.Context, r *adapters.Request, v adapters.Verdict, decided func() Decided) (none adapters.Result, err error) {
	want, label := Allowed, s.prompt.style.Allow
	if v == adapters.Deny {
		want, label = Denied, s.prompt.style.Deny
	}
	key := s.prompt.key(label)
	switch {
	case key == "":
		return none, adapters.ErrNoSuchAnswer
	case decided() != Open: // before the screen was read: what it shows is another request
		return none, adapters.ErrNotPending
	}
	if err := Give(ctx, s.pane, key, r.Key(), s.screen, s.prompt.Rows); err != nil {
		return none, err
	}
	given := fmt.Sprintf("%s was given the key %s", s.pane.Name(), key)
	for end := time.Now().Add(decideTime); time.Now().Before(end); {
		switch d := decided(); {
		case d == want:
			return adapters.Result{Confirmed: true, Evidence: given}, nil
		case d != Open:
			return none, fmt.Errorf("%w: %s, and the request was answered otherwise in its terminal at the same moment", adapters.ErrUnconfirmed, given)
		}
		if err := bounded.Wait(ctx, decideTick); err != nil {
			return none, fmt.Errorf("%w: %s: %w", adapters.ErrUnconfirmed, given, err)
		}
	}
	return none, fmt.Errorf("%w: %s, and the agent's records do not show a decision; look at the session there", adapters.ErrUnconfirmed, given)
}

// Give presses a key as Pane.Press does. Its errors are those of adapters.Answerer.
func Give(ctx context.Context, p Pane, key, name string, screen []string, rows []int) error {
	err := p.Press(ctx, key, name, screen, rows)
	switch {
	case errors.Is(err, ErrRefused):
		return fmt.Errorf("%w: %w", adapters.ErrRequestChanged, err)
	case errors.Is(err, ErrNoPane):
		return fmt.Errorf("%w: %w", adapters.ErrAnswerElsewhere, err)
	case err != nil:
		return fmt.Errorf("%w: %w", adapters.ErrUnconfirmed, err)
	}
	return nil
}
