package codex

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"io"

	"rollcall/adapters"
	"rollcall/adapters/internal/agentfile"
	"rollcall/adapters/internal/kit"
)

// The end of a rollout has its totals. The times of use and the number of answered prompts take reading the whole
// rollout, which is done only for Query.Usage.

// usageScan holds what a rollout's records up to next used, by time.
type usageScan struct {
	next      int64 // read up to here
	id        string
	inherited int64
	copies    copies
	totals    *tokens // the largest so far, since the count began again
	recorded  bool    // there are records of usage beside the counts
	ledger    kit.SavedLedger
	guardian  bool // its prompts are not the user's

	model, cwd string // in the last turn
}

// newUsageScan returns a scan of the rollout with that head.
func newUsageScan(h *head) *usageScan {
	return &usageScan{id: h.id, inherited: h.inherited, copies: newCopies(h), guardian: h.guardian, cwd: h.cwd}
}

// upTo returns how much the scan has read.
func (u *usageScan) upTo() int64 {
	if u == nil {
		return 0
	}
	return u.next
}

// saved returns the ledger; nil for a nil scan.
func (u *usageScan) saved() *kit.SavedLedger {
	if u == nil {
		return nil
	}
	return &u.ledger
}

// read brings the scan up to the complete lines before size.
func (u *usageScan) read(ctx context.Context, r io.ReaderAt, size int64) error {
	next, _, err := agentfile.ForwardLong(ctx, io.NewSectionReader(r, 0, size), u.next, 0, func(line []byte, _ int64) error {
		u.line(line)
		return nil
	}, func(*agentfile.LongLine) error { return nil })
	u.next = next
	if errors.Is(err, agentfile.ErrTooLong) { // the lines after it can't be read
		u.next, err = size, nil
	}
	return err
}

// line adds one line. It parses only those that can matter.
func (u *usageScan) line(line []byte) {
	if !u.copies.active && !mayUse(line) {
		return
	}
	for _, r := range records(line) {
		u.record(&r)
	}
}

func (u *usageScan) record(r *record) {
	if isInherited(r.ordinal, u.inherited) || u.copies.has(r) {
		return
	}
	switch r.kind {
	case prompt:
		if r.text != "" && !u.guardian {
			u.ledger.Prompt()
		}
	case answer:
		u.ledger.Answer(u.entry(r, adapters.Tokens{}))
	case settings:
		u.model, u.cwd = cmp.Or(r.model, u.model), cmp.Or(r.cwd, u.cwd)
	case usage:
		u.count(r)
	}
}

// count adds the difference to the largest totals so far: see facts.applyUsage. Where the count began again (tokens.isFull), records of usage (0.169) go on.
func (u *usageScan) count(r *record) {
	if r.totals == nil || r.thread != "" && u.id != "" && r.thread != u.id {
		return
	}
	u.recorded = u.recorded || r.thread != ""
	switch {
	case u.recorded && r.thread == "" && r.totals.beganAgain():
		return
	case r.totals.isFull():
		u.totals, u.copies.totals = r.totals, nil
		return
	case u.totals != nil && r.totals.total < u.totals.total:
		return
	}
	now, before := r.totals.own(u.copies.totals).counts(), adapters.Tokens{}
	if u.totals != nil {
		before = u.totals.own(u.copies.totals).counts()
	}
	u.totals = r.totals
	more := u.entry(r, now.Minus(before))
	if more.Tokens.Output > 0 {
		u.ledger.Answer(more)
	} else {
		u.ledger.Add(more)
	}
}

func (u *usageScan) entry(r *record, used adapters.Tokens) kit.Entry {
	return kit.Entry{At: r.at, Model: u.model, CWD: u.cwd, Tokens: used}
}

// account returns what the thread used.
func (u *usageScan) account(f *facts) []adapters.Usage {
	a := &kit.Account{Ledgers: []*kit.Ledger{&u.ledger.Ledger}, Last: f.last, Model: f.model, CWD: f.cwd, Branch: f.branch}
	kit.Settle([]*kit.Account{a})
	return a.Usage
}

var (
	typeMember    = []byte(`"type":"`)
	payloadMember = []byte(`"payload":`)
	nextRecord    = append([]byte("}"), recordStart...) // a second record on a line
)

// mayUse reports whether a line can be a prompt, an answer or a count of tokens, by the types near its beginning. A
// line that is written in another order counts as one that can.
func mayUse(line []byte) bool {
	if bytes.Contains(line, nextRecord) {
		return true
	}
	const near = 256
	begin := line[:min(len(line), near)]
	_, rest, ok := bytes.Cut(begin, typeMember)
	if !ok || bytes.Contains(begin[:len(begin)-len(rest)], payloadMember) {
		return true
	}
	outer, rest, _ := bytes.Cut(rest, []byte{'"'})
	switch string(outer) {
	case "token_usage_record", "turn_context":
		return true
	case "event_msg":
	default:
		return false
	}
	if rest, ok = bytes.CutPrefix(bytes.TrimPrefix(rest, []byte(",")), payloadMember); !ok {
		return true
	}
	if rest, ok = bytes.CutPrefix(rest, append([]byte{'{'}, typeMember...)); !ok {
		return true
	}
	inner, _, _ := bytes.Cut(rest, []byte{'"'})
	switch string(inner) {
	case "token_count", "user_message", "agent_message", "item_completed", "thread_settings_applied":
		return true
	}
	return false
}
