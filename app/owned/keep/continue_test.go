package keep

import (
	"context"
	"errors"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"time"

	"rollcall/adapters"
	"rollcall/app"
	"rollcall/app/owned/fuse"
	"rollcall/internal/agentname"
	"rollcall/proc"
)

// prompted is an agent with one session that is open and at its limit.
type prompted struct {
	mu      sync.Mutex
	session adapters.Session
	prompts []string
}

func (p *prompted) Name() adapters.Name { return agentname.Codex }

func (p *prompted) Discover(context.Context, adapters.Query) (adapters.Roll, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return adapters.Roll{Sessions: []adapters.Session{p.session}}, nil
}

func (p *prompted) Send(_ context.Context, _ adapters.Session, prompt string) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.session.Status == adapters.Working {
		return adapters.ErrBusy
	}
	p.begin()
	p.prompts = append(p.prompts, prompt)
	return nil
}

func (p *prompted) Queue(context.Context, adapters.Session, string) error {
	return errors.New("queued")
}

func (p *prompted) begin() {
	p.session.Status = adapters.Working
	p.session.Outcome = ""
	p.session.Limited = false
	p.session.LastActivityAt = time.Now()
}

// atLimit ends the turn at a limit.
func (p *prompted) atLimit() {
	p.session.Status = adapters.Idle
	p.session.Outcome = adapters.Failed
	p.session.Limited = true
}

func newPrompted() *prompted {
	p := &prompted{session: adapters.Session{
		ID: "s1", Agent: agentname.Codex,
		State: adapters.State{Evidence: "seen"},
		Place: adapters.Place{CWD: "/"},
		Times: adapters.Times{LastActivityAt: time.Now().Add(-time.Hour)},
	}}
	p.atLimit()
	return p
}

func (p *prompted) keeper() *keeper {
	return &keeper{Config: Config{Log: slog.New(slog.DiscardHandler)}, core: app.New(app.Config{Adapters: []adapters.Adapter{p}, Table: proc.Open()})}
}

// TestContinueSession: a session gets the prompt unless it was used since, in any way.
func TestContinueSession(t *testing.T) {
	for name, c := range map[string]struct {
		change func(p *prompted)
		want   string // of the error; empty: none
	}{
		"as it was":              {func(*prompted) {}, ""},
		"works":                  {func(p *prompted) { p.begin() }, "it was used since"},
		"used, at a limit again": {func(p *prompted) { p.begin(); p.atLimit() }, "it was used since"},
		"waits":                  {func(p *prompted) { p.session.Status = adapters.Waiting }, "it is waiting"},
		"unknown":                {func(p *prompted) { p.session.Status = adapters.Unknown }, "it is unknown"},
		"not at a limit":         {func(p *prompted) { p.session.Limited = false }, "did not end at a limit"},
		"elsewhere":              {func(p *prompted) { p.session.Remote = "gw" }, "does not run on this machine"},
		"gone":                   {func(p *prompted) { p.session.ID = "s2" }, "no such session"},
	} {
		p := newPrompted()
		active := p.session.LastActivityAt
		c.change(p)
		_, err := p.keeper().continueSession(t.Context(), fuse.Continue{Agent: agentname.Codex, Session: "s1", Prompt: "go on", Active: active})
		if c.want == "" && (err != nil || len(p.prompts) != 1) || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want) || len(p.prompts) > 0) {
			t.Errorf("%s: %v, %d prompts", name, err, len(p.prompts))
		}
	}
}

// TestContinueByHandAtThatMoment: the user's prompt and the keeper's never begin two turns.
func TestContinueByHandAtThatMoment(t *testing.T) {
	for i := range 200 {
		p := newPrompted()
		k, active := p.keeper(), p.session.LastActivityAt
		byHand := false
		var both sync.WaitGroup
		both.Go(func() {
			time.Sleep(time.Duration(i) * 5 * time.Microsecond) // the race that is tested
			p.mu.Lock()
			defer p.mu.Unlock()
			if p.session.Status == adapters.Idle {
				p.begin()
				byHand = true
			}
		})
		_, err := k.continueSession(t.Context(), fuse.Continue{Agent: agentname.Codex, Session: "s1", Prompt: "go on", Active: active})
		both.Wait()
		if byHand == (err == nil) || len(p.prompts) > 1 || byHand && len(p.prompts) > 0 {
			t.Errorf("%d: by hand %v, %v, %d prompts", i, byHand, err, len(p.prompts))
		}
	}
}
