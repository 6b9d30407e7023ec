package opencode

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"

	"rollcall/adapters"
)

// Stop implements adapters.Stopper: the session's own server is asked to abort
// the turn. Only `opencode serve`, `web`, and a terminal interface with --port
// have one.
func (a *Adapter) Stop(ctx context.Context, s adapters.Session) error {
	c, err := a.serverOf(ctx, s)
	if errors.Is(err, errNoServer) && !errors.Is(err, errElsewhere) {
		return fmt.Errorf("%w (press Esc %s, or end the process)", err, s.Where())
	}
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, orderLimit)
	defer cancel()
	path := "/session/" + url.PathEscape(s.ID) + "/abort" + inFolder(s)
	if c.next {
		path = "/api/session/" + url.PathEscape(s.ID) + "/interrupt"
	}
	if _, err := c.request(ctx, http.MethodPost, path, nil); err != nil {
		return c.serverProblem(err)
	}
	return nil
}

// livesIn returns why a session in `opencode acp` can't be given orders.
func (a *Adapter) livesIn(h *host) error {
	where := "the program that started it"
	if p, err := a.Table.Find(h.PPID); err == nil {
		where = fmt.Sprintf("%s (process %d)", p.Comm, p.PID)
	}
	return fmt.Errorf("%w: it lives in %s, which alone gives it orders", errElsewhere, where)
}

// clientOf returns a client for the server in a process. sure is false for one that may listen at
// another address.
func (a *Adapter) clientOf(c census, h *host) (client *serverClient, sure bool, err error) {
	if h.service {
		client, err := a.service(h)
		return client, true, err
	}
	base, sure := c.address(h)
	if base == "" {
		return nil, false, errNoServer
	}
	return a.client(h, base), sure, nil
}

// probe learns whether a server is one of OpenCode 2, and which process it says that it is.
func (c *serverClient) probe(ctx context.Context, s adapters.Session) error {
	var status map[string]serverStatus
	if !c.next {
		c.next = errors.Is(c.get(ctx, "/session/status"+inFolder(s), &status), errNotFound)
	}
	if !c.next {
		return nil
	}
	if err := c.identify(ctx); err != nil {
		return c.serverProblem(err)
	}
	return nil
}

// inFolder returns the query that names the folder of a session.
func inFolder(s adapters.Session) string { return "?directory=" + url.QueryEscape(s.CWD) }

var (
	// errNoServer reports that the process of a session listens on no port.
	errNoServer = errors.New("it has no server")
	// errElsewhere reports that the process belongs to a program that gives it orders.
	errElsewhere = fmt.Errorf("%w for others", errNoServer)
)

// CanStop returns nil if Stop reaches the process of a session, and otherwise why not. Nothing is
// sent.
func (a *Adapter) CanStop(ctx context.Context, s adapters.Session) error {
	_, err := a.findServer(ctx, s)
	return err
}

// serverOf returns a client for the server in the process of a session.
func (a *Adapter) serverOf(ctx context.Context, s adapters.Session) (*serverClient, error) {
	c, err := a.findServer(ctx, s)
	if err != nil {
		return nil, err
	}
	return c, c.probe(ctx, s)
}

// findServer is serverOf without a request to the server.
func (a *Adapter) findServer(ctx context.Context, s adapters.Session) (*serverClient, error) {
	if s.Process.IsZero() {
		return nil, errors.New("no process runs this session")
	}
	c, err := a.takeCensus(ctx)
	if err != nil && len(c.hosts) == 0 {
		return nil, err
	}
	for _, h := range c.hosts {
		if h.Identity != s.Process {
			continue
		}
		client, _, err := a.clientOf(c, h)
		if h.command == "acp" {
			err = a.livesIn(h)
		}
		if err != nil {
			return nil, fmt.Errorf("process %d of this session can't be asked: %w", h.PID, err)
		}
		return client, nil
	}
	return nil, fmt.Errorf("process %d of this session is gone", s.Process.PID)
}

// Attach implements adapters.Attacher for sessions of a process that serves on a port of this machine: `opencode attach URL
// --session ID` (1.1.65 to 1.18.33). A password must be in a variable of the terminal's environment.
func (a *Adapter) Attach(ctx context.Context, program string, s adapters.Session) (adapters.Command, error) {
	c, err := a.serverOf(ctx, s)
	if err == nil && c.next {
		err = errors.New("it is in OpenCode's service: opencode --session " + s.ID + " shows it")
	}
	if err != nil {
		return adapters.Command{}, fmt.Errorf("%w: %w", adapters.ErrNoAttach, err)
	}
	args := []string{"attach", c.Base, "--session", s.ID}
	if s.CWD != "" {
		args = append(args, "--dir", s.CWD)
	}
	return adapters.Command{Path: program, Args: args, Session: s.ID}, nil
}
