package codex

import (
	"context"
	"fmt"

	"rollcall/adapters"
	"rollcall/adapters/internal/uuid"
)

// Send implements adapters.Prompter for threads of the shared daemon, by turn/start (0.169.0).
func (a *Adapter) Send(ctx context.Context, s adapters.Session, prompt string) error {
	return a.prompt(ctx, s, nil, func(c *client, busy bool) error {
		if busy {
			return adapters.ErrBusy
		}
		_, err := c.call(ctx, "turn/start", map[string]any{"threadId": s.ID, "input": input(prompt)})
		return err
	})
}

// Queue implements adapters.Prompter, by thread/queue/add, which `codex queue` uses (0.169.0).
func (a *Adapter) Queue(ctx context.Context, s adapters.Session, prompt string) error {
	return a.prompt(ctx, s, experimental, func(c *client, _ bool) error {
		_, err := c.call(ctx, "thread/queue/add", map[string]any{
			"threadId": s.ID, "clientUserMessageId": uuid.New(), "input": input(prompt)})
		return err
	})
}

func input(prompt string) []map[string]string {
	return []map[string]string{{"type": "text", "text": prompt}}
}

// prompt connects to the daemon that has the thread loaded and calls give. busy reports
// whether a turn is open.
func (a *Adapter) prompt(ctx context.Context, s adapters.Session, capabilities map[string]any, give func(c *client, busy bool) error) error {
	const how = "type it in its terminal, or resume it once it has stopped"
	if len(s.Files) == 0 {
		return fmt.Errorf("it has no rollout yet; %s", how)
	}
	socket := socketOf(s.Files[0])
	c, err := connect(ctx, socket, capabilities)
	if err != nil {
		return fmt.Errorf("no Codex daemon at %s takes a prompt: %w; %s", socket, err, how)
	}
	defer func() { _ = c.conn.CloseNow() }()
	threads, err := c.list(ctx, []string{s.ID})
	if err != nil {
		return err
	}
	t := threads[s.ID]
	if t.Type != "idle" && t.Type != "active" {
		return fmt.Errorf("the Codex daemon at %s does not have this thread open; %s", socket, how)
	}
	return give(c, t.Type == "active")
}
