package openclaw

import (
	"context"
	"errors"

	"rollcall/adapters"
)

// pending asks what waits for the user. Approvals are listed only to whoever made
// the request and to operator.admin (2026.9.6), so that it takes a connection of its
// own. That is as short as it can be, and calls nothing but lists: a client that holds
// approvals could otherwise count as somebody who is there to decide them. blind says
// why requests may be hidden for good; an error is one of the moment.
func (a *Adapter) pending(ctx context.Context, t *target, c *client) (found map[string]request, blind string, err error) {
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
		blind = "the gateway doesn't grant " + scopeAdmin
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
			blind = first(blind, plain(r.Error()))
			continue
		case err != nil:
			return nil, "", err
		}
		list.enter(found, l.what)
	}
	return found, blind, nil
}
