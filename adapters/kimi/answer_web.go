package kimi

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/netip"
	"net/url"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"rollcall/adapters"
	"rollcall/adapters/internal/agentfile"
	"rollcall/adapters/internal/kit"
	"rollcall/adapters/internal/pane"
	"rollcall/adapters/internal/schema"
)

var _ adapters.Answerer = (*Adapter)(nil)

const (
	connectLimit = time.Second
	orderLimit   = 5 * time.Second
	maxAskLines  = 5000 // lines of a turn in which requests are looked for
)

// Pending implements adapters.Answerer: the requests are those that the session's file records, whole. `kimi web` takes answers to those of the sessions that it
// holds, and a pane of tmux or kitty the number of an option.
func (a *Adapter) Pending(ctx context.Context, s adapters.Session) ([]adapters.Request, error) {
	list, _, err := a.pending(ctx, &s)
	return list, err
}

// pending returns the requests that a session's file records, and the one of them that a pane shows, if that takes the answer.
func (a *Adapter) pending(ctx context.Context, s *adapters.Session) ([]adapters.Request, *pane.Shown, error) {
	if s.Status != adapters.Waiting || len(s.Files) == 0 {
		return nil, nil, nil
	}
	list, err := readRequests(ctx, s)
	if err != nil {
		return nil, nil, fmt.Errorf("%w: %w", adapters.ErrAnswerElsewhere, err)
	}
	if _, err := a.serverOf(s); err == nil {
		return list, nil, nil
	}
	shown, err := a.inTerminal(ctx, s, list)
	if err != nil {
		for i := range list {
			list[i].CanAllow, list[i].CanDeny = false, false
			list[i].Where = "its terminal"
		}
	}
	return list, shown, err
}

// readRequests returns the requests without an answer in the last turn of a session, or of a sub-agent.
func readRequests(ctx context.Context, s *adapters.Session) (list []adapters.Request, err error) {
	path := wireOf(s)
	if path == "" {
		return nil, nil
	}
	over, left := map[string]bool{}, maxAskLines
	err = agentfile.LastLines(ctx, path, func(line []byte) bool {
		left--
		id := agentfile.String(agentfile.Get(line, "id"))
		switch string(agentfile.Text(agentfile.Get(line, "type"))) {
		case "interaction.resolved":
			over[id] = true
		case "interaction.request":
			if !over[id] && string(agentfile.Text(agentfile.Get(line, "kind"))) != "user_tool" {
				list = append(list, requestOf(s, id, line))
			}
		case "turn.prompt":
			return false
		}
		return left > 0
	})
	slices.Reverse(list)
	return list, err
}

// saysTitle is the title of what a command says of itself.
const saysTitle = "Description"

// requestMembers are those of a record interaction.request, and displayMembers what it shows of a command and of a plan (2.1.0, recordings). The description is
// the model's own.
var (
	requestMembers = schema.Table{"type": schema.Named, "agentId": schema.Named, "id": schema.Named, "kind": schema.Named, "toolCallId": schema.Named, "time": schema.Named,
		"request": schema.Object(schema.Table{"id": schema.Named, "sessionId": schema.Named, "agentId": schema.Named, "turnId": schema.Named, "toolCallId": schema.Named,
			"toolName": schema.Shown, "action": schema.Beside("Action"), "display": schema.Whole, "questions": schema.Whole})}
	displayMembers = map[string]schema.Table{
		"command": {"kind": schema.Named, "command": schema.Shown, "cwd": schema.Shown, "language": schema.Shown, "description": schema.Beside(saysTitle)},
		"plan_review": {"kind": schema.Named, "plan": schema.Shown, "path": schema.Beside("Plan"),
			"options": schema.Ignored("a plan that offers several ways can't be allowed here")},
	}
)

// requestOf returns a request as its record has it.
func requestOf(s *adapters.Session, id string, line []byte) adapters.Request {
	asked := agentfile.Get(line, "request")
	display, tool := agentfile.Get(asked, "display"), agentfile.String(agentfile.Get(asked, "toolName"))
	r := adapters.Request{Agent: Name, Session: s.ID, ID: id, Kind: adapters.AsksPermission, AskedAt: millis(agentfile.Get(line, "time")), Where: "kimi web",
		CanAllow: true, CanDeny: true}
	kind := string(agentfile.Text(agentfile.Get(display, "kind")))
	switch {
	case string(agentfile.Text(agentfile.Get(line, "kind"))) != "approval":
		r.Kind = adapters.AsksQuestion
		r.Text = kit.Indented(agentfile.Get(asked, "questions"))
		r.CanAllow, r.CanDeny = false, false
	case kind == "command" && tool == "Bash":
		r.Kind = adapters.AsksCommand
		r.Text = agentfile.String(agentfile.Get(display, "command"))
		r.Folder = agentfile.String(agentfile.Get(display, "cwd"))
	case kind == "plan_review":
		r.Kind = adapters.AsksPlan
		r.Text = agentfile.String(agentfile.Get(display, "plan"))
		r.CanAllow = agentfile.Null(agentfile.Get(display, "options"))
	default:
		r.Text = tool + "\n" + kit.Indented(display)
	}
	if table, known := displayMembers[kind]; known && r.Kind != adapters.AsksPermission {
		table.Check(&r, "request.display", display)
	}
	requestMembers.Check(&r, "", line)
	r.CanAllow = r.CanAllow && r.Text != ""
	return r
}

var errNoServer = errors.New("no server has the session")

// serverOf returns the server that holds a session, if its process listens where the registry says. Nothing is sent to any other process.
func (a *Adapter) serverOf(s *adapters.Session) (*kit.Service, error) {
	if !s.Shared || s.Process.IsZero() {
		return nil, errNoServer
	}
	dir := filepath.Join(s.Home, "server", "instances")
	entries, err := agentfile.Entries(context.Background(), dir)
	for _, e := range entries {
		data, _, err := agentfile.ReadSmall(filepath.Join(dir, e.Name()), 64<<10)
		pid, _ := agentfile.Int(agentfile.Get(data, "pid"))
		port, _ := agentfile.Int(agentfile.Get(data, "port"))
		if err != nil || pid != int64(s.Process.PID) {
			continue
		}
		base := kit.Loopback(agentfile.String(agentfile.Get(data, "host")), int(port))
		serves := func(at netip.AddrPort) error { return a.serves(at, s.Process) }
		if at, err := netip.ParseAddrPort(strings.TrimPrefix(base, "http://")); err != nil || serves(at) != nil {
			continue
		}
		token, err := readToken(filepath.Join(s.Home, "server.token"))
		if err != nil {
			return nil, err
		}
		return &kit.Service{Client: kit.PeerClient("the token of kimi web was not sent", connectLimit, orderLimit, serves), Base: base, Token: token}, nil
	}
	if err != nil {
		return nil, err
	}
	return nil, fmt.Errorf("process %d does not listen on this machine where its registry says: use its page", s.Process.PID)
}

// readToken returns the token of the servers of a home, from a file that only the user can read.
func readToken(path string) (string, error) {
	data, info, err := agentfile.ReadSmall(path, 4<<10)
	if err != nil {
		return "", err
	}
	if info.Mode().Perm()&0o077 != 0 {
		return "", fmt.Errorf("%s can be read by others, so it is not used", path)
	}
	return strings.TrimSpace(string(data)), nil
}

// alreadyResolved is the code of a request that was answered before (2.1.0).
const alreadyResolved = 40902

// Answer implements adapters.Answerer: of several answers to a request the first one counts.
func (a *Adapter) Answer(ctx context.Context, s adapters.Session, asked adapters.Request, d adapters.Decision) (none adapters.Result, err error) {
	if err := d.Check(&asked); err != nil {
		return none, err
	}
	list, shown, err := a.pending(ctx, &s)
	if err != nil {
		return none, err
	}
	r, err := adapters.Match(list, &asked)
	if err != nil {
		return none, err
	}
	if shown != nil {
		return shown.Decide(ctx, &r, d.Verdict, func() pane.Decided { return decidedOn(ctx, &s, r.ID) })
	}
	v, err := a.serverOf(&s)
	if err != nil {
		return none, fmt.Errorf("%w: %w", adapters.ErrAnswerElsewhere, err)
	}
	decision := map[adapters.Verdict]string{adapters.AllowOnce: "approved", adapters.Deny: "rejected"}[d.Verdict]
	body, err := v.Do(ctx, http.MethodPost, "/api/v1/sessions/"+url.PathEscape(mainID(s.ID))+"/approvals/"+url.PathEscape(r.ID), map[string]string{"decision": decision})
	code, _ := agentfile.Int(agentfile.Get(body, "code"))
	refused, _ := errors.AsType[*kit.StatusError](err)
	switch {
	case code == alreadyResolved, refused != nil && (refused.Code == http.StatusConflict || refused.Code == http.StatusNotFound):
		return none, adapters.ErrNotPending
	case err != nil && (refused != nil || !kit.WasSent(err)):
		return none, fmt.Errorf("%w: kimi web at %s: %w", adapters.ErrAnswerElsewhere, v.Base, err)
	case err != nil:
		return none, fmt.Errorf("%w: kimi web at %s: %w", adapters.ErrUnconfirmed, v.Base, err)
	case code != 0:
		return none, fmt.Errorf("%w: kimi web answered with the code %d", adapters.ErrUnconfirmed, code)
	}
	return adapters.Result{Confirmed: true, Evidence: "kimi web took the decision"}, nil
}
