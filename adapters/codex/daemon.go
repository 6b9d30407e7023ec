package codex

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"time"

	"github.com/coder/websocket"

	"rollcall/adapters"
	"rollcall/adapters/internal/agentfile"
	"rollcall/adapters/internal/kit"
	"rollcall/proc/localsocket"
)

const (
	// daemonLimit is the time that the shared daemon may take to answer. It runs on the
	// same machine, and the files give an answer without it.
	daemonLimit = time.Second
	// answerLimit bounds one message. A list of 100 threads has about 200 KB.
	answerLimit = 32 << 20
	pageSize    = 100
	maxPages    = 20
)

// threadStatus is the daemon's answer about a thread that it may have loaded.
type threadStatus struct {
	Type  string   `json:"type"` // idle, active, notLoaded, systemError
	Flags []string `json:"activeFlags"`
}

func (s threadStatus) has(flag string) bool { return slices.Contains(s.Flags, flag) }

// askDaemon asks the daemon of a root for the status of threads. It only lists them: no
// thread is loaded or subscribed to.
func askDaemon(ctx context.Context, root string, ids []string) (map[string]threadStatus, error) {
	path := socketIn(root)
	limited, cancel := context.WithTimeout(ctx, daemonLimit)
	defer cancel()
	var answer map[string]threadStatus
	c, err := connect(limited, path, nil)
	if err == nil {
		defer c.close()
		answer, err = c.list(limited, ids)
	}
	if err == nil || ctx.Err() != nil || errors.Is(err, fs.ErrNotExist) {
		// A cancelled context is no failure of the daemon, and a daemon that does not
		// listen hosts no thread.
		return answer, nil
	}
	return answer, daemonProblem(path, err, limited.Err() != nil)
}

func daemonProblem(path string, err error, late bool) error {
	const fix = "until it answers, approvals can't be distinguished from running commands"
	kind := adapters.ErrUnreadable
	var wrong *kit.FormatError
	switch {
	case late:
		kind, err = adapters.ErrTimeout, fmt.Errorf("the Codex daemon did not respond within %v", daemonLimit)
	case errors.As(err, &wrong):
		kind = adapters.ErrFormat
	}
	return &adapters.Problem{Kind: kind, Path: path, Err: err, Fix: fix}
}

// errForeign reports that the socket may belong to another user.
var errForeign = errors.New("the socket or its folder does not belong to you, so Rollcall does not connect to it")

// trustedSocket returns the target of the socket, which is a symbolic link into a
// folder with a short name. It returns errForeign unless both folders on the way belong
// to the user and other users can't write there.
func trustedSocket(path string) (string, error) {
	target, err := filepath.EvalSymlinks(path)
	if err != nil {
		return "", err
	}
	for _, p := range []string{filepath.Dir(path), filepath.Dir(target), target} {
		fi, err := os.Stat(p)
		if err != nil {
			return "", err
		}
		if !ownedByUser(fi) || fi.IsDir() && fi.Mode().Perm()&0o002 != 0 {
			return "", errForeign
		}
	}
	if fi, err := os.Stat(target); err != nil || fi.Mode()&fs.ModeSocket == 0 {
		return "", errors.Join(err, &kit.FormatError{Err: errors.New("not a socket")})
	}
	return target, nil
}

// ownedByUser reports whether a file belongs to the user. It returns false on Windows,
// where Rollcall connects to no socket.
func ownedByUser(info fs.FileInfo) bool {
	return runtime.GOOS != "windows" && agentfile.OwnedByUser(info)
}

// connect opens the daemon's socket and introduces Rollcall. capabilities are the daemon's term
// for what a client requests in addition to the common calls; nil: none. The caller closes the
// connection.
func connect(ctx context.Context, path string, capabilities map[string]any) (*client, error) {
	target, err := trustedSocket(path)
	if err != nil {
		return nil, err
	}
	transport := &http.Transport{DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return localsocket.Dial(ctx, target)
	}}
	defer transport.CloseIdleConnections()
	conn, _, err := websocket.Dial(ctx, "ws://localhost/", &websocket.DialOptions{
		HTTPClient: &http.Client{Transport: transport},
	})
	if err != nil {
		return nil, err
	}
	conn.SetReadLimit(answerLimit)
	c := &client{conn: conn}
	params := map[string]any{"clientInfo": map[string]string{"name": "rollcall", "title": "Rollcall", "version": "1"}}
	if capabilities != nil {
		params["capabilities"] = capabilities
	}
	_, err = c.call(ctx, "initialize", params)
	if err == nil {
		err = c.send(ctx, map[string]any{"method": "initialized"})
	}
	if err != nil {
		_ = conn.CloseNow()
		return nil, err
	}
	return c, nil
}

// page is the result of thread/list.
type page struct {
	Data []struct {
		ID     string        `json:"id"`
		Status *threadStatus `json:"status"`
	} `json:"data"`
	Next *string `json:"nextCursor"`
}

// parsePage reads the result of thread/list, as 0.169 gives it.
func parsePage(b []byte) (page, error) {
	var p page
	if err := json.Unmarshal(b, &p); err != nil {
		return page{}, &kit.FormatError{Err: fmt.Errorf("answer to thread/list: %w", err)}
	}
	for _, t := range p.Data {
		if t.ID == "" || t.Status == nil {
			return page{}, &kit.FormatError{Err: errors.New("thread/list names a thread without its id or status")}
		}
	}
	return p, nil
}

// list asks for the threads page by page, newest first, until all wanted threads were
// seen.
func (c *client) list(ctx context.Context, ids []string) (map[string]threadStatus, error) {
	missing := make(map[string]bool, len(ids))
	for _, id := range ids {
		missing[id] = true
	}
	found := map[string]threadStatus{}
	var cursor *string
	for range maxPages {
		result, err := c.call(ctx, "thread/list", map[string]any{
			"limit": pageSize, "cursor": cursor, "sortKey": "recency_at", "modelProviders": []string{},
			// By default a list leaves out sub-agents, and makes the daemon repair the
			// state database from the rollouts. This list must change nothing.
			"sourceKinds": []string{"cli", "vscode", "exec", "appServer", "subAgent", "subAgentReview",
				"subAgentCompact", "subAgentThreadSpawn", "subAgentOther", "unknown"},
			"useStateDbOnly": true,
		})
		if err != nil {
			return found, err
		}
		p, err := parsePage(result)
		if err != nil {
			return found, err
		}
		for _, t := range p.Data {
			if missing[t.ID] {
				found[t.ID] = *t.Status
				delete(missing, t.ID)
			}
		}
		if len(missing) == 0 || p.Next == nil || *p.Next == "" || len(p.Data) == 0 {
			break
		}
		cursor = p.Next
	}
	return found, nil
}

// client speaks JSON-RPC as Codex does: without the member "jsonrpc".
type client struct {
	conn *websocket.Conn
	last int
	// other, if not nil, is called with every message that answers no call.
	other func(message []byte)
}

// close ends the connection without a closing handshake: waiting for the daemon's reply could take seconds.
func (c *client) close() { _ = c.conn.CloseNow() }

func (c *client) send(ctx context.Context, message any) error {
	b, err := json.Marshal(message)
	if err != nil {
		return err
	}
	return c.conn.Write(ctx, websocket.MessageText, b)
}

// call sends a request and waits for its answer. A refusal of the daemon is a
// *refusedError.
func (c *client) call(ctx context.Context, method string, params any) (result []byte, err error) {
	c.last++
	if err := c.send(ctx, map[string]any{"id": c.last, "method": method, "params": params}); err != nil {
		return nil, err
	}
	for {
		_, b, err := c.conn.Read(ctx)
		if err != nil {
			return nil, err
		}
		result, mine, err := parseAnswer(b, c.last)
		if err != nil {
			return nil, &kit.FormatError{Err: fmt.Errorf("%s: %w", method, err)}
		}
		if mine {
			return result, nil
		}
		c.tell(b)
	}
}

// await reads messages until done returns true.
func (c *client) await(ctx context.Context, done func() bool) error {
	for !done() {
		_, b, err := c.conn.Read(ctx)
		if err != nil {
			return err
		}
		c.tell(b)
	}
	return nil
}

// tell passes on a message that answers no call.
func (c *client) tell(message []byte) {
	if c.other != nil {
		c.other(message)
	}
}

// parseAnswer reads a message. mine is false for a message that does not answer the request
// with that id.
func parseAnswer(b []byte, id int) (result []byte, mine bool, err error) {
	var m struct {
		ID     json.RawMessage `json:"id"`
		Method string          `json:"method"`
		Result json.RawMessage `json:"result"`
		Error  *struct {
			Code    int    `json:"code"`
			Message string `json:"message"`
		} `json:"error"`
	}
	if err := json.Unmarshal(b, &m); err != nil {
		return nil, false, err
	}
	if m.Method != "" || string(m.ID) != strconv.Itoa(id) {
		return nil, false, nil
	}
	if m.Error != nil {
		return nil, true, &refusedError{m.Error.Code, m.Error.Message}
	}
	return m.Result, true, nil
}

// refusedError is the error that the daemon answers a call with.
type refusedError struct {
	code    int
	message string
}

func (e *refusedError) Error() string { return fmt.Sprintf("refused: %d %.200s", e.code, e.message) }
