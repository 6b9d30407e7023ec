package openclaw

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"slices"

	"rollcall/adapters"
)

// pending returns the requests that wait for the user. A gateway lists approvals only
// to the client that made the request and to operator.admin (2026.9.6), so pending
// needs a separate connection. It closes the connection soon and requests only lists: a
// client with the scope for approvals could otherwise count as a user who decides them.
// whyUnknown is the reason why this gateway hides requests permanently; an error is
// temporary.
func (a *Adapter) pending(ctx context.Context, t *target, c *client) (found map[string]request, whyUnknown string, err error) {
	lists := []struct {
		method string
		what   adapters.WaitingFor
	}{{"exec.approval.list", adapters.ForPermission}, {"plugin.approval.list", adapters.ForPermission},
		{"openclaw.approval.list", adapters.ForPermission}, {"question.list", adapters.ForQuestion}}
	if !c.hello.has(lists[0].method) {
		return nil, "this version of OpenClaw has no list of approvals", nil
	}
	scopes := []string{scopeRead, "operator.approvals", "operator.questions", scopeAdmin}
	admin, err := t.connect(ctx, a.cfg.AllowPlaintext, scopes, nil)
	if err != nil {
		var r *refusal
		if errors.As(err, &r) {
			return nil, t.problem(err).Err.Error(), nil
		}
		return nil, "", err
	}
	defer admin.close()
	if !admin.hello.granted(scopeAdmin) {
		whyUnknown = "the gateway doesn't grant " + scopeAdmin
	}
	found = map[string]request{}
	for _, l := range lists {
		if !c.hello.has(l.method) {
			continue
		}
		var list requests
		err := admin.call(ctx, l.method, struct{}{}, &list)
		var r *refusal
		switch {
		case errors.As(err, &r):
			whyUnknown = cmp.Or(whyUnknown, oneLine(r.Error()))
			continue
		case err != nil:
			return nil, "", err
		}
		list.enter(found, l.what)
	}
	return found, whyUnknown, nil
}

// requests is the answer to a list of approvals (an array) or of questions (an
// object with one), in 2026.9.6.
type requests []json.RawMessage

// UnmarshalJSON implements json.Unmarshaler.
func (l *requests) UnmarshalJSON(b []byte) error {
	if bytes.HasPrefix(bytes.TrimSpace(b), []byte("[")) {
		return json.Unmarshal(b, (*[]json.RawMessage)(l))
	}
	var object struct {
		Questions []json.RawMessage `json:"questions"`
		Approvals []json.RawMessage `json:"approvals"`
	}
	if err := json.Unmarshal(b, &object); err != nil {
		return err
	}
	*l = slices.Concat(object.Questions, object.Approvals)
	return nil
}

// enter adds the requests to those of each session.
func (l requests) enter(found map[string]request, what adapters.WaitingFor) {
	for _, raw := range l {
		var r struct {
			Status     string `json:"status"`
			SessionKey string `json:"sessionKey"`
			Request    struct {
				SessionKey string `json:"sessionKey"`
				Command    string `json:"command"`
				Title      string `json:"title"`
			} `json:"request"`
			Questions []struct {
				Question string `json:"question"`
				Header   string `json:"header"`
			} `json:"questions"`
		}
		// A member of another type does not affect the others.
		_ = json.Unmarshal(raw, &r)
		key := cmp.Or(r.SessionKey, r.Request.SessionKey)
		if key == "" || r.Status != "" && r.Status != "pending" {
			continue
		}
		w := request{what: what, text: cmp.Or(r.Request.Command, r.Request.Title)}
		if len(r.Questions) > 0 {
			w.text = cmp.Or(r.Questions[0].Question, r.Questions[0].Header)
		}
		if have, ok := found[key]; ok {
			have.more++
			found[key] = have
			continue
		}
		found[key] = w
	}
}
