package claudecode

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"rollcall/adapters"
	"rollcall/adapters/internal/agentfile"
	"rollcall/adapters/internal/busy"
	"rollcall/adapters/internal/jsonl"
	"rollcall/adapters/internal/pane"
)

// permissionPrompt is a permission prompt of Claude Code in a pane of tmux or kitty.
type permissionPrompt struct {
	pane    pane.Pane
	screen  []string
	dialog  *pane.Dialog
	request adapters.Request
}

// Pending implements adapters.Answerer for permission prompts in a pane of tmux or kitty. Claude Code
// itself takes no answers from outside (2.1.330). The request is the call that the transcript
// leaves open and the screen shows whole.
func (a *Adapter) Pending(ctx context.Context, s adapters.Session) ([]adapters.Request, error) {
	if s.Status != adapters.Waiting {
		return nil, nil
	}
	p, err := a.readPrompt(ctx, s)
	if err != nil {
		return nil, err
	}
	return []adapters.Request{p.request}, nil
}

// Answer implements adapters.Answerer: the terminal presses the number of the option, if the
// pane still shows the same prompt, in the same step. Enter is never pressed: a number that
// comes too late is left in the input box. Only the registry shows whether the key had an
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
	if err := busy.Wait(ctx, time.Until(p.request.AskedAt.Add(deafTime))); err != nil {
		return adapters.Result{}, err
	}
	err = p.pane.Press(ctx, strconv.Itoa(number), shown.Key(), p.screen, p.dialog.Rows)
	switch {
	case errors.Is(err, pane.ErrRefused):
		return adapters.Result{}, fmt.Errorf("%w: %w", adapters.ErrRequestChanged, err)
	case errors.Is(err, pane.ErrNoPane):
		return adapters.Result{}, fmt.Errorf("%w: %w", adapters.ErrAnswerElsewhere, err)
	case err != nil:
		return adapters.Result{}, fmt.Errorf("%w: %w", adapters.ErrUnconfirmed, err)
	}
	if !a.tookKey(ctx, s, p) {
		// A second key could reach the next prompt, if Claude Code reads both later.
		return adapters.Result{}, fmt.Errorf("%w: %s was given the key %d, and Claude Code still waits; answer the request there",
			adapters.ErrUnconfirmed, p.pane.Name(), number)
	}
	if d.Verdict == adapters.AllowOnce && !a.goesOn(ctx, s, p) {
		return adapters.Result{}, fmt.Errorf("%w: the turn ended, so the request may have been denied in its terminal at the same moment; look at the session there (%s)",
			adapters.ErrUnconfirmed, p.pane.Name())
	}
	return adapters.Result{Evidence: fmt.Sprintf("%s was given the key %d", p.pane.Name(), number)}, nil
}

// goesOn reports whether the turn continues after a call was allowed, or the call has a result
// that is not an error. A call that was denied ends the turn.
func (a *Adapter) goesOn(ctx context.Context, s adapters.Session, p *permissionPrompt) bool {
	if busy.Wait(ctx, settleTime) != nil {
		return false
	}
	roll, err := a.Discover(ctx, adapters.Query{IDs: []string{s.ID}})
	if err != nil || len(roll.Sessions) != 1 {
		return false
	}
	if now := roll.Sessions[0]; now.Status == adapters.Working || now.Status == adapters.Waiting {
		return true
	}
	id, _, _ := strings.Cut(p.request.ID, "@")
	return succeeded(s.Files[0], id)
}

// succeeded reports whether the end of a transcript has a result of a call that is not an error.
func succeeded(transcript, call string) bool {
	f, info, err := agentfile.OpenRegular(transcript)
	if err != nil {
		return false
	}
	defer f.Close()
	from := max(info.Size()-searchedEnd, 0)
	data, err := io.ReadAll(io.NewSectionReader(f, from, info.Size()-from))
	if err != nil {
		return false
	}
	for line := range strings.Lines(string(data)) {
		if strings.Contains(line, `"tool_result"`) && strings.Contains(line, call) {
			return !strings.Contains(line, `"is_error":true`)
		}
	}
	return false
}

const (
	// settleTime is the time within which a turn ends after one of its calls was denied.
	settleTime = 200 * time.Millisecond
	// searchedEnd is how much of a transcript is searched for a result, in bytes from its end.
	searchedEnd = 1 << 20
	// deafTime is how long Claude Code ignores keys after a prompt has appeared, so that no one
	// answers the prompt by accident (2.1.329).
	deafTime = time.Second
	// keyTime is how long Claude Code may take to act on a key.
	keyTime = 1500 * time.Millisecond
	keyTick = 20 * time.Millisecond
)

// tookKey reports whether the session stops waiting for the request soon.
func (a *Adapter) tookKey(ctx context.Context, s adapters.Session, p *permissionPrompt) bool {
	for end := time.Now().Add(keyTime); time.Now().Before(end); {
		e, err := a.waitingEntry(ctx, s)
		if errors.Is(err, adapters.ErrNotPending) || err == nil && !e.since.Equal(p.request.AskedAt) {
			return true
		}
		if busy.Wait(ctx, keyTick) != nil {
			return false
		}
	}
	return false
}

// allows reports whether an option allows once and nothing more. The numbers differ between
// versions, and so do the options that allow more.
func allows(option string) bool { return option == "Yes" }

// denies reports whether an option denies.
func denies(option string) bool {
	return option == "No" || strings.HasPrefix(option, "No, and tell Claude")
}

// readPrompt reads the registry, the pane and the transcript of a session that waits.
func (a *Adapter) readPrompt(ctx context.Context, s adapters.Session) (*permissionPrompt, error) {
	if s.Process.IsZero() || s.Suspended {
		return nil, fmt.Errorf("%w: no process runs this session", adapters.ErrAnswerElsewhere)
	}
	e, err := a.waitingEntry(ctx, s)
	if err != nil {
		return nil, err
	}
	shown, err := pane.Find(ctx, a.table, s.Process)
	if err != nil {
		return nil, fmt.Errorf("%w: Claude Code takes no answers from outside, and %w", adapters.ErrAnswerElsewhere, err)
	}
	p := &permissionPrompt{pane: shown}
	if p.screen, err = shown.Screen(ctx); err != nil {
		return nil, fmt.Errorf("%w: %w", adapters.ErrAnswerElsewhere, err)
	}
	var ok bool
	if p.dialog, ok = pane.FindDialog(p.screen); !ok {
		return nil, fmt.Errorf("%w: %s does not show the whole prompt", adapters.ErrAnswerElsewhere, shown.Name())
	}
	calls, err := openCallsOfAll(ctx, s.Files[0])
	if err != nil {
		return nil, fmt.Errorf("%w: %w", adapters.ErrAnswerElsewhere, adapters.AsProblem(s.Files[0], err))
	}
	p.request = adapters.Request{Agent: adapters.ClaudeCode, Session: s.ID, Folder: e.cwd, AskedAt: e.since, Where: shown.Name(), Options: p.dialog.Options}
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
		return entry{}, fmt.Errorf("%w: it waits for %s", adapters.ErrAnswerElsewhere, shorten(e.waitingFor))
	}
	return e, nil
}

// openCall is a call that the transcript has no result of.
type openCall struct {
	id, name, input      string // input as JSON
	inner                bool   // of a sub-agent
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
		p.request.Kind, p.request.Text = adapters.AsksCommand, calls[call].command
		for _, c := range calls {
			if pane.Squeezed(c.command) == pane.Squeezed(calls[call].command) || p.dialog.ShowsExactly(c.command, c.description) {
				alike++
			}
		}
		p.request.CanAllow = p.request.CanAllow && alike == 1
	case len(own) != 1 || own[0].name == bashTool:
		return fmt.Errorf("%w: %s does not show a command that its transcript has", adapters.ErrAnswerElsewhere, p.pane.Name())
	default:
		call, p.request.CanAllow = slices.IndexFunc(calls, func(c openCall) bool { return c.id == own[0].id }), false
		p.request.Kind, p.request.Text = adapters.AsksPermission, own[0].name+"\n"+own[0].input
		if slices.Contains(fileTools, own[0].name) {
			p.request.Kind = adapters.AsksFileChange
		}
	}
	// The id differs for every prompt, even for the same command, since each prompt has its own call and its own time.
	p.request.ID = fmt.Sprintf("%s@%d", calls[call].id, e.since.UnixMilli())
	return nil
}

// openCallsOfAll returns the open calls of a session and of its sub-agents, which have transcripts of their own in the folder of the session.
func openCallsOfAll(ctx context.Context, transcript string) ([]openCall, error) {
	calls, err := openCallsOf(ctx, transcript)
	if err != nil {
		return nil, err
	}
	files, _ := filepath.Glob(filepath.Join(globEscaper.Replace(strings.TrimSuffix(transcript, ".jsonl")), "subagents", "*.jsonl"))
	for _, f := range files {
		inner, err := openCallsOf(ctx, f)
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

var globEscaper = strings.NewReplacer(`[`, `\[`, `*`, `\*`, `?`, `\?`)

// openCallsOf returns the last calls that the transcript has no result of.
func openCallsOf(ctx context.Context, transcript string) ([]openCall, error) {
	left := 300 // lines
	var calls []openCall
	over := map[string]bool{}
	err := agentfile.LastLines(ctx, transcript, func(line []byte) bool {
		left--
		inner := jsonl.True(jsonl.Get(line, "isSidechain"))
		_ = jsonl.Each(jsonl.Get(line, "message", "content"), func(block []byte) bool {
			switch string(jsonl.Text(jsonl.Get(block, "type"))) {
			case "tool_result":
				over[jsonl.String(jsonl.Get(block, "tool_use_id"))] = true
			case "tool_use":
				input := jsonl.Get(block, "input")
				c := openCall{inner: inner, id: jsonl.String(jsonl.Get(block, "id")), name: jsonl.String(jsonl.Get(block, "name")), input: string(input),
					command: jsonl.String(jsonl.Get(input, "command")), description: jsonl.String(jsonl.Get(input, "description"))}
				if !over[c.id] {
					calls = append(calls, c)
				}
			}
			return true
		})
		return left > 0
	})
	slices.Reverse(calls)
	return calls, err
}
