package modelserver

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"slices"
	"strings"
	"sync"
	"time"
)

// maxBody bounds a request; agents send their whole conversation.
const maxBody = 64 << 20

// Request is one request as the server understood it.
type Request struct {
	At     time.Time
	Method string
	Path   string
	Prompt string // newest message of the user; empty for other endpoints
	Side   bool   // beside the main conversation, answered with a title
	Tool   bool   // carried the result of a tool
	Own    bool   // the prompt was answered before: the agent asks for something of its own (chat completions)
	Status int    // of the answer; 0 while it is being delayed or when the client left
	Left   bool   // the client hung up before the answer
	Output int    // tokens that the answer states
	Model  string // that was asked
	Used   Used   // all that the answer states, or would have
	Mark   string // see Server.Mark
}

// Used is what an answer states, in tokens.
type Used struct {
	Input, CacheRead, CacheWrite int // Input is what came from no cache
	Output, Reasoning            int // Output includes the reasoning, whatever the API states
}

// Server answers agents. Its methods are safe for concurrent use.
type Server struct {
	http     *http.Server
	listener net.Listener
	served   chan error

	mu       sync.Mutex
	requests []Request
	observe  func(path string, body []byte)
	mark     string
	released map[string]chan string // see Release
	once     map[string]bool        // prompts whose first request was seen
}

// Start listens on a loopback address ("127.0.0.1:0" takes a free port) and
// serves until Close. Any other address is refused: nothing authenticates.
func Start(address string) (*Server, error) {
	host, err := netip.ParseAddrPort(address)
	if err != nil {
		return nil, fmt.Errorf("model server address %q: %w", address, err)
	}
	if !host.Addr().IsLoopback() {
		return nil, fmt.Errorf("model server address %q: not a loopback address", address)
	}
	listener, err := net.Listen("tcp", address)
	if err != nil {
		return nil, fmt.Errorf("model server: %w", err)
	}
	s := &Server{listener: listener, served: make(chan error, 1)}
	s.http = &http.Server{Handler: s.routes(), ReadHeaderTimeout: 10 * time.Second}
	go func() { s.served <- s.http.Serve(listener) }()
	return s, nil
}

// URL returns the server's base URL, without a slash at its end.
func (s *Server) URL() string { return "http://" + s.listener.Addr().String() }

// Wait returns when the server has ended, with the reason if Close was not it.
func (s *Server) Wait() error {
	err := <-s.served
	s.served <- err
	if errors.Is(err, http.ErrServerClosed) {
		return nil
	}
	return err
}

// Close ends the server at once, delayed answers included.
func (s *Server) Close() error {
	err := s.http.Close()
	return errors.Join(err, s.Wait())
}

// Release gives a request with the directive [[hold name]], or its tool's result, its answer: that of the further
// directives. It returns when there is such a request, or the error of ctx.
func (s *Server) Release(ctx context.Context, name, directives string) error {
	select {
	case s.holds(name) <- directives:
		return nil
	case <-ctx.Done():
		return fmt.Errorf("no request waits for %s: %w", name, ctx.Err())
	}
}

// holds returns the channel over which the requests of a name get their answers.
func (s *Server) holds(name string) chan string {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.released == nil {
		s.released = map[string]chan string{}
	}
	if s.released[name] == nil {
		s.released[name] = make(chan string)
	}
	return s.released[name]
}

// held waits until an answer is released, and takes its directives.
func (s *Server) held(ctx context.Context, p *plan) error {
	if p.hold == "" {
		return nil
	}
	select {
	case directives := <-s.holds(p.hold):
		for _, m := range directivePattern.FindAllStringSubmatch(directives, -1) {
			p.apply(m[1], strings.TrimSpace(m[2]))
		}
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// Mark has the requests from now on carry a mark, such as the home of the agent that a test runs.
func (s *Server) Mark(mark string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.mark = mark
}

// Requests returns the requests so far, oldest first.
func (s *Server) Requests() []Request {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.requests)
}

// Observe calls f with the body of each request, for debugging an agent
// that sends something unexpected. f runs on the request's goroutine.
func (s *Server) Observe(f func(path string, body []byte)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.observe = f
}

func (s *Server) routes() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("POST /v1/messages", s.conversation(parseMessages, writeMessages, failMessages, usage.ofMessages))
	mux.HandleFunc("POST /v1/responses", s.conversation(parseResponses, writeResponses, failResponses, usage.ofOpenAI))
	mux.HandleFunc("POST /v1/chat/completions", s.conversation(parseChat, writeChat, failChat, usage.ofOpenAI))
	mux.HandleFunc("POST /v1/messages/count_tokens", s.fixed(map[string]int{"input_tokens": defaultUsage.input}))
	mux.HandleFunc("POST /v1beta/models/{call}", s.gemini)
	mux.HandleFunc("GET /v1/models", s.fixed(modelList()))
	mux.HandleFunc("GET /{$}", s.fixed(map[string]string{"status": "ok"}))
	mux.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		s.begin(Request{Method: r.Method, Path: r.URL.Path, Status: http.StatusNotFound})
		http.NotFound(w, r)
	})
	return mux
}

func modelList() any {
	type model struct {
		ID          string `json:"id"`
		Type        string `json:"type"`
		Object      string `json:"object"`
		DisplayName string `json:"display_name"`
	}
	m := model{ID: "mock", Type: "model", Object: "model", DisplayName: "Mock"}
	return map[string]any{"object": "list", "data": []model{m}, "has_more": false}
}

// fixed answers the same JSON to everybody.
func (s *Server) fixed(answer any) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		s.begin(Request{Method: r.Method, Path: r.URL.Path, Status: http.StatusOK})
		writeJSON(w, http.StatusOK, answer)
	}
}

// wireRequest is a parsed request of any API.
type wireRequest struct {
	question
	model  string
	stream bool
	// streamUsage says that a stream shall end with its usage (chat completions).
	streamUsage bool
	tools       []wireTool
	// structured says that the answer must be a JSON object (a title asked for
	// with a schema), whose text property has this name.
	structured string
}

// conversation serves one API, given how its requests and answers are written.
func (s *Server) conversation(
	parse func([]byte) (wireRequest, error),
	answer func(http.ResponseWriter, wireRequest, plan) error,
	fail func(status int) any,
	used func(usage) Used,
) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxBody))
		if err != nil {
			return // the client is gone, or sent more than any agent does
		}
		s.show(r.URL.Path, body)
		request, err := parse(body)
		if err != nil {
			s.begin(Request{Method: r.Method, Path: r.URL.Path, Status: http.StatusBadRequest})
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		p := planFor(request.question)
		if p.once && s.again(request.prompt) {
			p.fail = 0
		}
		done := s.begin(Request{Method: r.Method, Path: r.URL.Path, Prompt: request.prompt,
			Side: request.side, Tool: request.toolResult, Own: request.answered, Output: p.usage.output, Model: request.model, Used: used(p.usage)})
		if wait(r.Context(), p.delay) != nil || s.held(r.Context(), &p) != nil {
			done(0)
			return
		}
		if p.fail != 0 {
			if p.retry != "" {
				w.Header().Set("Retry-After", p.retry)
			}
			writeJSON(w, p.fail, fail(p.fail))
			done(p.fail)
			return
		}
		if err := answer(w, request, p); err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			done(http.StatusBadRequest)
			return
		}
		done(http.StatusOK)
	}
}

// again reports whether a request with this prompt was seen before.
func (s *Server) again(prompt string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	seen := s.once[prompt]
	if s.once == nil {
		s.once = map[string]bool{}
	}
	s.once[prompt] = true
	return seen
}

func (s *Server) show(path string, body []byte) {
	s.mu.Lock()
	observe := s.observe
	s.mu.Unlock()
	if observe != nil {
		observe(path, body)
	}
}

// begin records a request; the function it returns sets the status of its answer,
// 0 for none.
func (s *Server) begin(r Request) (done func(status int)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	r.At, r.Mark = time.Now(), s.mark
	s.requests = append(s.requests, r)
	at := len(s.requests) - 1
	return func(status int) {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.requests[at].Status, s.requests[at].Left = status, status == 0
	}
}

func wait(ctx context.Context, d time.Duration) error {
	if d <= 0 {
		return ctx.Err()
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func writeJSON(w http.ResponseWriter, status int, v any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(v) // a client that left has no answer to miss
}

// newID makes an id as the real servers do: a prefix and random letters.
func newID(prefix string) string {
	var b [12]byte
	rand.Read(b[:])
	return prefix + hex.EncodeToString(b[:])
}
