package codex

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/cespare/xxhash/v2"

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
	heir      bool // the thread may count on from the sum of another one
	copies    copies
	totals    *tokens // of the last count, since the count began again
	began     bool    // a count was read
	recorded  bool    // there are records of usage beside the counts
	undone    bool    // turns were rolled back since the last count
	ledger    kit.SavedLedger
	own       adapters.Tokens // of the ledger, without copies
	unsure    bool            // a record of usage and the difference of the sums contradict each other
	task      bool            // its prompts are not the user's: those of a model that reviews, or of the parent of a sub-agent
	turn      string

	at place // of the last turn
	// copied is what the same is of the records that the thread has from others, and origin the thread that gave the first of these.
	copied    place
	copiedSum tokens
	origin    string
	ancestors int
}

// place is where answers were given.
type place struct{ model, cwd string }

func (p *place) set(r *record) { p.model, p.cwd = cmp.Or(r.model, p.model), cmp.Or(r.cwd, p.cwd) }

// newUsageScan returns a scan of the rollout with that head.
func newUsageScan(h *head) *usageScan {
	return &usageScan{id: h.id, inherited: h.inherited, heir: h.isHeir(), copies: newCopies(h), task: h.subagent, at: place{cwd: h.cwd}}
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
	for r := range records(line) {
		u.record(&r)
	}
}

func (u *usageScan) record(r *record) {
	if isInherited(r.ordinal, u.inherited) || u.copies.has(r) {
		u.copy(r)
		return
	}
	switch r.kind {
	case started:
		u.turn = r.turn
	case prompt:
		if r.text != "" && !u.task {
			u.ledger.Prompt()
		}
	case answer:
		u.ledger.Answer(u.entry(r, adapters.Tokens{}))
	case settings:
		u.turn = cmp.Or(r.turn, u.turn)
		u.at.set(r)
	case rolledBack:
		u.undone = true
	case usage:
		u.count(r)
	}
}

// copy takes a record that the thread has from another one. Its answer counts if the rollout of that thread is gone.
func (u *usageScan) copy(r *record) {
	switch r.kind {
	case meta:
		u.origin = r.thread
		u.ancestors++
	case started:
		u.turn = r.turn
	case settings:
		u.turn = cmp.Or(r.turn, u.turn)
		u.copied.set(r)
	case usage:
		if r.totals == nil || r.used == nil || u.copiedSum == *r.totals {
			return
		}
		u.copiedSum = *r.totals
		if r.answer == "" && u.turn == "" && u.ancestors != 1 { // it is not known which of the threads gave it
			return
		}
		u.ledger.Add(kit.Entry{ID: u.idOf(r, u.origin), Copied: true, At: r.at, Model: u.copied.model, CWD: u.copied.cwd, Tokens: r.used.counts()})
	}
}

// count adds what an answer used: what a record of usage (0.169) states of it alone, or the difference of two sums. A sum is repeated when other limits change.
func (u *usageScan) count(r *record) {
	if r.thread != "" && u.id != "" && r.thread != u.id {
		return
	}
	if r.thread != "" && r.used != nil {
		u.recorded = true
		u.unsure = u.unsure || !u.agrees(r)
		u.advance(r)
		u.add(r, r.used.counts())
		return
	}
	if r.totals == nil || u.isOld(r) {
		return
	}
	u.recorded = u.recorded || r.thread != ""
	if r.totals.isFull() {
		u.totals = r.totals
		u.began = true
		u.copies.totals = nil
		return
	}
	used := u.since(r)
	u.advance(r)
	u.add(r, used.counts())
}

func (u *usageScan) advance(r *record) {
	u.undone, u.began = false, true
	if r.totals != nil {
		u.totals = r.totals
	}
}

// isOld reports whether a sum is that of an answer that was counted before.
func (u *usageScan) isOld(r *record) bool {
	switch {
	case u.recorded && r.thread == "" && r.totals.beganAgain():
		return true
	case u.totals == nil, r.totals.isFull():
		return false
	case u.undone && r.used != nil && !u.recorded: // the sum can be that of the time to which the thread went back
		return *r.totals == *u.totals
	}
	return r.totals.total < u.totals.total
}

// since returns what was used since the last sum. The first sum of a thread holds what it inherited.
func (u *usageScan) since(r *record) *tokens {
	switch {
	case u.totals == nil && u.copies.totals == nil && u.heir:
		return r.totals.own(r.inherited())
	case u.totals == nil:
		return r.totals.own(u.copies.totals)
	case u.undone && r.used != nil && r.totals.total < u.totals.total:
		return r.used
	}
	return r.totals.minus(u.totals)
}

// agrees reports whether what a record of usage states of an answer is what its sum has more than the one before, as far as that is known.
func (u *usageScan) agrees(r *record) bool {
	switch {
	case r.totals == nil, u.undone, u.heir && !u.began, u.totals != nil && u.totals.isFull():
		return true
	case u.totals == nil:
		return *r.totals == *r.used
	case *r.totals == *u.totals: // an earlier version, or a count of the same answer, was first
		return true
	}
	return *r.totals.minus(u.totals) == *r.used
}

// add adds an answer that the thread gave itself.
func (u *usageScan) add(r *record, used adapters.Tokens) {
	e := u.entry(r, used)
	e.ID = u.idOf(r, u.id)
	u.own.Add(used)
	if used.Output > 0 {
		u.ledger.Answer(e)
	} else {
		u.ledger.Add(e)
	}
}

// idOf returns the id of an answer, which copies of its record have too: the one that its record names (0.169), or that of the turn, or before 0.106 of the
// thread, with the sum. A turn that is only numbered is one of its thread.
func (u *usageScan) idOf(r *record, thread string) uint64 {
	if r.answer != "" {
		return xxhash.Sum64String(r.answer) | 1
	}
	var sum tokens
	if r.totals != nil {
		sum = *r.totals
	}
	turn := u.turn
	if !kit.Is(turn) {
		turn = thread + turn
	}
	return xxhash.Sum64String(fmt.Sprint(turn, sum)) | 1
}

func (u *usageScan) entry(r *record, used adapters.Tokens) kit.Entry {
	return kit.Entry{At: r.at, Model: u.at.model, CWD: u.at.cwd, Tokens: used}
}

var (
	typeMember   = []byte(`"type":"`)
	typedPayload = []byte(`"payload":{"type":"`)
	nextRecord   = append([]byte("}"), recordStart...) // a second record on a line
)

// usedEvents are the types of events that can be a prompt, an answer, a count of tokens, or a change of what they are of.
var usedEvents = []string{"token_count", "user_message", "agent_message", "item_completed", "thread_settings_applied", "task_started", "turn_started",
	"thread_rolled_back"}

// mayUse reports whether a line can be a prompt, an answer or a count of tokens, by the types near its beginning. A
// line that is written in another order counts as one that can.
func mayUse(line []byte) bool {
	const near = 256
	head, payload, ok := bytes.Cut(line[:min(len(line), near)], typedPayload)
	if !ok || !bytes.Contains(head, typeMember) || bytes.Contains(line, nextRecord) {
		return true
	}
	if !bytes.Contains(head, []byte(`"event_msg"`)) {
		return !bytes.Contains(head, []byte(`"response_item"`))
	}
	kind, _, _ := bytes.Cut(payload, []byte{'"'})
	return slices.Contains(usedEvents, string(kind))
}
