package opencode

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"rollcall/adapters"
	"rollcall/adapters/internal/kit"
	"rollcall/proc"
)

// serverAnswer holds the answers of the server in one process. They decide for that process's
// own sessions, in the folders that were asked about, and hold nothing about others.
type serverAnswer struct {
	status      map[string]serverStatus // those that aren't idle
	permissions map[string]string       // by session: the permission that is requested
	questions   map[string]string       // by session: the request
	forms       map[string]bool         // the sessions whose request is a form of 2.0
	asked       map[string]bool         // folders
	partial     bool                    // not every folder was answered for
	next        bool                    // it answers for all sessions of OpenCode 2
}

// serverStatus is an entry of /session/status (1.1.65 to 1.18.33).
type serverStatus struct {
	Type    string `json:"type"`
	Attempt int    `json:"attempt"`
	Message string `json:"message"`
	// Next is when a retry begins, and Action what OpenCode then asks the user to do (1.18.33).
	Next   millis          `json:"next"`
	Action json.RawMessage `json:"action"`
}

// names reports whether the server lists a session as busy.
func (s *serverAnswer) names(id string) bool {
	_, busy := s.status[id]
	return busy
}

const (
	askLimit = time.Second // time limit for all questions to one server
	// orderLimit is how long a server may take to carry out an order: an answer, a prompt, an abort.
	orderLimit = 10 * time.Second
	maxFolders = 8 // folders that one server is asked about
	// defaultPort is the port that a server without --port uses if it is free
	// (1.18.33).
	defaultPort = 4096
)

// serverClient asks the server of one process.
type serverClient struct {
	kit.Service
	product *Product
	next    bool   // it is a server of OpenCode 2
	version string // of such a server, as far as it is known
	pid     int    // of such a server
}

// client returns a client for the server of one process. It connects only to this
// machine and follows no redirect. Over each connection it sends the password and the
// names of folders only when that process has accepted the connection. The password is
// the one with which Rollcall launched the process, or else the one in Rollcall's own
// environment, if any.
func (a *Adapter) client(h *host, base string) *serverClient {
	c := &serverClient{Service: kit.Service{Client: a.httpClient(h.Identity), Base: base, User: defaultUser, Password: a.password(h.Identity)}, product: a.product, pid: h.PID}
	if c.Password == "" {
		c.User, c.Password = cmp.Or(a.Env(a.product.user()), a.product.HomeFolder), a.Env(a.product.password())
	}
	return c
}

// defaultUser is the name that Rollcall sets for the servers that it launches, and that OpenCode's own service expects. Without a variable, a server expects the
// name of its product (OpenCode 1.18.33, Kilo 7.7.9).
const defaultUser = "opencode"

func (a *Adapter) httpClient(id proc.Identity) *http.Client {
	return kit.PeerClient("nothing was sent", askLimit, orderLimit, func(at netip.AddrPort) error { return a.serves(at, id) })
}

// address returns the address at which a process serves, and "" if that isn't known.
// sure is false for the default port, on which a process without --port may listen if
// no other such process runs.
func (c census) address(h *host) (base string, sure bool) {
	if !h.listen {
		return "", false
	}
	port := h.port
	if port <= 0 || port > 65535 {
		for _, o := range c.hosts {
			if o != h && o.listen && (o.port == 0 || o.port == defaultPort) {
				return "", false
			}
		}
		port = defaultPort
	}
	base = kit.Loopback(h.name, port)
	return base, base != "" && h.port > 0
}

// askServers asks the servers of a root's processes about the folders of sessions.
func (d *discovery) askServers(ctx context.Context, r *root, sessions map[string]*facts) map[*host]*serverAnswer {
	folders, calls := foldersOf(sessions, r.hosts, r.oldest()), openCalls(sessions)
	answers := map[*host]*serverAnswer{}
	var mu sync.Mutex
	var wait sync.WaitGroup
	for _, h := range r.hosts {
		client, sure, err := d.adapter.clientOf(d.census, h)
		if h.service && err != nil && !errors.Is(err, errNoServer) {
			d.answer.Problem((&serverClient{product: h.product, Service: kit.Service{Base: fmt.Sprintf("the service of process %d", h.PID)}}).serverProblem(err))
		}
		if client == nil {
			continue
		}
		ask := folders
		if h.role != server { // a terminal interface serves its own folder
			ask = nil
			if h.CWD != "" {
				ask = []string{h.Folder()}
			}
		}
		if len(ask) == 0 && !h.service {
			continue
		}
		wait.Go(func() {
			s, err := client.ask(ctx, ask, calls)
			mu.Lock()
			defer mu.Unlock()
			switch {
			case err == nil:
				answers[h] = s
			case sure && ctx.Err() == nil && d.adapter.Table.Alive(h.Identity) && d.now.Sub(h.Started) > startLimit:
				d.answer.Problem(client.serverProblem(err))
			}
		})
	}
	wait.Wait()
	return answers
}

func (c *serverClient) serverProblem(err error) error {
	p := &adapters.Problem{Kind: adapters.ErrUnreadable, Path: c.Base, Err: err,
		Fix: "the status of its sessions is derived from its stored files alone"}
	var timeout net.Error
	var listener *kit.ListenerError
	switch {
	case errors.As(err, &listener):
		p.Err = listener
	case errors.Is(err, errPassword):
		p.Fix = "set " + c.product.password() + " to the server's password in Rollcall's environment"
	case errors.As(err, &timeout) && timeout.Timeout():
		p.Kind = adapters.ErrTimeout
	case errors.Is(err, errAnswer):
		p.Kind = adapters.ErrFormat
	}
	return p
}

var (
	// errPassword reports that the server asks for a password.
	errPassword = errors.New("it asks for a password")
	errAnswer   = errors.New("not an answer of OpenCode's")
	// errNotFound reports that the server does not know what it was asked about.
	errNotFound = errors.New("not known there")
)

// openCalls returns the sessions of OpenCode 2 with a call that has not ended.
func openCalls(sessions map[string]*facts) (ids []string) {
	for id, f := range sessions {
		if f.next != nil && len(f.calls) > 0 {
			ids = append(ids, id)
		}
	}
	slices.Sort(ids)
	return ids
}

// ask asks what the process does in each of the folders, or in all of them where it is a server of
// OpenCode 2. calls lists the sessions that may wait for an answer.
func (c *serverClient) ask(ctx context.Context, folders, calls []string) (*serverAnswer, error) {
	ctx, cancel := context.WithTimeout(ctx, askLimit)
	defer cancel()
	s := &serverAnswer{status: map[string]serverStatus{}, permissions: map[string]string{}, questions: map[string]string{}, forms: map[string]bool{},
		asked: map[string]bool{}}
	if c.next {
		err := c.identify(ctx)
		if err == nil {
			err = c.askNext(ctx, s, calls)
		}
		return s, err
	}
	if len(folders) > maxFolders {
		folders, s.partial = folders[:maxFolders], true
	}
	for _, folder := range folders {
		query := "?directory=" + url.QueryEscape(folder)
		status := map[string]serverStatus{}
		err := c.get(ctx, "/session/status"+query, &status)
		if errors.Is(err, errNotFound) && len(s.asked) == 0 { // 2.0 has paths below /api only
			c.next = true
			return c.ask(ctx, nil, calls)
		}
		if err != nil {
			return nil, err
		}
		s.asked[filepath.Clean(folder)] = true
		if len(status) == 0 {
			continue // a session that isn't busy has no open request
		}
		permissions, questions, err := c.open(ctx, query)
		if err != nil {
			return nil, err
		}
		maps.Copy(s.status, status)
		for _, p := range permissions {
			s.permissions[p.Session] = cmp.Or(p.Permission, p.ID)
		}
		for _, q := range questions {
			s.questions[q.Session] = q.ID
		}
	}
	return s, nil
}

// open returns what waits for an answer in a folder. It asks for both lists at the same time: each answer takes 10 to 30 ms (1.18.33).
func (c *serverClient) open(ctx context.Context, query string) (permissions []permission, questions []question, err error) {
	var group sync.WaitGroup
	var failed error
	group.Go(func() { failed = c.get(ctx, "/question"+query, &questions) })
	err = c.get(ctx, "/permission"+query, &permissions)
	group.Wait()
	return permissions, questions, cmp.Or(err, failed)
}

func (c *serverClient) get(ctx context.Context, path string, into any) error {
	body, err := c.request(ctx, http.MethodGet, path, nil)
	if err != nil {
		return err
	}
	if err := json.Unmarshal(body, into); err != nil {
		return fmt.Errorf("%w: %w", errAnswer, err)
	}
	return nil
}

// request sends a request to the server, with content as JSON unless it is nil.
func (c *serverClient) request(ctx context.Context, method, path string, content any) ([]byte, error) {
	body, err := c.Do(ctx, method, path, content)
	switch refused, is := errors.AsType[*kit.StatusError](err); {
	case !is:
		return body, err
	case refused.Code == http.StatusUnauthorized || refused.Code == http.StatusForbidden:
		return nil, errPassword
	case refused.Code == http.StatusNotFound:
		return nil, fmt.Errorf("%w: %w: %s", errAnswer, errNotFound, refused.Text)
	default:
		return nil, fmt.Errorf("%w: %s", errAnswer, refused.Text)
	}
}
