package agents

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"net"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"time"

	"github.com/coder/websocket"
	"github.com/coder/websocket/wsjson"
)

const gatewayToken = "mock-gateway-token-for-tests-000000"

// Gateway is a running gateway of OpenClaw, whose settings are in the sandbox.
type Gateway struct {
	Process
	s       *Sandbox
	release Release
	port    int
}

// StartGateway starts a gateway of that release and returns when it answers. A
// second one in the same sandbox takes the place of the first.
func (s *Sandbox) StartGateway(r Release) *Gateway {
	s.t.Helper()
	g := &Gateway{s: s, release: r, port: s.gatewayPort}
	if g.port == 0 {
		g.port = freePort(s)
		s.gatewayPort = g.port
		if err := s.seedOpenClaw(g.port); err != nil {
			s.t.Fatal(err)
		}
	}
	began := time.Now()
	wrapper := s.Detached(s.Argv(r, "gateway", "run")...)
	var last error
	err := poll(180*time.Second, func() bool {
		var client *gatewayClient
		client, last = g.dial(s.t.Context())
		if last != nil {
			time.Sleep(200 * time.Millisecond)
			return false
		}
		client.close()
		return true
	})
	if err != nil {
		s.t.Fatalf("gateway %v: %v: %v", r, err, last)
	}
	name := "openclaw-gatewa"
	if r == OpenClawFloor {
		name = "openclaw"
	}
	g.Process = s.Descendant(wrapper.PID, name)
	s.t.Logf("gateway %v answers after %v", r, time.Since(began).Round(100*time.Millisecond))
	return g
}

// seedOpenClaw has the gateway work in the project and ask nobody.
func (s *Sandbox) seedOpenClaw(port int) error {
	return writeJSON(filepath.Join(s.Home, ".openclaw", "openclaw.json"), map[string]any{
		"gateway": map[string]any{"mode": "local", "port": port, "bind": "loopback",
			"auth": map[string]any{"mode": "token", "token": gatewayToken}},
		"models": map[string]any{"providers": map[string]any{mockProvider: map[string]any{
			"baseUrl": s.Server.URL() + "/v1", "api": "openai-completions", "apiKey": mockKey,
			"models": []any{mockModelEntry()}}}},
		"agents": map[string]any{"defaults": map[string]any{"model": map[string]any{"primary": mockProvider + "/" + mockModel},
			"workspace": s.Project, "skipBootstrap": true}},
	})
}

// freePort returns a port of loopback that nobody listens on, and nobody but the
// sandbox's programs will: the network is the tests' own.
func freePort(s *Sandbox) int {
	s.t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		s.t.Fatal(err)
	}
	port := listener.Addr().(*net.TCPAddr).Port
	if err := listener.Close(); err != nil {
		s.t.Fatal(err)
	}
	return port
}

// URL returns where the gateway listens.
func (g *Gateway) URL() string { return fmt.Sprintf("ws://127.0.0.1:%d", g.port) }

// Send gives a session a prompt, as one of the gateway's own clients does, and
// returns when the agent has asked the model. The session is made if need be.
func (g *Gateway) Send(key, prompt string) time.Time {
	g.s.t.Helper()
	g.call("chat.send", map[string]any{"sessionKey": key, "message": prompt, "idempotencyKey": uuid(g.s.t)})
	return g.s.Asked(prompt)
}

// call makes one request, over a connection of its own.
func (g *Gateway) call(method string, params any) json.RawMessage {
	g.s.t.Helper()
	client, err := g.dial(g.s.t.Context())
	if err != nil {
		g.s.t.Fatalf("gateway: %v", err)
	}
	defer client.close()
	answer, err := client.call(g.s.t.Context(), method, params)
	if err != nil {
		g.s.t.Fatalf("gateway: %v", err)
	}
	return answer
}

// gatewayClient is a connection that has shaken hands.
type gatewayClient struct {
	conn *websocket.Conn
	last int
}

func (g *Gateway) dial(ctx context.Context) (*gatewayClient, error) {
	return g.dialWith(ctx, []string{}, "operator.read", "operator.write", "operator.admin")
}

// dialWith opens a connection with these scopes, for a client that can do these things.
func (g *Gateway) dialWith(ctx context.Context, caps []string, scopes ...string) (*gatewayClient, error) {
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	conn, _, err := websocket.Dial(ctx, g.URL(), nil)
	if err != nil {
		return nil, err
	}
	conn.SetReadLimit(64 << 20)
	client := &gatewayClient{conn: conn}
	_, err = client.call(ctx, "connect", map[string]any{
		"minProtocol": 3, "maxProtocol": 4, "role": "operator", "scopes": scopes, "caps": caps,
		"client": map[string]any{"id": "cli", "version": "1.0.0", "platform": "linux", "mode": "cli"},
		"auth":   map[string]any{"token": gatewayToken},
	})
	if err != nil {
		client.close()
		return nil, err
	}
	return client, nil
}

func (c *gatewayClient) close() { _ = c.conn.Close(websocket.StatusNormalClosure, "") } // nothing was promised

// passOver reads all events until the connection is closed: the gateway closes connections whose clients don't. No request can be made with
// it meanwhile.
func (c *gatewayClient) passOver(ctx context.Context) {
	for {
		if _, _, err := c.conn.Read(ctx); err != nil {
			return
		}
	}
}

// call makes a request and waits for its answer; events are passed over.
func (c *gatewayClient) call(ctx context.Context, method string, params any) (json.RawMessage, error) {
	return c.callWithin(ctx, 30*time.Second, method, params)
}

// callWithin is call for an answer that may take that long.
func (c *gatewayClient) callWithin(ctx context.Context, limit time.Duration, method string, params any) (json.RawMessage, error) {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	c.last++
	id := fmt.Sprintf("r%d", c.last)
	if err := wsjson.Write(ctx, c.conn, map[string]any{"type": "req", "id": id, "method": method, "params": params}); err != nil {
		return nil, fmt.Errorf("%s: %w", method, err)
	}
	for {
		var frame struct {
			Type    string          `json:"type"`
			ID      string          `json:"id"`
			OK      bool            `json:"ok"`
			Payload json.RawMessage `json:"payload"`
			Error   json.RawMessage `json:"error"`
		}
		if err := wsjson.Read(ctx, c.conn, &frame); err != nil {
			return nil, fmt.Errorf("%s: %w", method, err)
		}
		if frame.Type != "res" || frame.ID != id {
			continue
		}
		if !frame.OK {
			return nil, fmt.Errorf("%s: %s", method, frame.Error)
		}
		return frame.Payload, nil
	}
}

// protocolProxy listens beside the gateway and passes everything on but the
// client's protocol range, which it puts beyond all that the gateway speaks. It
// returns its URL.
func protocolProxy(s *Sandbox, g *Gateway) string {
	s.t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		client, err := websocket.Accept(w, r, nil)
		if err != nil {
			return
		}
		defer func() { _ = client.CloseNow() }()
		gateway, _, err := websocket.Dial(r.Context(), g.URL(), nil)
		if err != nil {
			return
		}
		defer func() { _ = gateway.CloseNow() }()
		ctx, cancel := context.WithCancel(r.Context())
		go func() {
			defer cancel()
			passOn(ctx, gateway, client, nil)
		}()
		passOn(ctx, client, gateway, map[string]any{"minProtocol": 90, "maxProtocol": 91})
	}))
	s.t.Cleanup(server.Close)
	return "ws" + strings.TrimPrefix(server.URL, "http")
}

// passOn passes frames on, those of a handshake with other parameters, until one
// side closes; the other is closed with the same code.
func passOn(ctx context.Context, from, to *websocket.Conn, parameters map[string]any) {
	from.SetReadLimit(64 << 20)
	for {
		var frame map[string]any
		if err := wsjson.Read(ctx, from, &frame); err != nil {
			if code := websocket.CloseStatus(err); code > 0 {
				_ = to.Close(code, "") // it may be gone as well
			}
			return
		}
		if handshake, ok := frame["params"].(map[string]any); ok && frame["method"] == "connect" {
			maps.Copy(handshake, parameters)
		}
		if wsjson.Write(ctx, to, frame) != nil {
			return
		}
	}
}
