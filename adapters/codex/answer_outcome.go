package codex

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"rollcall/adapters"
	"rollcall/adapters/internal/agentfile"
	"rollcall/adapters/internal/kit"
	"rollcall/bounded"
)

const (
	// firstLook is the pause between two looks at an item whose request is resolved. It
	// doubles with each look, up to lastLook.
	firstLook = 30 * time.Millisecond
	lastLook  = time.Second
	// lookLimit is how long one look may take.
	lookLimit = 2 * time.Second
)

// experimental are the capabilities of a client that may read the items of an open turn. From
// clients without these capabilities the daemon also hides which rights a command gets in
// addition to its usual ones (0.169.0).
var experimental = map[string]any{"experimentalApi": true}

// itemEnd is how an item ended: completed, failed or declined, and the exit code of its
// command.
type itemEnd struct {
	Status string `json:"status"`
	Exit   *int   `json:"exitCode"`
}

// requestOutcome is what happened to the item that a request was about.
type requestOutcome int

// The outcomes of a request.
const (
	unsettled requestOutcome = iota // not known
	refused                         // the item was not carried out
	allowed                         // the item was carried out, at least in part
)

// outcomeOf returns what the daemon reported about a request's item since the request was
// resolved. A command that another client's faulty answer refused ends as failed, without an
// exit code (0.169.0). If a request is about a part of an item and the item was carried out, the
// outcome of that part is not known.
func (j *joined) outcomeOf(a *asked) requestOutcome {
	end, over := j.ended[a.Params.Item]
	switch {
	case over && end.Status == "declined":
		return refused
	case !a.whole():
		return unsettled
	case over && end.Status == "failed" && end.Exit == nil && a.Method == asksCommand:
		return refused
	case over && (end.Status == "completed" || end.Status == "failed"):
		return allowed
	case j.running[a.Params.Item] && !j.early[a.Params.Item]:
		return allowed
	}
	return unsettled
}

// whole reports whether a request is about a whole item: not about a program that its command
// starts, a host that it connects to, or input for it.
func (a *asked) whole() bool {
	p := &a.Params
	return p.Approval == "" && (p.Kind == "" || p.Kind == "command") && agentfile.Null(p.Network)
}

// awaitOutcome waits for the outcome of a resolved request. It returns unsettled if ctx ends
// before the daemon has reported the outcome. An item that was allowed ends when its command
// does: until then only the process of the command shows that it was allowed. The daemon
// reports the end of a refused command only to clients that joined before the request was made,
// but the command's output is recorded at once (0.169.0).
func (j *joined) awaitOutcome(ctx context.Context, a *asked) requestOutcome {
	pause := firstLook
	for {
		if o := j.outcomeOf(a); o != unsettled {
			return o
		}
		if bounded.Wait(ctx, pause) != nil {
			return unsettled
		}
		pause = min(2*pause, lastLook)
		if j.commandBegun(ctx, a.Params.Item) {
			j.running[a.Params.Item] = true
		}
		if recordedRefusal(ctx, j.rollout, a.Params.Item) {
			return refused
		}
		if err := j.barrier(ctx); err != nil {
			return j.outcomeOf(a)
		}
	}
}

// observe opens the connection for commandBegun, and records whether the command of an item
// began before the answer: Codex asks again for a command that its sandbox stopped, and the
// process of that first attempt is no evidence. The caller closes the connection.
func (j *joined) observe(ctx context.Context, item string) {
	limited, cancel := context.WithTimeout(ctx, lookLimit)
	defer cancel()
	observer, err := connect(limited, j.socket, experimental)
	if err == nil {
		j.observer = observer
		j.early[item] = j.commandBegun(limited, item)
	}
	j.early[item] = j.early[item] || j.running[item] || j.observer == nil
}

// commandBegun reports whether the command of an item has a process. After the first error it
// returns false without asking: the daemon does not show the items of an open turn, or they are
// larger than answerLimit.
func (j *joined) commandBegun(ctx context.Context, item string) bool {
	if j.observer == nil {
		return false
	}
	limited, cancel := context.WithTimeout(ctx, lookLimit)
	defer cancel()
	result, err := j.observer.openTurn(limited, j.thread)
	if err != nil {
		j.unobserve()
		return false
	}
	begun := false
	eachItem(result, func(one []byte) {
		begun = begun || agentfile.String(agentfile.Get(one, "id")) == item && agentfile.String(agentfile.Get(one, "processId")) != ""
	})
	return begun
}

// openTurn returns the newest turn of a thread with its items, for eachItem.
func (c *client) openTurn(ctx context.Context, thread string) (json.RawMessage, error) {
	return c.call(ctx, "thread/resume", map[string]any{"threadId": thread, "excludeTurns": true,
		"initialTurnsPage": map[string]any{"limit": 1, "itemsView": "full"}})
}

// eachItem calls item with the items of what openTurn returned.
func eachItem(page []byte, item func(one []byte)) {
	kit.Each(agentfile.Get(page, "initialTurnsPage", "data"), func(turn []byte) {
		kit.Each(agentfile.Get(turn, "items"), item)
	})
}

// recordedRefusal reports whether a rollout has the output of a call that the user rejected.
// The output of a command that began is different: its first lines are Codex's own (0.169.0).
func recordedRefusal(ctx context.Context, rollout, call string) bool {
	rejected := false
	recordsOf(ctx, rollout, call, func(kind string, payload []byte) bool {
		if kind != "function_call_output" {
			return false
		}
		text := string(agentfile.Text(agentfile.Get(payload, "output")))
		rejected = strings.HasPrefix(text, "exec_command failed") && strings.HasSuffix(text, `Rejected(\"rejected by user\")" }`) ||
			strings.HasPrefix(text, "exec command rejected by user")
		return true
	})
	return rejected
}

// awaitReply returns the result of a reply to questions that are resolved. Codex records the reply that it accepted as
// the output of the call that asked (0.169.0). Secret replies are not compared.
func (j *joined) awaitReply(ctx context.Context, a *asked, d adapters.Decision) (adapters.Result, error) {
	resolved := "the Codex daemon resolved request " + string(a.ID)
	if slices.ContainsFunc(a.Params.Questions, func(q askedQuestion) bool { return q.Secret }) {
		return adapters.Result{Evidence: resolved}, nil
	}
	for pause := firstLook; ; pause = min(2*pause, lastLook) {
		counted, recorded := recordedReply(ctx, j.rollout, a.Params.Item)
		switch {
		case recorded && slices.EqualFunc(a.Params.Questions, d.Answers, func(q askedQuestion, sent []string) bool { return slices.Equal(counted[q.ID], sent) }):
			return adapters.Result{Confirmed: true, Evidence: resolved + " and recorded this reply"}, nil
		case recorded:
			return adapters.Result{}, fmt.Errorf("%w: another reply was given elsewhere at the same moment", adapters.ErrNotPending)
		}
		if bounded.Wait(ctx, pause) != nil {
			return adapters.Result{}, fmt.Errorf("%w: %s, and did not record within %s which reply it accepted; look at the session", adapters.ErrUnconfirmed, resolved, kit.Span(settleLimit))
		}
	}
}

// recordedReply returns the answers, by question, that a rollout has as the output of a call.
func recordedReply(ctx context.Context, rollout, call string) (answers map[string][]string, recorded bool) {
	recordsOf(ctx, rollout, call, func(kind string, payload []byte) bool {
		if kind != "function_call_output" {
			return false
		}
		var output struct {
			Answers map[string]struct {
				Answers []string `json:"answers"`
			} `json:"answers"`
		}
		recorded = json.Unmarshal([]byte(agentfile.String(agentfile.Get(payload, "output"))), &output) == nil
		answers = map[string][]string{}
		for id, a := range output.Answers {
			answers[id] = a.Answers
		}
		return true
	})
	return answers, recorded
}

// unobserve closes the connection of commandBegun.
func (j *joined) unobserve() {
	if j.observer != nil {
		j.observer.close()
		j.observer = nil
	}
}

// judge returns the result of a decision on a request that is resolved and had this outcome.
func (o requestOutcome) judge(a *asked, d adapters.Decision) (adapters.Result, error) {
	id := string(a.ID)
	switch {
	case o == unsettled:
		return adapters.Result{}, fmt.Errorf("%w: the Codex daemon resolved request %s, and did not say within %s whether it was allowed or denied; look at the session",
			adapters.ErrUnconfirmed, id, kit.Span(settleLimit))
	case d.Verdict == adapters.AllowOnce && o == refused:
		return adapters.Result{}, fmt.Errorf("%w: it was denied elsewhere at the same moment", adapters.ErrNotPending)
	case d.Verdict == adapters.Deny && o == allowed:
		return adapters.Result{}, fmt.Errorf("%w: it was allowed elsewhere at the same moment", adapters.ErrNotPending)
	case o == allowed:
		return adapters.Result{Confirmed: true, Evidence: "the Codex daemon resolved request " + id + " and carried it out"}, nil
	}
	return adapters.Result{Confirmed: true, Evidence: "the Codex daemon resolved request " + id + " and declined it"}, nil
}
