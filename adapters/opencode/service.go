package opencode

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"net/netip"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"golang.org/x/mod/semver"

	"rollcall/adapters"
	"rollcall/adapters/internal/agentfile"
	"rollcall/adapters/internal/kit"
	"rollcall/bounded"
)

// OpenCode 2 runs all sessions of a user in one background service. It registers itself in a file
// with its address and password. Its interface is below /api. The preview was run (1.18.18); what
// differs in 2.0 was read in its source.

const registrationLimit = 64 << 10

// registration is the file in which a service registers itself.
type registration struct {
	URL      string `json:"url"`
	Version  string `json:"version"`
	PID      int    `json:"pid"`
	Password string `json:"password"` // 2.0; that of the preview is in a file of its own

	folder string // of the file
}

// registered reads the file in which a service registered itself, in the state folder that its
// environment names. It must name this process.
func (h *host) registered() (r registration, info fs.FileInfo, err error) {
	state := h.state
	if !filepath.IsAbs(state) {
		state = filepath.Join(h.Home, ".local", "state")
	}
	folder := filepath.Join(state, h.product.HomeFolder)
	if !filepath.IsAbs(folder) || !bounded.Answers(folder) {
		return r, nil, fmt.Errorf("the state folder of process %d is not known: %w", h.PID, errNoServer)
	}
	files, err := fs.Glob(os.DirFS(folder), "service*.json")
	if err != nil {
		return r, nil, err
	}
	for _, name := range append(files, "server.json") {
		r = registration{folder: folder}
		text, info, err := agentfile.ReadSmall(filepath.Join(folder, name), registrationLimit)
		if err == nil && json.Unmarshal(text, &r) == nil && r.PID == h.PID {
			return r, info, nil
		}
	}
	return r, nil, fmt.Errorf("process %d is registered in no file of %s: %w", h.PID, folder, errNoServer)
}

// registration returns the registration of a service with its password, from a file that only its user can read and write.
func (h *host) registration() (registration, error) {
	r, info, err := h.registered()
	if err == nil && !agentfile.IsPrivate(info) {
		err = fmt.Errorf("others can read or write the registration of process %d in %s: %w", h.PID, r.folder, errNoServer)
	}
	if err == nil && r.Password == "" {
		var text []byte
		text, err = agentfile.ReadPrivate(filepath.Join(r.folder, "password"), registrationLimit)
		r.Password = strings.TrimSpace(string(text))
	}
	if err != nil {
		return registration{}, err
	}
	return r, r.check()
}

// check reports an address that is not one of this machine.
func (r *registration) check() error {
	place, isHTTP := strings.CutPrefix(strings.TrimSuffix(r.URL, "/"), "http://")
	if at, err := netip.ParseAddrPort(place); isHTTP && err == nil && at.Addr().IsLoopback() {
		r.URL = "http://" + place
		return nil
	}
	return fmt.Errorf("%w: it registered the address %.100q, which is not one of this machine", errAnswer, r.URL)
}

// service returns a client for a background service.
func (a *Adapter) service(h *host) (*serverClient, error) {
	r, err := h.registration()
	if err != nil {
		return nil, err
	}
	return &serverClient{Service: kit.Service{Client: a.httpClient(h.Identity), Base: r.URL, User: defaultUser, Password: r.Password}, product: a.product,
		next: true, pid: h.PID, version: r.Version}, nil
}

// getNext gets the data of an answer below /api/session.
func (c *serverClient) getNext(ctx context.Context, path string, into any) error {
	return c.get(ctx, "/api/session/"+path, &struct {
		Data any `json:"data"`
	}{into})
}

// identify checks that the service which responds is the process that was registered, and learns
// its version. The preview does not say which process it is.
func (c *serverClient) identify(ctx context.Context) error {
	var info struct {
		PID     int    `json:"pid"`
		Version string `json:"version"`
	}
	err := c.get(ctx, "/api/info", &info)
	switch {
	case errors.Is(err, errNotFound):
		return nil
	case err == nil && info.PID != 0 && info.PID != c.pid:
		return fmt.Errorf("%w: it says that it is process %d, not %d", errAnswer, info.PID, c.pid)
	}
	c.version = cmp.Or(info.Version, c.version)
	return err
}

// since reports whether the server is of that version or a later one. The preview calls itself 1.18.
func (c *serverClient) since(version string) bool { return semver.Compare("v"+c.version, version) >= 0 }

// maxAsked is the number of sessions about whose requests one service is asked.
const maxAsked = 32

// askNext asks what a server of OpenCode 2 does. calls lists the sessions that may wait for an
// answer: those with an open call.
func (c *serverClient) askNext(ctx context.Context, s *serverAnswer, calls []string) error {
	var active map[string]struct {
		Type string `json:"type"`
	}
	if err := c.getNext(ctx, "active", &active); err != nil {
		return err
	}
	s.next = true
	for id, a := range active {
		s.status[id] = serverStatus{Type: map[bool]string{true: "busy", false: a.Type}[a.Type == "running"]}
	}
	asked := 0
	for _, id := range calls {
		if !s.names(id) || asked >= maxAsked {
			continue
		}
		asked++
		permissions, questions, err := c.openNext(ctx, id)
		if err != nil {
			return err
		}
		for _, p := range permissions {
			s.permissions[id] = cmp.Or(p.Permission, p.ID)
		}
		for _, q := range questions {
			s.questions[id], s.forms[id] = q.ID, q.form
		}
	}
	return nil
}

// openNext returns what waits for an answer in a session. Questions are called forms since 2.0.
func (c *serverClient) openNext(ctx context.Context, session string) (permissions []permission, questions []question, err error) {
	var group sync.WaitGroup
	var failed error
	at := url.PathEscape(session)
	group.Go(func() {
		failed = c.getNext(ctx, at+"/question", &questions)
		form := errors.Is(failed, errNotFound)
		if form {
			failed = c.getNext(ctx, at+"/form", &questions)
		}
		for i := range questions {
			questions[i].Session, questions[i].form = cmp.Or(questions[i].Session, session), form
		}
	})
	err = c.getNext(ctx, at+"/permission", &permissions)
	group.Wait()
	for i := range permissions {
		p := &permissions[i]
		p.Session, p.Permission = cmp.Or(p.Session, session), cmp.Or(p.Permission, p.Action)
		if len(p.Patterns) == 0 {
			p.Patterns = p.Resources
		}
	}
	return permissions, questions, cmp.Or(err, failed)
}

// addCalls adds to permissions what their calls would do: the permission itself names patterns only.
func (c *serverClient) addCalls(ctx context.Context, session string, permissions []permission) error {
	if len(permissions) == 0 {
		return nil
	}
	var messages []struct {
		Parts []nextPart `json:"content"`
	}
	if err := c.getNext(ctx, url.PathEscape(session)+"/message", &messages); err != nil {
		return err
	}
	for i := range permissions {
		for _, m := range messages {
			for j := range m.Parts {
				if p := &m.Parts[j]; p.Type == "tool" && p.ID != "" && p.ID == cmp.Or(permissions[i].Source.Call, permissions[i].Source.ID) {
					permissions[i].input = p.State.Input
				}
			}
		}
	}
	return nil
}

// replyNext is reply for OpenCode 2.
func (c *serverClient) replyNext(r *adapters.Request, d adapters.Decision) (path string, content any) {
	at := "/api/session/" + url.PathEscape(r.Session)
	switch {
	case r.Kind == adapters.AsksQuestion && strings.HasPrefix(r.ID, formPrefix):
		at += "/form/" + url.PathEscape(r.ID)
		if d.Verdict == adapters.Deny {
			return at + "/cancel", map[string]any{}
		}
		return at + "/reply", map[string]any{"answer": formAnswer(r, d)}
	case r.Kind == adapters.AsksQuestion:
		path, content = reply(r, d)
		return at + path, content
	}
	path, content = reply(r, d)
	answer, _ := content.(map[string]string)
	if c.since("v2.0.10") {
		answer["decision"] = answer["reply"]
		delete(answer, "reply")
	}
	return at + path, answer
}

const (
	// formPrefix begins the ids of forms, which ask the questions of 2.0.
	formPrefix = "frm_"
	// formName is where a form is filled in that has other fields than questions: it can only be cancelled from here.
	formName = "OpenCode's terminal"
)

// formAnswer returns what a decision fills into the fields of a form.
func formAnswer(r *adapters.Request, d adapters.Decision) map[string]any {
	answer := map[string]any{}
	for i, q := range r.Questions {
		if q.Several {
			answer[q.ID] = d.Answers[i]
		} else {
			answer[q.ID] = d.Answers[i][0]
		}
	}
	return answer
}

// ownService returns a client for the background service of this user's home, nil unless there is one of 2.0 that answers.
func (a *Adapter) ownService(ctx context.Context) (found *serverClient) {
	c, _ := a.takeCensus(ctx) // a service that is missing is not used
	for _, h := range c.hosts {
		if !h.service || filepath.Clean(h.Home) != filepath.Clean(a.Home) {
			continue
		}
		client, err := a.service(h)
		if err != nil || client.identify(ctx) != nil || !isNext("v"+client.version) || found != nil {
			return nil
		}
		found = client
	}
	return found
}

// create makes a session with an id that the caller chose. A service that has it already makes no other one.
func (c *serverClient) create(ctx context.Context, id, dir string) error {
	ctx, cancel := context.WithTimeout(ctx, orderLimit)
	defer cancel()
	body, err := c.request(ctx, http.MethodPost, "/api/session", map[string]any{"id": id, "location": map[string]string{"directory": dir}})
	var made struct {
		Data struct {
			ID string `json:"id"`
		} `json:"data"`
	}
	if err == nil && (json.Unmarshal(body, &made) != nil || made.Data.ID != id) {
		err = fmt.Errorf("%w: it made another session than %s", errAnswer, id)
	}
	if err != nil {
		return fmt.Errorf("OpenCode's service did not make the session: %w", c.serverProblem(err))
	}
	return nil
}

// promptNext gives a session of OpenCode 2 a prompt. It begins at once unless a turn is open and
// queue is set.
func (c *serverClient) promptNext(ctx context.Context, session, text string, queue bool) error {
	prompt := map[string]any{"text": text}
	if !c.since("v2.0.0") {
		prompt = map[string]any{"prompt": prompt}
	}
	if queue {
		prompt["delivery"] = "queue"
	}
	_, err := c.request(ctx, http.MethodPost, "/api/session/"+url.PathEscape(session)+"/prompt", prompt)
	return err
}
