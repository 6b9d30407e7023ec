package codex

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"rollcall/adapters"
)

// daemonName is the name of the daemon in texts for the user.
const daemonName = "the Codex daemon"

// asked is a request of the daemon for a decision (0.169.0).
type asked struct {
	ID     json.RawMessage `json:"id"`
	Method string          `json:"method"`
	Params askedParams     `json:"params"`
}

type askedParams struct {
	Thread    string            `json:"threadId"`
	Item      string            `json:"itemId"`
	Approval  string            `json:"approvalId"`
	Started   int64             `json:"startedAtMs"`
	Kind      string            `json:"kind"`
	Command   *string           `json:"command"`
	CWD       string            `json:"cwd"`
	Reason    string            `json:"reason"`
	Root      string            `json:"grantRoot"`
	Network   json.RawMessage   `json:"networkApprovalContext"`
	Decisions []json.RawMessage `json:"availableDecisions"`
	Questions []askedQuestion   `json:"questions"`
}

type askedQuestion struct {
	ID      string            `json:"id"`
	Header  string            `json:"header"`
	Text    string            `json:"question"`
	Other   bool              `json:"isOther"`
	Secret  bool              `json:"isSecret"`
	Options []adapters.Option `json:"options"`
}

// The methods of the daemon's requests.
const (
	asksCommand = "item/commandExecution/requestApproval"
	asksFiles   = "item/fileChange/requestApproval"
	asksUser    = "item/tool/requestUserInput"
	asksRights  = "item/permissions/requestApproval"
	asksTool    = "mcpServer/elicitation/request"
)

// parseAsked reads a message. ok is false for a message that asks for no decision.
func parseAsked(b []byte) (a asked, ok bool) {
	if json.Unmarshal(b, &a) != nil || len(a.ID) == 0 {
		return asked{}, false
	}
	switch a.Method {
	case asksCommand, asksFiles, asksUser, asksRights, asksTool:
		return a, a.Params.Thread != ""
	}
	return asked{}, false
}

// request returns the request as the user sees it. changes returns the changes of files that the daemon would make in an item, and recorded the patch that the
// rollout has of a call; empty: it is not known.
func (a *asked) request(raw []byte, changes, recorded func(item string) string) adapters.Request {
	p := &a.Params
	r := adapters.Request{
		Agent: Name, Session: p.Thread, ID: a.name(), Reason: p.Reason, Folder: p.CWD, Where: daemonName,
	}
	if p.Started > 0 {
		r.AskedAt = time.UnixMilli(p.Started)
	}
	switch a.Method {
	case asksCommand:
		r.Kind, r.CanDeny = adapters.AsksCommand, true
		if p.Command != nil {
			r.Text = *p.Command
		}
		// Anything but a plain command can't be shown whole by its text alone.
		r.CanAllow = r.Text != "" && (p.Kind == "" || p.Kind == "command") && a.offers("accept")
		if p.Kind != "" && p.Kind != "command" {
			r.Text = strings.TrimSpace(p.Kind + ": " + r.Text)
		}
	case asksFiles:
		r.Kind = adapters.AsksFileChange
		r.CanDeny = true
		r.Text = changes(p.Item)
		r.CanAllow = r.Text != "" && p.Root == "" // Codex would allow writes below a root for the whole session
		if r.Text == "" {                         // the record may be of another call
			r.Text = cmp.Or(recorded(p.Item), "a change of files that Codex has not recorded yet")
		}
		if p.Root != "" {
			r.Text += "\nwrites below " + p.Root + " for the rest of the session"
		}
	case asksUser:
		r.Kind = adapters.AsksQuestion
		r.Text, r.Questions = questions(p.Questions)
	default: // its answer is no decision, but a list of rights or a form
		r.Kind, r.Text = adapters.AsksPermission, string(raw)
	}
	for _, d := range p.Decisions {
		r.Options = append(r.Options, decisionName(d))
	}
	a.checkMembers(&r, raw)
	return r
}

// decisionName returns the name of a decision that the daemon accepts: a text, or an object whose only member is the decision with its details.
func decisionName(raw json.RawMessage) string {
	var name string
	if json.Unmarshal(raw, &name) == nil {
		return name
	}
	var object map[string]json.RawMessage
	if json.Unmarshal(raw, &object) == nil && len(object) == 1 {
		for name = range object {
			return name
		}
	}
	return string(raw)
}

// name returns the request's id for the user, together with the id of its item: the daemon
// numbers its requests from 0 again after a restart.
func (a *asked) name() string {
	return strings.Trim(string(a.ID), `"`) + "/" + cmp.Or(a.Params.Approval, a.Params.Item)
}

// offers reports whether the daemon accepts a decision. A daemon that lists no decisions accepts all.
func (a *asked) offers(decision string) bool {
	return a.Params.Decisions == nil || slices.ContainsFunc(a.Params.Decisions, func(d json.RawMessage) bool {
		return string(d) == `"`+decision+`"`
	})
}

func questions(list []askedQuestion) (text string, out []adapters.Question) {
	var texts []string
	for _, q := range list {
		out, texts = append(out, adapters.Question{ID: q.ID, Header: q.Header, Text: q.Text, Options: q.Options,
			FreeText: q.Other || len(q.Options) == 0, Secret: q.Secret}), append(texts, q.Text)
	}
	return strings.Join(texts, "\n"), out
}

// result returns the answer to send to the daemon. It never contains a decision that would hold for more than this request.
func (a *asked) result(d adapters.Decision) (any, error) {
	switch {
	case a.Method == asksUser && d.Verdict == adapters.Reply:
		answers := map[string]any{}
		for i, q := range a.Params.Questions {
			answers[q.ID] = map[string]any{"answers": d.Answers[i]}
		}
		return map[string]any{"answers": answers}, nil
	case a.Method == asksCommand || a.Method == asksFiles:
		switch d.Verdict {
		case adapters.AllowOnce:
			return map[string]string{"decision": "accept"}, nil
		case adapters.Deny:
			return map[string]string{"decision": "decline"}, nil
		}
	}
	return nil, fmt.Errorf("%w: %s", adapters.ErrNoSuchAnswer, a.Method)
}
