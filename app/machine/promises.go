package machine

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"rollcall/adapters"
	"rollcall/app/present"
	"rollcall/proc"
)

// Promise is what a Program promises.
type Promise struct {
	Name   string
	Broken string // the row that breaks it, and what to do; empty: it holds
}

// rowPromises are the promises about each row. Each returns what is wrong with a row as the program printed it; empty: nothing.
var rowPromises = []struct {
	name string
	of   func(table proc.Lister, r *SessionJSON) string
}{
	{"each id can be shown and typed", func(_ proc.Lister, r *SessionJSON) string {
		if !validID(r.ID) {
			return fmt.Sprintf("an id is 1 to %d bytes on one line, without characters that are not seen", maxID)
		}
		return ""
	}},
	{"each row has a status, an outcome and what it waits for as docs/json.md has them", words},
	{"each row has the facts from which its status follows, as evidence", func(_ proc.Lister, r *SessionJSON) string {
		if r.Evidence == "" {
			return "add evidence"
		}
		return ""
	}},
	{"each live row names a process with its start time", func(_ proc.Lister, r *SessionJSON) string {
		if r.isLive() && r.Status != adapters.Unknown && (r.PID == 0 || r.PIDStart == 0) {
			return "add pid and pid_start, or list it as unknown or stopped"
		}
		return ""
	}},
	{"that process runs, and began then", runsStill},
	{"each folder is an absolute path", func(_ proc.Lister, r *SessionJSON) string {
		if r.CWD != "" && !filepath.IsAbs(r.CWD) {
			return fmt.Sprintf("%q is none", present.Cut(r.CWD, 40))
		}
		return ""
	}},
	{"each text can be shown as it is: no control characters, none that are not seen, at most 4 KiB", shownAsItIs},
	{"each time is one of RFC 3339, and not in the future", times},
	{"no count is negative", func(_ proc.Lister, r *SessionJSON) string {
		if t := r.Tokens; r.CostUSD < 0 || t != nil && min(t.Input, t.Output, t.CacheRead, t.CacheWrite, t.Reasoning) < 0 {
			return "leave out what is not known"
		}
		return ""
	}},
}

func (w *SessionJSON) isLive() bool { return w.Status != adapters.Stopped }

// words checks the words of a row.
func words(_ proc.Lister, r *SessionJSON) string {
	statuses := []adapters.Status{adapters.Working, adapters.Waiting, adapters.Idle, adapters.Stopped, adapters.Unknown}
	outcomes := []adapters.Outcome{"", adapters.Completed, adapters.Interrupted, adapters.Failed, adapters.Died}
	waits := r.WaitingFor == adapters.ForPermission || r.WaitingFor == adapters.ForQuestion
	switch {
	case !slices.Contains(statuses, r.Status):
		return fmt.Sprintf("%q is no status: %s, %s, %s, %s or %s", r.Status, statuses[0], statuses[1], statuses[2], statuses[3], statuses[4])
	case !slices.Contains(outcomes, r.Outcome):
		return fmt.Sprintf("%q is no outcome: %s, %s, %s or %s", r.Outcome, outcomes[1], outcomes[2], outcomes[3], outcomes[4])
	case (r.Status == adapters.Waiting) != waits || r.WaitingFor != "" && !waits:
		return "waiting, and no other status, has waiting_for: permission or question"
	case (r.Status == adapters.Working || r.Status == adapters.Waiting) && r.Outcome != "":
		return "while a turn is open there is no outcome"
	case r.Status != adapters.Stopped && r.Status != adapters.Idle && r.Outcome == adapters.Died:
		return "what died is stopped, or idle"
	}
	return ""
}

// runsStill checks the process of a live row.
func runsStill(table proc.Lister, r *SessionJSON) string {
	if r.PID == 0 || r.PIDStart == 0 || !r.isLive() {
		return ""
	}
	switch p, err := table.Find(r.PID); {
	case errors.Is(err, proc.ErrGone):
		return fmt.Sprintf("process %d has ended: list the row as stopped", r.PID)
	case err == nil && p.Start != r.PIDStart:
		return fmt.Sprintf("process %d began at %d, not %d: it is another one", r.PID, p.Start, r.PIDStart)
	}
	return ""
}

// shownAsItIs checks the texts of a row.
func shownAsItIs(_ proc.Lister, r *SessionJSON) string {
	texts := map[string]string{"evidence": r.Evidence, "title": r.Title, "first_prompt": r.FirstPrompt, "last_prompt": r.LastPrompt, "doing": r.Doing, "cwd": r.CWD, "model": r.Model,
		"branch": r.Branch, "version": r.Version}
	for name, text := range texts {
		if someLines(text) != present.Text(text) || present.Text(text) != text {
			return name + " is changed before it is shown: remove escape sequences, control characters and what is not seen, and cut it"
		}
	}
	return ""
}

// times checks the times of a row.
func times(_ proc.Lister, r *SessionJSON) string {
	for name, text := range map[string]string{"started_at": r.StartedAt, "turn_started_at": r.TurnStartedAt, "last_activity_at": r.LastActivityAt, "doing_since": r.DoingSince} {
		at := clockOf(text, 0)
		switch {
		case text == "":
		case at.IsZero():
			return fmt.Sprintf("%s %q is none, such as %s", name, present.Cut(text, 40), "2026-11-28T17:00:00Z")
		case time.Until(at) > maxSkew:
			return name + " is in the future"
		}
	}
	return ""
}

// heard is what a program printed in one run until its list was complete.
type heard struct {
	rows []SessionJSON
	took time.Duration
}

// listen runs the program, and returns its rows as it printed them. It is ended after the first row if cut is set.
func (p *Program) listen(ctx context.Context, cut bool) (h heard, err error) {
	began := time.Now()
	complete := false
	seen := newMirror(string(p.Agent))
	seen.begin(began)
	err = p.run(ctx, nil, func(l *line) error {
		if l.Event == "session" && l.Session != nil {
			h.rows = append(h.rows, *l.Session)
		}
		seen.take(l, time.Now())
		complete = complete || l.Event == "roll"
		if complete || cut && len(h.rows) > 0 {
			return errDone
		}
		return nil
	})
	h.took = time.Since(began)
	seen.skipped = 0 // a promise names the row
	if complete || cut && errors.Is(err, errDone) {
		err = problemsOf(seen)
	}
	return h, err
}

// Test runs the program several times, and returns the promises of docs/adapters-of-others.md with what breaks them. The error says why there is no list.
func (p *Program) Test(ctx context.Context, table proc.Lister) ([]Promise, error) {
	first, err := p.listen(ctx, false)
	if err != nil {
		return nil, err
	}
	list := []Promise{{Name: fmt.Sprintf("its list is complete in time: %d rows in %s", len(first.rows), first.took.Round(time.Millisecond))}}
	if first.took > p.limit()/2 {
		list[0].Broken = fmt.Sprintf("on a busy machine it would take more than %s: list the newest first, and fewer", present.Age(p.limit()))
	}
	for _, promise := range rowPromises {
		why := ""
		for i := range first.rows {
			if text := promise.of(table, &first.rows[i]); text != "" {
				why = rowName(&first.rows[i]) + text
				break
			}
		}
		list = append(list, Promise{promise.name, why})
	}
	list = append(list, Promise{"each id is listed once", twice(first.rows)}, Promise{"each parent is listed, and above no row of its own", parents(first.rows)},
		Promise{"the newest comes first", order(first.rows)})
	return append(list, p.again(ctx, first.rows)...), nil
}

func rowName(r *SessionJSON) string { return "row " + present.Cut(oneLine(r.ID), 60) + ": " }

// twice returns an id that is listed twice.
func twice(rows []SessionJSON) string {
	seen := map[string]bool{}
	for i := range rows {
		if seen[rows[i].ID] {
			return rowName(&rows[i]) + "it is listed again"
		}
		seen[rows[i].ID] = true
	}
	return ""
}

// parents returns a row whose parent is none.
func parents(rows []SessionJSON) string {
	of := map[string]string{}
	for i := range rows {
		of[rows[i].ID] = rows[i].Parent
	}
	for i := range rows {
		at := rows[i].Parent
		for n := 0; at != ""; n++ {
			above, listed := of[at]
			switch {
			case !listed:
				return rowName(&rows[i]) + "its parent is not listed"
			case n > len(rows):
				return rowName(&rows[i]) + "it is below itself"
			}
			at = above
		}
	}
	return ""
}

// order returns a row that comes after an older one. An answer that is cut for want of time has the newest then.
func order(rows []SessionJSON) string {
	last := time.Time{}
	for i := range rows {
		at := clockOf(rows[i].LastActivityAt, 0)
		if !last.IsZero() && at.After(last) {
			return rowName(&rows[i]) + "it is newer than the row before it (last_activity_at), and is left out where the time is over"
		}
		if !at.IsZero() {
			last = at
		}
	}
	return ""
}

// again runs the program more often: once more, two at a time, and one that is ended after its first row.
func (p *Program) again(ctx context.Context, first []SessionJSON) []Promise {
	compare := func(rows []SessionJSON, err error) string {
		if err != nil {
			return err.Error()
		}
		return difference(first, rows)
	}
	second, err := p.listen(ctx, false)
	out := []Promise{{"a second run lists the same", compare(second.rows, err)}}
	var both [2]string
	var group sync.WaitGroup
	for i := range both {
		group.Go(func() {
			h, err := p.listen(ctx, false)
			both[i] = compare(h.rows, err)
		})
	}
	group.Wait()
	out = append(out, Promise{"two at a time list the same", cmp.Or(both[0], both[1])})
	_, err = p.listen(ctx, true)
	if err == nil {
		second, err = p.listen(ctx, false)
	}
	return append(out, Promise{"after a run that was ended in its list, the next one lists the same", compare(second.rows, err)})
}

// difference returns how two lists differ; empty: not at all. A live row may have changed meanwhile.
func difference(first, second []SessionJSON) string {
	for _, pair := range [][2][]SessionJSON{{first, second}, {second, first}} {
		for i := range pair[0] {
			r := &pair[0][i]
			at := slices.IndexFunc(pair[1], func(o SessionJSON) bool { return o.ID == r.ID })
			switch {
			case at < 0:
				return rowName(r) + "only one of them has it: the answer must follow from the files, not from the question before"
			case !r.isLive() && !pair[1][at].isLive() && !same(r, &pair[1][at]):
				return rowName(r) + "it has stopped, and is listed in another way"
			}
		}
	}
	return ""
}

// same reports whether two rows say the same.
func same(a, b *SessionJSON) bool {
	one, err := json.Marshal(a)
	two, err2 := json.Marshal(b)
	return err == nil && err2 == nil && bytes.Equal(one, two)
}

// TestRequests runs the program of requests twice, and returns what of it holds. The error says why there is no list.
func (p *Program) TestRequests(ctx context.Context) ([]Promise, error) {
	first, err := p.Requests(ctx)
	if err != nil {
		return nil, err
	}
	list := []Promise{{Name: fmt.Sprintf("its list is complete in time, and each request can be used: %d", len(first))}, {Name: "each request has only members and kinds of docs/adapters-of-others.md"},
		{Name: "each request can be decided"}, {Name: "a second run lists the same"}}
	for i := range first {
		r := &first[i]
		name := "request " + present.Cut(oneLine(r.ID), 60) + ": "
		if len(r.Unknown) > 0 {
			list[1].Broken = cmp.Or(list[1].Broken, name+r.UnknownText())
		}
		if !r.CanAllow && !r.CanDeny && len(r.Questions) == 0 {
			list[2].Broken = cmp.Or(list[2].Broken, name+"add can_allow or can_deny")
		}
	}
	second, err := p.Requests(ctx)
	if err != nil {
		list[3].Broken = err.Error()
	} else if !slices.Equal(keys(first), keys(second)) {
		list[3].Broken = "the requests differ: nothing of one may change while it waits"
	}
	return list, nil
}

// keys returns the keys of requests, sorted.
func keys(list []adapters.Request) (out []string) {
	for i := range list {
		out = append(out, list[i].Key())
	}
	slices.Sort(out)
	return out
}
