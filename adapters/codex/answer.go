package codex

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"slices"
	"time"

	"rollcall/adapters"
	"rollcall/adapters/internal/agentfile"
	"rollcall/adapters/internal/kit"
)

const (
	// joinLimit is how long the daemon may take to repeat what a thread waits for.
	joinLimit = 3 * time.Second
	// settleLimit is how long the daemon may take to say that a request is decided, and how.
	settleLimit = 6 * time.Second
	// repeatLimit is how long a thread that waits may take to repeat its request, once it
	// was joined.
	repeatLimit = time.Second
)

// joined is a connection that follows a thread of the daemon.
type joined struct {
	*client
	socket   string
	rollout  string
	observer *client // shows what runs; nil: none
	thread   string
	asked    []asked            // the requests that wait, in the order in which the daemon repeated them
	raw      [][]byte           // the same requests as they were received
	resolved map[string]bool    // by the id of the request
	ended    map[string]itemEnd // by item
	running  map[string]bool    // items whose commands printed something, or have a process
	early    map[string]bool    // items whose commands began in the sandbox, before the answer
}

// Pending implements adapters.Answerer for threads of the shared daemon (0.169.0). The daemon
// repeats what a thread waits for to every client that joins the thread. Pending joins a thread
// only if it waits according to the daemon, and leaves it at once.
func (a *Adapter) Pending(ctx context.Context, s adapters.Session) ([]adapters.Request, error) {
	if s.Status != adapters.Waiting {
		return nil, nil
	}
	ctx, cancel := context.WithTimeout(ctx, joinLimit)
	defer cancel()
	j, err := a.join(ctx, s)
	if errors.Is(err, adapters.ErrNotPending) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer j.leave(ctx)
	return j.requests(ctx, s), nil
}

// join connects to the daemon of a session and joins its thread, if the thread waits for the user.
func (a *Adapter) join(ctx context.Context, s adapters.Session) (*joined, error) {
	if len(s.Files) == 0 {
		return nil, fmt.Errorf("%w: its rollout isn't known", adapters.ErrAnswerElsewhere)
	}
	socket := socketOf(s.Files[0])
	c, err := connect(ctx, socket, experimental)
	if err != nil {
		return nil, noDaemon(socket, err)
	}
	j := &joined{client: c, socket: socket, rollout: s.Files[0], thread: s.ID,
		resolved: map[string]bool{}, ended: map[string]itemEnd{}, running: map[string]bool{}, early: map[string]bool{}}
	if err := j.follow(ctx); err != nil {
		c.close()
		return nil, err
	}
	return j, nil
}

// noDaemon returns the error for a session whose daemon can't be reached: no daemon hosts the
// session, or the daemon's socket is not trusted.
func noDaemon(socket string, err error) error {
	if errors.Is(err, os.ErrNotExist) {
		return fmt.Errorf("%w: no Codex daemon hosts this session", adapters.ErrAnswerElsewhere)
	}
	return fmt.Errorf("%w: the Codex daemon at %s can't be asked: %w", adapters.ErrAnswerElsewhere, socket, err)
}

// follow joins the thread and collects the requests that the thread makes. A thread that the
// daemon has not loaded is not joined: joining would load it, in addition to the process that
// has it.
func (j *joined) follow(ctx context.Context) error {
	threads, err := j.list(ctx, []string{j.thread})
	if err != nil {
		return err
	}
	switch t := threads[j.thread]; {
	case t.Type == "" || t.Type == "notLoaded":
		return fmt.Errorf("%w: the Codex daemon does not host this session", adapters.ErrAnswerElsewhere)
	case !t.has("waitingOnApproval") && !t.has("waitingOnUserInput"):
		return adapters.ErrNotPending
	}
	j.other = j.note
	if _, err := j.call(ctx, "thread/resume", map[string]any{"threadId": j.thread, "excludeTurns": true}); err != nil {
		return err
	}
	limited, cancel := context.WithTimeout(ctx, repeatLimit)
	defer cancel()
	if err := j.await(limited, func() bool { return len(j.asked) > 0 || len(j.resolved) > 0 }); err != nil {
		return fmt.Errorf("%w: the Codex daemon reports that the session waits, but did not repeat the request: %w", adapters.ErrAnswerElsewhere, err)
	}
	return j.barrier(ctx) // the daemon sends all further requests before it answers this call
}

// barrier makes a call and waits for its answer. All messages that the daemon sent before that answer were read then.
func (j *joined) barrier(ctx context.Context) error {
	_, err := j.list(ctx, []string{j.thread})
	return err
}

// note records a message that the daemon sends to all clients that follow the thread.
func (j *joined) note(b []byte) {
	if a, ok := parseAsked(b); ok {
		if a.Params.Thread == j.thread {
			j.asked, j.raw = append(j.asked, a), append(j.raw, b)
		}
		return
	}
	var m struct {
		Method string `json:"method"`
		Params struct {
			Thread  string          `json:"threadId"`
			Request json.RawMessage `json:"requestId"`
			ItemID  string          `json:"itemId"`
			Item    struct {
				ID string `json:"id"`
				itemEnd
			} `json:"item"`
		} `json:"params"`
	}
	if json.Unmarshal(b, &m) != nil || m.Params.Thread != j.thread {
		return
	}
	switch m.Method {
	case "serverRequest/resolved":
		j.resolved[string(m.Params.Request)] = true
	case "item/completed":
		j.ended[m.Params.Item.ID] = m.Params.Item.itemEnd
	case "item/commandExecution/outputDelta":
		j.running[m.Params.ItemID] = true
	}
}

// requests returns the requests that still wait.
func (j *joined) requests(ctx context.Context, s adapters.Session) []adapters.Request {
	var out []adapters.Request
	for i := range j.asked {
		if !j.resolved[string(j.asked[i].ID)] {
			out = append(out, j.asked[i].request(j.raw[i], func(item string) string { return j.changes(ctx, item) },
				func(item string) string { return patchOf(ctx, s.Files[0], item) }))
		}
	}
	return out
}

// leave ends the subscription and the connection.
func (j *joined) leave(ctx context.Context) {
	if ctx.Err() == nil {
		limited, cancel := context.WithTimeout(ctx, time.Second)
		_, _ = j.call(limited, "thread/unsubscribe", map[string]any{"threadId": j.thread}) // the end of the connection does the same
		cancel()
	}
	j.close()
}

// Answer implements adapters.Answerer. The daemon reports that a request is resolved, but not
// by whose answer, and it ignores an answer to a request that is already resolved. Therefore
// the answer counts as accepted only if the item was then carried out or refused as decided. If
// the opposite happened, the answer of another client was first.
func (a *Adapter) Answer(ctx context.Context, s adapters.Session, shown adapters.Request, d adapters.Decision) (adapters.Result, error) {
	if err := d.Check(&shown); err != nil {
		return adapters.Result{}, err
	}
	j, err := a.join(ctx, s)
	if err != nil {
		return adapters.Result{}, err
	}
	defer j.leave(ctx)
	r, err := adapters.Match(j.requests(ctx, s), &shown)
	if err != nil {
		return adapters.Result{}, err
	}
	i := slices.IndexFunc(j.asked, func(a asked) bool { return a.name() == r.ID })
	return j.settle(ctx, &j.asked[i], d)
}

// settle answers a request and waits until the daemon says how it ended.
func (j *joined) settle(ctx context.Context, a *asked, d adapters.Decision) (adapters.Result, error) {
	result, err := a.result(d)
	if err != nil {
		return adapters.Result{}, err
	}
	id, item := string(a.ID), a.Params.Item
	if d.Verdict != adapters.Reply {
		j.observe(ctx, item)
		defer j.unobserve()
	}
	if j.resolved[id] {
		return adapters.Result{}, adapters.ErrNotPending
	}
	delete(j.ended, item)
	delete(j.running, item)
	if err := j.send(ctx, map[string]any{"id": a.ID, "result": result}); err != nil {
		return adapters.Result{}, fmt.Errorf("%w: the connection to the Codex daemon ended: %w", adapters.ErrUnconfirmed, err)
	}
	limited, cancel := context.WithTimeout(ctx, settleLimit)
	defer cancel()
	if err := j.await(limited, func() bool { return j.resolved[id] }); err != nil {
		return adapters.Result{}, fmt.Errorf("%w: the Codex daemon did not say within %s that request %s is resolved", adapters.ErrUnconfirmed, kit.Span(settleLimit), id)
	}
	if d.Verdict == adapters.Reply {
		return j.awaitReply(limited, a, d)
	}
	return j.awaitOutcome(limited, a).judge(a, d)
}

// patchOf returns the patch of a call in a rollout. It returns "" if the call has no patch, or
// if the rollout can't be read.
func patchOf(ctx context.Context, rollout, call string) string {
	patch := ""
	recordsOf(ctx, rollout, call, func(kind string, payload []byte) bool {
		switch kind {
		case "custom_tool_call":
			patch = agentfile.String(agentfile.Get(payload, "input"))
			return true
		case "function_call", "local_shell_call":
			patch = string(agentfile.Text(agentfile.Get(payload, "arguments")))
			patch = cmp.Or(patch, string(agentfile.Get(payload, "action")))
			return true
		}
		return false
	})
	return patch
}

// recordsOf calls found with the records of a call in a rollout, the last one first, until it
// returns true. The call of an open turn is near the end.
func recordsOf(ctx context.Context, rollout, call string, found func(kind string, payload []byte) bool) {
	left := 200 // lines
	if compressed(rollout) {
		return
	}
	_ = agentfile.LastLines(ctx, rollout, func(line []byte) bool { // a rollout that can't be read has no such record
		left--
		payload := agentfile.Get(line, "payload")
		done := agentfile.String(agentfile.Get(payload, "call_id")) == call && found(string(agentfile.Text(agentfile.Get(payload, "type"))), payload)
		return !done && left > 0
	})
}

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
			"threadId": s.ID, "clientUserMessageId": kit.New(), "input": input(prompt)})
		return err
	})
}

func input(prompt string) []map[string]string {
	return []map[string]string{{"type": "text", "text": prompt}}
}

// prompt connects to the daemon that has the thread loaded and calls give. busy reports
// whether a turn is open.
func (a *Adapter) prompt(ctx context.Context, s adapters.Session, capabilities map[string]any, give func(c *client, busy bool) error) error {
	how := "type it " + s.Where() + ", or resume it once it has stopped"
	if len(s.Files) == 0 {
		return fmt.Errorf("it has no rollout yet; %s", how)
	}
	socket := socketOf(s.Files[0])
	c, err := connect(ctx, socket, capabilities)
	if err != nil {
		return fmt.Errorf("no Codex daemon at %s takes a prompt: %w; %s", socket, err, how)
	}
	defer c.close()
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
