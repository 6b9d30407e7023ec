package claudecode

import (
	"bytes"
	"context"
	"errors"
	"slices"
	"strings"
	"time"
	"unicode"

	"rollcall/adapters"
	"rollcall/adapters/internal/agentfile"
	"rollcall/adapters/internal/kit"
	"rollcall/bounded"
	"rollcall/proc"
)

const (
	// recordTime is how long Claude Code may take to act on a key, and to record the result of the call.
	recordTime = 4 * time.Second
	recordTick = 20 * time.Millisecond
)

// confirm waits until it is certain that the call got the decision and no other one, by the record of its result or, for
// a command that was allowed, by the process that runs it. The same prompt can be answered in its terminal at the same moment.
// before has the processes that ran when the key was pressed. A second key could reach the next prompt, if Claude Code reads both later.
func (a *Adapter) confirm(ctx context.Context, s adapters.Session, p *permissionPrompt, verdict adapters.Verdict, before map[proc.Identity]bool) error {
	call, _, _ := strings.Cut(p.request.ID, "@")
	for end := time.Now().Add(recordTime); time.Now().Before(end); {
		result := resultOf(ctx, s.Files[0], call)
		ran := result == resultGiven || result == noResult && a.runs(ctx, s.Process, p.command, before)
		switch {
		case ran && verdict == adapters.AllowOnce, result == resultRejected && verdict == adapters.Deny:
			return nil
		case ran:
			return errors.New("it was allowed in its terminal at the same moment: it ran, or runs")
		case result == resultRejected:
			return errors.New("it was denied in its terminal at the same moment")
		}
		if err := bounded.Wait(ctx, recordTick); err != nil {
			return err
		}
	}
	if e, err := a.waitingEntry(ctx, s); err == nil && e.since.Equal(p.request.AskedAt) {
		return errors.New("it still waits; answer the request there")
	}
	return errors.New("its transcript does not show yet what became of the call; look at the session there")
}

// result is what a transcript says of a call.
type result uint8

const (
	noResult result = iota
	resultGiven
	resultRejected // the user did not allow the call
)

// rejections begin the results of calls that the user did not allow (2.0.50 to 2.1.332).
var rejections = []string{"The user doesn't want to proceed", "The user doesn't want to take this action", "Permission for this tool use was denied", "User rejected"}

// resultOf returns what the end of a transcript says of a call.
func resultOf(ctx context.Context, transcript, call string) (found result) {
	left := 300 // lines
	_ = agentfile.LastLines(ctx, transcript, func(line []byte) bool {
		left--
		if !bytes.Contains(line, []byte(call)) {
			return left > 0
		}
		_ = agentfile.Each(agentfile.Get(line, "message", "content"), func(block []byte) bool {
			if string(agentfile.Text(agentfile.Get(block, "type"))) != "tool_result" || agentfile.String(agentfile.Get(block, "tool_use_id")) != call {
				return true
			}
			said := kit.Strings(agentfile.Get(block, "content"))
			found = resultGiven
			if agentfile.True(agentfile.Get(block, "is_error")) &&
				slices.ContainsFunc(rejections, func(r string) bool { return strings.HasPrefix(said, r) }) {
				found = resultRejected
			}
			return false
		})
		return left > 0 && found == noResult
	})
	return found
}

// descendants returns the processes below a process.
func (a *Adapter) descendants(ctx context.Context, of proc.Identity) map[proc.Identity]bool {
	rows, _ := a.Table.List(ctx) // what can't be listed runs for no call
	all := map[proc.Identity]bool{}
	for _, p := range proc.Descendants(rows, of) {
		all[p.Identity] = true
	}
	return all
}

// runs reports whether a process below the agent, which was not there before, has the command in its arguments.
func (a *Adapter) runs(ctx context.Context, agent proc.Identity, command string, before map[proc.Identity]bool) bool {
	want := plainLetters(command)
	if want == "" {
		return false
	}
	for id := range a.descendants(ctx, agent) {
		if before[id] {
			continue
		}
		if args, err := a.Table.Args(id); err == nil && strings.Contains(plainLetters(strings.Join(args, " ")), want) {
			return true
		}
	}
	return false
}

// plainLetters returns the letters and digits of a text, which are the same however a shell quotes it.
func plainLetters(text string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsLetter(r) || unicode.IsDigit(r) {
			return r
		}
		return -1
	}, text)
}
