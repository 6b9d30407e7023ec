package qwen

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"rollcall/adapters"
	"rollcall/adapters/internal/agentfile"
	"rollcall/adapters/internal/agentproc"
	"rollcall/adapters/internal/kit"
	"rollcall/proc"
)

// server is the channel to a session of `qwen serve`, whose process is above the one that runs its sessions (0.24.4).
type server struct {
	kit.Service
	path string // of the session
}

const (
	servePort = "4170" // without --port
	morePorts = 9      // the next ones, which it tries if that is in use
	askLimit  = time.Second
	maxAsked  = 32 // sessions about which one question asks
)

// serverOf returns the server of a session, if it listens where its command line says. Nothing is sent to any other process.
func (a *Adapter) serverOf(s *adapters.Session) (*server, error) {
	var args []string
	row, err := a.Table.Find(s.Process.PID)
	above := proc.Ancestors(a.Table, row)
	if err == nil && row.Identity == s.Process && s.Shared && s.Parent == "" && len(above) > 0 {
		line, _ := a.Table.Args(above[0]) // one that can't be read has no arguments
		_, args = agentproc.Script(line)
	}
	if len(args) == 0 || !slices.Contains(node.Serving, args[0]) {
		return nil, fmt.Errorf("it is no session of a `qwen serve`, and is answered and interrupted %s", s.Where())
	}
	serves := func(at netip.AddrPort) error { return a.serves(at, above[0]) }
	first, err := strconv.Atoi(cmp.Or(kit.Option(args, "--port"), servePort))
	for port := first; err == nil && port <= first+morePorts; port++ {
		base := kit.Loopback(kit.Option(args, "--hostname"), port)
		if at, none := netip.ParseAddrPort(strings.TrimPrefix(base, "http://")); none == nil && serves(at) == nil {
			return &server{kit.Service{Client: kit.PeerClient("nothing was sent", askLimit, orderLimit, serves), Base: base}, "/session/" + s.ID}, nil
		}
	}
	return nil, fmt.Errorf("process %d does not listen on this machine where its command line says: use its Web Shell", above[0].PID)
}

// order sends a request about the session. The server has no effect of one that it refuses.
func (v *server) order(ctx context.Context, method, path string, content any) ([]byte, error) {
	body, err := v.Do(ctx, method, v.path+path, content)
	refused, _ := errors.AsType[*kit.StatusError](err)
	switch {
	case err == nil:
		return body, nil
	case refused != nil && refused.Code == http.StatusUnauthorized:
		return nil, fmt.Errorf("%w: the server at %s asks for its token, which Rollcall does not have: use its Web Shell", adapters.ErrAnswerElsewhere, v.Base)
	case refused != nil && refused.Code == http.StatusForbidden: // its setting policy.permissionStrategy
		err = fmt.Errorf("%w: %w", adapters.ErrNotAllowed, err)
	case refused == nil && method == http.MethodPost && kit.WasSent(err):
		err = fmt.Errorf("%w: %w", adapters.ErrUnconfirmed, err)
	}
	return nil, fmt.Errorf("qwen serve at %s: %w", v.Base, err)
}

// pending implements channel. The ids of requests are used once.
func (v *server) pending(ctx context.Context, s *adapters.Session) (list []adapters.Request, err error) {
	status, err := v.order(ctx, http.MethodGet, "/status", nil)
	kit.Each(agentfile.Get(status, "pendingInteractions"), func(one []byte) {
		var options []kit.ACPOption
		_ = json.Unmarshal(agentfile.Get(one, "options"), &options) // without options nothing can be decided
		r := protocol.Request(agentfile.String(agentfile.Get(one, "requestId")), func(member string) []byte {
			return agentfile.Get(one, "action", cmp.Or(map[string]string{"rawInput": "input", "kind": "type"}[member], member))
		}, options)
		if string(agentfile.Text(agentfile.Get(one, "kind"))) == asksQuestion {
			kit.AsQuestion(&r, questionsOf(agentfile.Get(one, "questions")))
		}
		r.Session = s.ID
		r.Folder = s.CWD
		r.Where = "qwen serve"
		r.AskedAt = agentfile.Time(agentfile.Get(one, "createdAt"))
		servedMembers.Check(&r, "", one)
		list = append(list, r)
	})
	return list, err
}

// decide implements channel. The server takes the first answer to a request.
func (v *server) decide(ctx context.Context, _ *adapters.Session, r *adapters.Request, d adapters.Decision) error {
	option := map[adapters.Verdict]string{adapters.AllowOnce: allowOnce, adapters.Reply: allowOnce, adapters.Deny: "cancel"}[d.Verdict]
	content := map[string]any{"outcome": map[string]string{"outcome": "selected", "optionId": option}}
	if d.Verdict == adapters.Reply {
		content["answers"] = kit.Answers(r, d)
	}
	_, err := v.order(ctx, http.MethodPost, "/permission/"+url.PathEscape(r.ID), content)
	if refused, is := errors.AsType[*kit.StatusError](err); is && refused.Code == http.StatusNotFound {
		return adapters.ErrNotPending
	}
	return err
}

// prompt implements channel. The server begins with the prompt when its turn is over.
func (v *server) prompt(ctx context.Context, _ *adapters.Session, text string) error {
	_, err := v.order(ctx, http.MethodPost, "/prompt", map[string]any{"prompt": []any{map[string]string{"type": "text", "text": text}}})
	return err
}

// CanStop implements adapters.StopChecker.
func (a *Adapter) CanStop(_ context.Context, s adapters.Session) error {
	_, err := a.serverOf(&s)
	return err
}

// Stop implements adapters.Stopper for the sessions of `qwen serve`, which continues to run.
func (a *Adapter) Stop(ctx context.Context, s adapters.Session) error {
	v, err := a.serverOf(&s)
	if err == nil {
		_, err = v.order(ctx, http.MethodPost, "/cancel", nil)
	}
	return err
}

// askServers asks the servers of sessions with an open call whether these wait for the user. What a server does not say, the file decides. It
// reports whether there is such a session.
func (d *discovery) askServers() bool {
	var open []*session
	for _, s := range d.sessions {
		if s.owner != nil && s.owner.serves && s.turn.state == called && kit.Asked(d.Query, s.id) && len(open) < maxAsked {
			open = append(open, s)
		}
	}
	ctx, cancel := context.WithTimeout(d.Ctx, askLimit)
	defer cancel()
	agentfile.Parallel(len(open), func(i int) {
		if v, err := d.serverOf(&adapters.Session{ID: open[i].id, Owner: adapters.Owner{Process: open[i].owner.Identity, Shared: true}}); err == nil {
			open[i].status, _ = v.order(ctx, http.MethodGet, "/status", nil) // nil: not known
		}
	})
	return len(open) > 0
}
