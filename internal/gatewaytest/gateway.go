package gatewaytest

import (
	"context"
	"crypto/tls"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"sync"
	"sync/atomic"
	"time"
)

// Options say what gateway to be. The zero value is that of 2026.9.6 with the
// token DefaultToken, on any free port.
type Options struct {
	Port        int    // 0: any that is free
	Token       string // "": DefaultToken
	Password    string // when set, the gateway wants it instead of a token
	NoAuth      bool   // gateway.auth.mode none
	MinProtocol int    // 0: MaxProtocol
	MaxProtocol int    // 0: 4; 3 answers as 2026.2.26 does
	Version     string // "": 2026.9.6, or 2026.2.26 with protocol 3
	TLS         bool   // serve wss with the certificate of httptest
	// DenyAdmin grants no operator.admin, as a gateway with roles does.
	DenyAdmin bool
	// NoOffset has sessions.list know no offset, and give all with a limit that is
	// high enough, as 2026.5.18 does. chat.history states no offsets either, as in 2026.6.1.
	NoOffset bool
	// BackendOnly grants scopes to the client "gateway-client" in the mode "backend"
	// alone, as 2026.5.18 does where no device is shown.
	BackendOnly bool
	// NoScopes grants none to anybody, as 2026.4.15 does where no device is shown.
	NoScopes bool
}

// DefaultToken is the token of a gateway that was given none.
const DefaultToken = "fake-gateway-token-123456"

// Gateway is a running double. Its methods may be called on any goroutine.
type Gateway struct {
	opts    Options
	server  *httptest.Server
	stopped chan struct{}
	bootID  string

	mu        sync.Mutex
	sessions  []Session
	approvals []Approval
	questions []Approval
	starting  bool
	hung      chan struct{} // not nil: hangs until it is closed
	hanging   atomic.Int32
	next      string // the method whose next request is met by do
	do        func() // nil: the request ends its connection
	conns     map[*conn]bool
	accepted  int
	calls     map[string]int
	received  []json.RawMessage
	refused   map[string]Refusal
	decided   map[string]string // by the id of the request
}

// Refusal is the error that a method is answered with.
type Refusal struct {
	Code    string
	Message string
	Details map[string]any
}

// Start starts a gateway. Close it after use.
func Start(o Options) (*Gateway, error) {
	if o.Token == "" && o.Password == "" && !o.NoAuth {
		o.Token = DefaultToken
	}
	if o.MaxProtocol == 0 {
		o.MaxProtocol = 4
	}
	if o.MinProtocol == 0 {
		o.MinProtocol = o.MaxProtocol
	}
	if o.Version == "" {
		o.Version = "2026.9.6"
		if o.MaxProtocol < 4 {
			o.Version = "2026.2.26"
		}
	}
	listener, err := (&net.ListenConfig{}).Listen(context.Background(), "tcp", fmt.Sprintf("127.0.0.1:%d", o.Port))
	if err != nil {
		return nil, fmt.Errorf("gateway double: %w", err)
	}
	g := &Gateway{
		opts: o, stopped: make(chan struct{}), bootID: newID(), conns: map[*conn]bool{},
		calls: map[string]int{}, refused: map[string]Refusal{}, decided: map[string]string{},
	}
	mux := http.NewServeMux()
	mux.HandleFunc("/healthz", g.healthz)
	mux.HandleFunc("/readyz", g.readyz)
	mux.HandleFunc("/", g.serveWS)
	g.server = &httptest.Server{Listener: listener, Config: &http.Server{Handler: mux, ReadHeaderTimeout: time.Minute}}
	if o.TLS {
		g.server.TLS = &tls.Config{MinVersion: tls.VersionTLS12}
		g.server.StartTLS()
	} else {
		g.server.Start()
	}
	return g, nil
}

// Close ends the gateway and its connections, as a crash does: nobody is told.
func (g *Gateway) Close() {
	select {
	case <-g.stopped:
		return
	default:
	}
	close(g.stopped)
	g.Resume()
	g.Drop()
	g.server.Close()
}

// Drop ends the connections that are open and goes on accepting new ones.
func (g *Gateway) Drop() {
	g.mu.Lock()
	var open []*conn
	for c := range g.conns {
		open = append(open, c)
	}
	g.mu.Unlock()
	for _, c := range open {
		c.cancel()
		_ = c.ws.CloseNow()
	}
}

// URL returns the WebSocket address, without a token.
func (g *Gateway) URL() string {
	scheme := "ws"
	if g.opts.TLS {
		scheme = "wss"
	}
	return fmt.Sprintf("%s://127.0.0.1:%d", scheme, g.Port())
}

// Port returns the port that it listens on.
func (g *Gateway) Port() int { return g.server.Listener.Addr().(*net.TCPAddr).Port }

// Token returns what clients have to show.
func (g *Gateway) Token() string { return g.opts.Token }

// Version returns that which it says it has.
func (g *Gateway) Version() string { return g.opts.Version }

// Certificate returns the server's certificate in DER, with Options.TLS.
func (g *Gateway) Certificate() []byte {
	if c := g.server.Certificate(); c != nil {
		return c.Raw
	}
	return nil
}

// Hang makes the gateway accept connections and never answer, those that are open
// included, until Resume.
func (g *Gateway) Hang() {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.hung == nil {
		g.hung = make(chan struct{})
	}
}

// DropNext lets the next request for a method end its connection, as a network or a gateway that drops one does.
func (g *Gateway) DropNext(method string) { g.Next(method, nil) }

// Next calls do before the next request for a method is answered; without do, the request ends its connection.
func (g *Gateway) Next(method string, do func()) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.next, g.do = method, do
}

// drops reports whether a request ends its connection.
func (g *Gateway) drops(method string) bool {
	g.mu.Lock()
	next := g.next != "" && g.next == method
	if next {
		g.next = ""
	}
	do := g.do
	g.mu.Unlock()
	if next && do != nil {
		do()
	}
	return next && do == nil
}

// Resume ends Hang.
func (g *Gateway) Resume() {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.hung != nil {
		close(g.hung)
		g.hung = nil
	}
}

// Starting reports whether the gateway is starting up: then it refuses to connect
// with UNAVAILABLE, and closes with 1013.
func (g *Gateway) Starting(on bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.starting = on
}

// Refuse answers a method with an error from now on; with an empty Code it
// answers again.
func (g *Gateway) Refuse(method string, with Refusal) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if with.Code == "" {
		delete(g.refused, method)
		return
	}
	g.refused[method] = with
}

// Connections returns how many clients are connected now.
func (g *Gateway) Connections() int {
	g.mu.Lock()
	defer g.mu.Unlock()
	return len(g.conns)
}

// Accepted returns how many connections were made in all.
func (g *Gateway) Accepted() int {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.accepted
}

// Calls returns how often a method was called.
func (g *Gateway) Calls(method string) int {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.calls[method]
}

// Received returns every frame that clients sent, the oldest first. It holds the
// last 10,000.
func (g *Gateway) Received() []json.RawMessage {
	g.mu.Lock()
	defer g.mu.Unlock()
	return append([]json.RawMessage(nil), g.received...)
}

// Decided returns the decision that was taken on a request: "allow-once", "deny", or the
// parameters of the answer to a question. It is empty while the request waits.
func (g *Gateway) Decided(id string) string {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.decided[id]
}

// Hanging returns how many requests wait for Resume.
func (g *Gateway) Hanging() int { return int(g.hanging.Load()) }

// waitWhileHung blocks while the gateway hangs.
func (g *Gateway) waitWhileHung() {
	g.mu.Lock()
	hung := g.hung
	g.mu.Unlock()
	if hung == nil {
		return
	}
	g.hanging.Add(1)
	defer g.hanging.Add(-1)
	select {
	case <-hung:
	case <-g.stopped:
	}
}

func (g *Gateway) healthz(w http.ResponseWriter, _ *http.Request) {
	g.waitWhileHung()
	w.Header().Set("Content-Type", "application/json")
	fmt.Fprintln(w, `{"ok":true,"status":"live"}`)
}

func (g *Gateway) readyz(w http.ResponseWriter, _ *http.Request) {
	g.waitWhileHung()
	w.Header().Set("Content-Type", "application/json")
	g.mu.Lock()
	starting := g.starting
	g.mu.Unlock()
	if starting {
		w.WriteHeader(http.StatusServiceUnavailable)
		fmt.Fprintln(w, `{"ready":false,"failing":["startup-sidecars"]}`)
		return
	}
	fmt.Fprintln(w, `{"ready":true,"failing":[]}`)
}
