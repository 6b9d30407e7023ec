package openclaw

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/coder/websocket"

	"rollcall/adapters/internal/kit"
)

const (
	// minProtocol and maxProtocol are those of 2026.6.1 and of 2026.9.6.
	minProtocol = 4
	maxProtocol = 4
	// frameLimit is the largest size of one message in bytes. A page of sessions has
	// about 3 MB.
	frameLimit = 32 << 20
	// writeLimit is the time that a request may take to be sent. It has a few hundred bytes, which the system takes at once unless thousands wait.
	writeLimit = 3 * time.Second

	scopeRead  = "operator.read"
	scopeAdmin = "operator.admin"
)

// hello is a gateway's description of itself.
type hello struct {
	Protocol int `json:"protocol"`
	Server   struct {
		Version string `json:"version"`
	} `json:"server"`
	Features struct {
		Methods []string `json:"methods"`
	} `json:"features"`
	Auth struct {
		Scopes []string `json:"scopes"`
	} `json:"auth"`
	Policy struct {
		TickIntervalMs float64 `json:"tickIntervalMs"`
	} `json:"policy"`
}

// has reports whether the gateway has a method. It returns true if the list of methods
// is empty: a gateway may shorten the list, although no version was seen to do so.
func (h *hello) has(method string) bool {
	return len(h.Features.Methods) == 0 || slices.Contains(h.Features.Methods, method)
}

// granted reports whether a scope was granted. 2026.2.26 doesn't list the granted
// scopes.
func (h *hello) granted(scope string) bool {
	return h.Auth.Scopes == nil || slices.Contains(h.Auth.Scopes, scope) || slices.Contains(h.Auth.Scopes, scopeAdmin)
}

// client is one connection to a gateway. Its methods may be called on any
// goroutine.
type client struct {
	hello  hello
	ws     *websocket.Conn
	free   func()
	last   atomic.Int64
	active atomic.Int64 // unix nanoseconds of the last frame
	done   chan struct{}

	mu      sync.Mutex
	waiting map[string]chan frame
	err     error // why it ended
}

// frame is any message of a gateway.
type frame struct {
	Type    string          `json:"type"`
	ID      string          `json:"id"`
	OK      bool            `json:"ok"`
	Event   string          `json:"event"`
	Payload json.RawMessage `json:"payload"`
	Error   *refusal        `json:"error"`
}

// errNoGateway reports that only the state folder of a gateway is known.
var errNoGateway = fmt.Errorf("no gateway is known: %w", syscall.ECONNREFUSED)

// connect opens a connection with these scopes. events, if not nil, gets every event
// that comes after the greeting, on a goroutine of the client; it must return soon.
// Close the client after use.
func (t *target) connect(ctx context.Context, scopes []string, events func(frame)) (*client, error) {
	if t.url == "" {
		return nil, errNoGateway
	}
	hc := t.httpClient()
	ws, response, err := websocket.Dial(ctx, t.url, &websocket.DialOptions{HTTPClient: hc})
	if err != nil {
		hc.CloseIdleConnections()
		if response != nil {
			return nil, &handshakeError{status: response.StatusCode, err: err}
		}
		return nil, err
	}
	ws.SetReadLimit(frameLimit)
	c := &client{ws: ws, free: hc.CloseIdleConnections, done: make(chan struct{}), waiting: map[string]chan frame{}}
	if err := c.handshake(ctx, t.auth, scopes); err != nil {
		_ = ws.CloseNow()
		c.free()
		return nil, err
	}
	go c.read(events)
	return c, nil
}

// handshake asks the gateway for access. It sends no Origin. A gateway refuses client ids that
// it does not know. Every version grants scopes to the id used here when the client connects
// over loopback with the gateway's token or password and without a device. 2026.3.13 to
// 2026.5.18 grant no scopes to a "cli".
func (c *client) handshake(ctx context.Context, auth credentials, scopes []string) error {
	if _, err := c.next(ctx, func(f frame) bool { return f.Event == "connect.challenge" }); err != nil {
		return err
	}
	params := map[string]any{
		"minProtocol": minProtocol, "maxProtocol": maxProtocol, "role": "operator", "scopes": scopes, "caps": []string{},
		"client": map[string]string{"id": "gateway-client", "version": "1.0.0", "platform": runtime.GOOS, "mode": "backend"},
	}
	if !auth.none() {
		params["auth"] = struct {
			Token    string `json:"token,omitempty"`
			Password string `json:"password,omitempty"`
		}{auth.token, auth.password}
	}
	if err := c.write(ctx, "connect", "connect", params); err != nil {
		return err
	}
	f, err := c.next(ctx, func(f frame) bool { return f.Type == "res" && f.ID == "connect" })
	if err != nil {
		return err
	}
	if !f.OK {
		return refused("connect", f.Error)
	}
	if err := json.Unmarshal(f.Payload, &c.hello); err != nil {
		return &kit.FormatError{Err: fmt.Errorf("its greeting can't be read: %w", err)}
	}
	if p := c.hello.Protocol; p < minProtocol || p > maxProtocol {
		return &kit.FormatError{Err: fmt.Errorf("it speaks protocol %d; Rollcall supports %d", p, maxProtocol)}
	}
	return nil
}

// next reads until the wanted frame comes; used before the reader runs.
func (c *client) next(ctx context.Context, wanted func(frame) bool) (frame, error) {
	for range 100 {
		_, b, err := c.ws.Read(ctx)
		if err != nil {
			return frame{}, err
		}
		f, err := parseFrame(b)
		if err != nil {
			return frame{}, err
		}
		if wanted(f) {
			return f, nil
		}
	}
	return frame{}, &kit.FormatError{Err: errors.New("it sent messages without a greeting")}
}

func parseFrame(b []byte) (frame, error) {
	var f frame
	if err := json.Unmarshal(b, &f); err != nil {
		return frame{}, &kit.FormatError{Err: fmt.Errorf("a message from it can't be read: %w", err)}
	}
	return f, nil
}

// write sends a request, and nothing once ctx is done. Only writeLimit cuts a write short: that ends the connection, which others may use.
func (c *client) write(ctx context.Context, id, method string, params any) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	b, err := json.Marshal(map[string]any{"type": "req", "id": id, "method": method, "params": params})
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), writeLimit)
	defer cancel()
	return c.ws.Write(ctx, websocket.MessageText, b)
}

// read delivers frames until the connection ends.
func (c *client) read(events func(frame)) {
	defer close(c.done)
	for {
		_, b, err := c.ws.Read(context.Background())
		if err != nil {
			c.end(err)
			return
		}
		f, err := parseFrame(b)
		if err != nil {
			c.end(err)
			_ = c.ws.CloseNow()
			return
		}
		c.active.Store(time.Now().UnixNano())
		switch {
		case f.Type == "res":
			c.mu.Lock()
			answer := c.waiting[f.ID]
			delete(c.waiting, f.ID)
			c.mu.Unlock()
			if answer != nil {
				answer <- f
			}
		case events != nil && f.Event != "":
			events(f)
		}
	}
}

// end closes the channels of all calls that wait for an answer.
func (c *client) end(err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.err = err
	for id, answer := range c.waiting {
		close(answer)
		delete(c.waiting, id)
	}
}

// call sends a request and waits for its answer, which it reads into result unless that is nil.
func (c *client) call(ctx context.Context, method string, params, result any) error {
	id := strconv.FormatInt(c.last.Add(1), 10)
	answer := make(chan frame, 1)
	c.mu.Lock()
	if c.err != nil {
		c.mu.Unlock()
		return c.err
	}
	c.waiting[id] = answer
	c.mu.Unlock()
	defer func() {
		c.mu.Lock()
		delete(c.waiting, id)
		c.mu.Unlock()
	}()
	if err := c.write(ctx, id, method, params); err != nil {
		return err
	}
	select {
	case f, ok := <-answer:
		if !ok {
			c.mu.Lock()
			defer c.mu.Unlock()
			return c.err
		}
		if !f.OK {
			return refused(method, f.Error)
		}
		if result == nil {
			return nil
		}
		if err := json.Unmarshal(f.Payload, result); err != nil {
			return &kit.FormatError{Err: fmt.Errorf("answer to %s: %w", method, err)}
		}
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// close ends the connection without a closing handshake, and returns when the client's
// goroutine has ended.
func (c *client) close() {
	_ = c.ws.CloseNow()
	<-c.done
	c.free()
}
