package codex

import (
	"bytes"
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
	totals    *tokens // the largest so far
	log       kit.Log
	guardian  bool // its prompts are not the user's
}

// newUsageScan returns a scan of the rollout with that head.
func newUsageScan(h *head) *usageScan {
	return &usageScan{id: h.id, inherited: h.inherited, guardian: h.guardian}
}

// upTo returns how much the scan has read.
func (u *usageScan) upTo() int64 {
	if u == nil {
		return 0
	}
	return u.next
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
	if !mayUse(line) {
		return
	}
	for _, r := range records(line) {
		u.record(&r)
	}
}

func (u *usageScan) record(r *record) {
	if isInherited(r.ordinal, u.inherited) {
		return
	}
	switch r.kind {
	case prompt:
		if r.text != "" && !u.guardian {
			u.log.Prompt()
		}
	case answer:
		u.log.Answer(r.at)
	case usage:
		u.count(r)
	}
}

// count adds the difference to the largest totals so far: see facts.applyUsage.
func (u *usageScan) count(r *record) {
	if r.totals == nil || r.thread != "" && u.id != "" && r.thread != u.id || u.totals != nil && r.totals.total < u.totals.total {
		return
	}
	now, before := r.totals.counts(), adapters.Tokens{}
	if u.totals != nil {
		before = u.totals.counts()
	}
	u.totals = r.totals
	u.log.Add(r.at, now.Minus(before), 0)
	if now.Output > before.Output {
		u.log.Answer(r.at)
	}
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
	case "token_usage_record":
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
	case "token_count", "user_message", "agent_message", "item_completed":
		return true
	}
	return false
}
