package claudecode

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"rollcall/adapters"
	"rollcall/adapters/internal/agentfile"
	"rollcall/adapters/internal/kit"
	"rollcall/adapters/internal/pane"
	"rollcall/bounded"
)

// permissionPrompt is a permission prompt of Claude Code in a pane of tmux or kitty.
type permissionPrompt struct {
	pane    pane.Pane
	screen  []string
	dialog  *pane.Dialog
	command string // that it asks to run; empty: another call
	request adapters.Request
}

// Pending implements adapters.Answerer for permission prompts in a pane of tmux or kitty. Claude Code
// itself takes no answers from outside (2.1.330). The request is the call that the transcript
// leaves open and the screen shows whole. What can't be answered from here is returned with the error, if the transcript has
// the call: a question with its options, a plan, another call.
func (a *Adapter) Pending(ctx context.Context, s adapters.Session) ([]adapters.Request, error) {
	switch {
	case s.Status == adapters.Unknown && floor.IsOlder(s.Version) && !s.Process.IsZero():
		return nil, fmt.Errorf("%w: it may wait for you: this version does not record it", adapters.ErrAnswerElsewhere)
	case s.Status != adapters.Waiting:
		return nil, nil
	case s.Parent != "":
		return nil, whereMateAsks(s.Parent)
	}
	p, err := a.readPrompt(ctx, s)
	if err == nil {
		return []adapters.Request{p.request}, nil
	}
	if errors.Is(err, adapters.ErrNotPending) || p != nil && a.Now().Sub(p.request.AskedAt) < drawTime {
		return nil, err
	}
	return a.shownElsewhere(ctx, s), err
}

// drawTime is how long Claude Code may take to draw a prompt after its registry entry says that it waits: until then the prompt may
// turn out to be one that can be answered.
const drawTime = 2 * time.Second

// shownElsewhere returns the request that a session shows in its terminal, for the user to read, if its transcript has exactly
// one call without a result.
func (a *Adapter) shownElsewhere(ctx context.Context, s adapters.Session) []adapters.Request {
	if len(s.Files) == 0 || filepath.Ext(s.Files[0]) != ".jsonl" {
		return nil
	}
	calls, err := openCallsOf(ctx, s.Files[0])
	if err != nil || len(calls) != 1 {
		return nil
	}
	r := adapters.Request{Agent: Name, Session: s.ID, ID: calls[0].id, Folder: s.CWD, Where: "its terminal"}
	calls[0].ask(&r)
	return []adapters.Request{r}
}

// ask sets in r what a call asks for: its whole text, and its questions, which only its terminal answers.
func (c *openCall) ask(r *adapters.Request) {
	asked := controlRequest{ID: c.id}
	asked.Request.Tool, asked.Request.Input = c.name, json.RawMessage(c.input)
	whole := asked.request()
	r.Kind = whole.Kind
	r.Text = whole.Text
	r.Questions = whole.Questions
	r.OnlyRead = r.Questions != nil
}

// Answer implements adapters.Answerer: the terminal presses the number of the option, if the
// pane still shows the same prompt, in the same step. Enter is never pressed: a number that
// comes too late is left in the input box. The record of the call shows whether the key had an
// effect.
func (a *Adapter) Answer(ctx context.Context, s adapters.Session, shown adapters.Request, d adapters.Decision) (adapters.Result, error) {
	if err := d.Check(&shown); err != nil {
		return adapters.Result{}, err
	}
	p, err := a.readPrompt(ctx, s)
	if err != nil {
		return adapters.Result{}, err
	}
	if _, err := adapters.Match([]adapters.Request{p.request}, &shown); err != nil {
		return adapters.Result{}, err
	}
	number, ok := p.dialog.Choice(allows)
	if d.Verdict == adapters.Deny {
		number, ok = p.dialog.Choice(denies)
	}
	if !ok {
		return adapters.Result{}, adapters.ErrNoSuchAnswer
	}
	if err := bounded.Wait(ctx, time.Until(p.request.AskedAt.Add(deafTime))); err != nil {
		return adapters.Result{}, err
	}
	before := a.descendants(ctx, s.Process)
	if err := pane.Give(ctx, p.pane, strconv.Itoa(number), shown.Key(), p.screen, p.dialog.Rows); err != nil {
		return adapters.Result{}, err
	}
	if err := a.confirm(ctx, s, p, d.Verdict, before); err != nil {
		return adapters.Result{}, fmt.Errorf("%w: %s was given the key %d, and %w (%s)", adapters.ErrUnconfirmed, p.pane.Name(), number, err, place(&s))
	}
	return adapters.Result{Evidence: fmt.Sprintf("%s was given the key %d", p.pane.Name(), number)}, nil
}

func place(s *adapters.Session) string { return fmt.Sprintf("process %d, in %s", s.Process.PID, s.CWD) }

// deafTime is how long Claude Code ignores keys after a prompt has appeared, so that no one
// answers the prompt by accident (2.1.329).
const deafTime = time.Second

// allows reports whether an option allows once and nothing more. The numbers differ between
// versions, and so do the options that allow more.
func allows(option string) bool { return option == "Yes" }

// denies reports whether an option denies.
func denies(option string) bool {
	return option == "No" || strings.HasPrefix(option, "No, and tell Claude")
}

// readPrompt reads the registry, the pane and the transcript of a session that waits. With an error, p is not nil if the session
// is in a pane.
func (a *Adapter) readPrompt(ctx context.Context, s adapters.Session) (*permissionPrompt, error) {
	if s.Process.IsZero() || s.Suspended {
		return nil, fmt.Errorf("%w: no process runs this session", adapters.ErrAnswerElsewhere)
	}
	e, err := a.waitingEntry(ctx, s)
	if err != nil {
		return nil, err
	}
	shown, err := pane.Find(ctx, a.Table, s.Process)
	if err != nil {
		return nil, fmt.Errorf("%w: Claude Code takes no answers from outside, and %w", adapters.ErrAnswerElsewhere, err)
	}
	p := &permissionPrompt{pane: shown}
	p.request.AskedAt = e.since
	p.screen, err = shown.Screen(ctx)
	if err != nil {
		return p, fmt.Errorf("%w: %w", adapters.ErrAnswerElsewhere, err)
	}
	var ok bool
	p.dialog, ok = pane.FindDialog(p.screen)
	if !ok {
		return p, fmt.Errorf("%w: %s does not show the whole prompt", adapters.ErrAnswerElsewhere, shown.Name())
	}
	calls, err := openCallsOfAll(ctx, s.Files[0])
	if err != nil {
		return p, fmt.Errorf("%w: %w", adapters.ErrAnswerElsewhere, adapters.AsProblem(s.Files[0], err))
	}
	p.request = adapters.Request{Agent: Name, Session: s.ID, Folder: e.cwd, AskedAt: e.since, Where: shown.Name(), Options: p.dialog.Options}
	_, p.request.CanAllow = p.dialog.Choice(allows)
	_, p.request.CanDeny = p.dialog.Choice(denies)
	return p, p.describe(calls, e)
}

// waitingEntry returns the registry's entry of a session that waits for a permission. Before
// about 2.1.151 an entry does not record since when the session waits, so that successive
// prompts can't be distinguished.
func (a *Adapter) waitingEntry(ctx context.Context, s adapters.Session) (entry, error) {
	path, pid := entryOf(&s)
	if path == "" {
		return entry{}, fmt.Errorf("%w: its registry entry isn't known", adapters.ErrAnswerElsewhere)
	}
	e, err := readEntry(ctx, path, pid, time.Now().Add(entryWait))
	switch {
	case err != nil:
		return entry{}, fmt.Errorf("%w: %w", adapters.ErrAnswerElsewhere, adapters.AsProblem(path, err))
	case e.id != s.ID || e.status != "waiting":
		return entry{}, adapters.ErrNotPending
	case !e.dated:
		return entry{}, fmt.Errorf("%w: this version of Claude Code does not record since when the session waits", adapters.ErrAnswerElsewhere)
	case e.waitingFor != "permission prompt":
		return entry{}, fmt.Errorf("%w: %s", adapters.ErrAnswerElsewhere, waitsFor(e.waitingFor))
	}
	return e, nil
}

// waitsFor returns what a registry entry waits for, in words.
func waitsFor(what string) string {
	if what == "input needed" {
		return "it asks you something"
	}
	return "it waits for " + shorten(what)
}

// openCall is a call that the transcript has no result of.
type openCall struct {
	id, name, input      string // input as JSON
	inner                bool   // of a sub-agent
	raw                  []byte // the call as it was recorded
	command, description string // of bashTool
}

// bashTool is the name of the tool that runs commands.
const (
	bashTool = "Bash"
	// bashTitle begins the title of a prompt for a command (2.1.100 to 2.1.330).
	bashTitle = "Bash command"
)

// fileTools are the names of the tools that change files.
var fileTools = []string{"Edit", "MultiEdit", "Write", "NotebookEdit"}

// describe fills in the request from the call that the prompt is about. Only a command that the
// prompt shows exactly can be allowed: the transcript may lag behind the screen, so that the
// prompt could mean another call. If another open call, also one of a sub-agent, differs only in white space, the prompt may be its own, and can only be denied.
func (p *permissionPrompt) describe(calls []openCall, e entry) error {
	call, alike := -1, 0
	if strings.HasPrefix(p.dialog.Title, bashTitle) {
		call = slices.IndexFunc(calls, func(c openCall) bool {
			return c.name == bashTool && !c.inner && p.dialog.ShowsExactly(c.command, c.description)
		})
	}
	own := slices.DeleteFunc(slices.Clone(calls), func(c openCall) bool { return c.inner })
	switch {
	case call >= 0:
		p.command = calls[call].command
		calls[call].ask(&p.request) // with the arguments that the prompt does not show
		for _, c := range calls {
			if pane.Squeezed(c.command) == pane.Squeezed(p.command) || p.dialog.ShowsExactly(c.command, c.description) {
				alike++
			}
		}
		p.request.CanAllow = p.request.CanAllow && alike == 1
	case len(own) != 1 || own[0].name == bashTool:
		return fmt.Errorf("%w: %s does not show a command that its transcript has", adapters.ErrAnswerElsewhere, p.pane.Name())
	default:
		call, p.request.CanAllow = slices.IndexFunc(calls, func(c openCall) bool { return c.id == own[0].id }), false
		own[0].ask(&p.request)
	}
	// The id differs for every prompt, even for the same command, since each prompt has its own call and its own time.
	p.request.ID = fmt.Sprintf("%s@%d", calls[call].id, e.since.UnixMilli())
	if calls[call].raw != nil {
		callMembers.Check(&p.request, "", calls[call].raw)
	}
	return nil
}

// openCallsOfAll returns the open calls of a session and of its sub-agents, which have transcripts of their own in the folder of the session.
func openCallsOfAll(ctx context.Context, transcript string) ([]openCall, error) {
	calls, err := openCallsOf(ctx, transcript)
	if err != nil {
		return nil, err
	}
	folder := filepath.Join(strings.TrimSuffix(transcript, ".jsonl"), "subagents")
	files, _ := fs.Glob(os.DirFS(folder), "*.jsonl")
	for _, f := range files {
		inner, err := openCallsOf(ctx, filepath.Join(folder, f))
		if err != nil {
			return nil, err
		}
		for _, c := range inner {
			c.inner = true
			calls = append(calls, c)
		}
	}
	return calls, nil
}

// openCallsOf returns the last calls that the transcript has no result of.
func openCallsOf(ctx context.Context, transcript string) ([]openCall, error) {
	left := 300 // lines
	var calls []openCall
	over := map[string]bool{}
	err := agentfile.LastLines(ctx, transcript, func(line []byte) bool {
		left--
		inner := agentfile.True(agentfile.Get(line, "isSidechain"))
		kit.Each(agentfile.Get(line, "message", "content"), func(block []byte) {
			switch string(agentfile.Text(agentfile.Get(block, "type"))) {
			case "tool_result":
				over[agentfile.String(agentfile.Get(block, "tool_use_id"))] = true
			case "tool_use":
				input := agentfile.Get(block, "input")
				c := openCall{inner: inner, id: agentfile.String(agentfile.Get(block, "id")), name: agentfile.String(agentfile.Get(block, "name")), input: string(input),
					command: agentfile.String(agentfile.Get(input, "command")), description: agentfile.String(agentfile.Get(input, "description"))}
				if !over[c.id] {
					c.raw = slices.Clone(block)
					calls = append(calls, c)
				}
			}
		})
		return left > 0
	})
	slices.Reverse(calls)
	return calls, err
}
