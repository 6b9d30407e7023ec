package openclaw

import (
	"cmp"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"slices"
	"strings"
	"syscall"
	"unicode"

	"github.com/coder/websocket"

	"rollcall/adapters"
	"rollcall/adapters/internal/kit"
)

// refusal is the error of a response, as 2026.9.6 and 2026.2.26 give it. Details are
// parsed separately: their form differs from error to error.
type refusal struct {
	Code    string         `json:"code"`
	Message string         `json:"message"`
	Details map[string]any `json:"details"`

	method string
}

func (r *refusal) Error() string {
	return fmt.Sprintf("%s was refused: %s", r.method, oneLine(cmp.Or(r.Message, r.Code)))
}

func refused(method string, r *refusal) error {
	if r == nil {
		r = &refusal{Message: "without a reason"}
	}
	r.method = method
	return r
}

func (r *refusal) detail(name string) string { return oneLine(text(r.Details[name])) }

func (r *refusal) number(name string) string {
	if n, ok := r.Details[name].(float64); ok {
		return fmt.Sprintf("%.0f", n)
	}
	return "?"
}

// handshakeError reports that the program at the address is not a WebSocket server, or
// refused the connection.
type handshakeError struct {
	status int
	err    error
}

func (e *handshakeError) Error() string {
	return fmt.Sprintf("the server there answered HTTP %d instead of opening a WebSocket", e.status)
}
func (e *handshakeError) Unwrap() error { return e.err }

// oneLine returns a text of a gateway for one line of a message: at most 300
// characters, without control characters.
func oneLine(s string) string {
	s = strings.Map(func(r rune) rune {
		if unicode.IsControl(r) {
			return ' '
		}
		return r
	}, s)
	if r := []rune(s); len(r) > 300 {
		s = string(r[:299]) + "…"
	}
	return s
}

// isEnded reports whether a connection ended before the answer came.
func isEnded(err error) bool {
	return websocket.CloseStatus(err) != -1 || slices.ContainsFunc([]error{net.ErrClosed, io.EOF, io.ErrUnexpectedEOF, syscall.ECONNRESET, syscall.EPIPE},
		func(e error) bool { return errors.Is(err, e) })
}

// isRefusedDial reports whether nothing listens at the address.
func isRefusedDial(err error) bool {
	const wsaConnRefused = syscall.Errno(10061)
	return errors.Is(err, syscall.ECONNREFUSED) || errors.Is(err, wsaConnRefused)
}

// problem returns the Problem for a gateway that did not answer, without any secret.
func (t *target) problem(err error) *adapters.Problem {
	p := &adapters.Problem{Kind: adapters.ErrUnreadable, Path: t.url, Err: err}
	if !t.answered(p, err) {
		unreached(p, err)
	}
	p.Err = t.auth.scrub(p.Err)
	return p
}

// answered completes the Problem for an error that the gateway, or what listens in its place, is the reason of. It returns false for other errors.
func (t *target) answered(p *adapters.Problem, err error) bool {
	var (
		r         *refusal
		format    *kit.FormatError
		handshake *handshakeError
		listener  *kit.ListenerError
	)
	switch {
	case errors.Is(err, context.DeadlineExceeded), errors.Is(err, context.Canceled), os.IsTimeout(err):
		p.Kind, p.Err = adapters.ErrTimeout, errors.New("the gateway did not respond in time")
		p.Fix = "restart it with `openclaw gateway restart` if it hangs"
	case errors.As(err, &r):
		p.Fix, p.Err = t.explain(r)
	case errors.Is(err, errPlaintext):
		p.Err, p.Fix = errPlaintext, "use wss://, or an SSH tunnel to 127.0.0.1, or allow plaintext in the settings"
	case errors.As(err, &listener):
		p.Err = listener
		p.Fix = "run the gateway as your own user, and check which program listens there (Linux: ss -ltnp)"
	case errors.Is(err, errPin):
		p.Err, p.Fix = errPin, "another program may listen there; check gateway.tls in openclaw.json"
	case errors.Is(err, errRedirect):
		p.Err, p.Fix = errRedirect, "put the final address into the settings"
	case errors.As(err, &handshake):
		p.Err, p.Fix = handshake, "check the address and the port"
	case errors.As(err, &format):
		p.Kind, p.Fix = adapters.ErrFormat, "a newer version of Rollcall may recognise it"
	default:
		return false
	}
	return true
}

// unreached completes the Problem for an error of the connection.
func unreached(p *adapters.Problem, err error) {
	var (
		cert      *tls.CertificateVerificationError
		authority x509.UnknownAuthorityError
		dns       *net.DNSError
	)
	switch {
	case errors.As(err, &cert), errors.As(err, &authority):
		p.Err = errors.New("its TLS certificate is not trusted: " + oneLine(innermost(err).Error()))
		p.Fix = "let the system trust it, or set gateway.remote.tlsFingerprint in openclaw.json"
	case errors.As(err, &dns):
		p.Err, p.Fix = fmt.Errorf("the host %s is not known", oneLine(dns.Name)), "check the address and the network"
	case isRefusedDial(err):
		p.Err, p.Fix = errors.New("nothing listens there: the gateway is not running"), startHint()
	case websocket.CloseStatus(err) == websocket.StatusServiceRestart, websocket.CloseStatus(err) == websocket.StatusGoingAway:
		p.Err, p.Fix = errors.New("the gateway ended the connection"), "it is stopping or restarting"
	case websocket.CloseStatus(err) != -1:
		p.Err = fmt.Errorf("it closed the connection (%d)", websocket.CloseStatus(err))
	case isEnded(err):
		p.Err, p.Fix = errors.New("the gateway ended the connection"), "it is stopping or restarting, or no gateway listens there"
	default:
		p.Err = errors.New("the connection failed: " + oneLine(innermost(err).Error()))
	}
}

// explain returns what a refusal means and what the user can do about it.
func (t *target) explain(r *refusal) (fix string, cause error) {
	const settings = "put the gateway's own token into Rollcall's settings, OPENCLAW_GATEWAY_TOKEN or openclaw.json (gateway.auth.token)"
	code := cmp.Or(r.detail("code"), r.Code)
	pairing := code == "PAIRING_REQUIRED" || code == "NOT_PAIRED" || strings.Contains(code, "DEVICE_IDENTITY")
	switch {
	case t.auth.none() && (pairing || strings.HasPrefix(code, "AUTH_")):
		return settings, errors.New("the gateway requires a token or password, and Rollcall has none")
	case code == "AUTH_TOKEN_MISMATCH", code == "AUTH_PASSWORD_MISMATCH", code == "AUTH_DEVICE_TOKEN_MISMATCH":
		return settings, fmt.Errorf("the gateway refused the token or password from %s", cmp.Or(t.from, "the settings"))
	case code == "AUTH_TOKEN_MISSING", code == "AUTH_PASSWORD_MISSING", code == "AUTH_REQUIRED":
		return settings, errors.New("the gateway requires a token or password, and Rollcall has none")
	case code == "AUTH_RATE_LIMITED":
		return settings, errors.New("the gateway refuses for now, after too many wrong tokens")
	case code == "PROTOCOL_MISMATCH", r.Message == "protocol mismatch":
		speaks := r.number("expectedProtocol")
		return "update the older of the two",
			fmt.Errorf("the gateway speaks protocol %s, Rollcall %d", speaks, maxProtocol)
	case r.detail("reason") == "startup-sidecars", r.Code == "UNAVAILABLE":
		return "it answers in a moment", errors.New("the gateway is starting up, or too busy")
	case code == "CONTROL_UI_ORIGIN_NOT_ALLOWED":
		return "a proxy adds an Origin header; configure it to leave the header out", errors.New("the gateway refused the origin of the connection")
	case code == "MISSING_SCOPE", strings.HasPrefix(r.Message, "missing scope"):
		scope := cmp.Or(r.detail("missingScope"), strings.TrimPrefix(oneLine(r.Message), "missing scope: "))
		return "reach it on loopback (an SSH tunnel) with its own token; OpenClaw 2026.3.12 to 2026.4.24 grant nothing " +
				"without a paired device even then: update it",
			fmt.Errorf("the gateway does not grant Rollcall the scope %s", scope)
	case pairing:
		return "reach it on loopback (an SSH tunnel), where its token is enough",
			errors.New("the gateway requires a paired device, and Rollcall is not one")
	}
	return "", r
}

// innermost returns the first cause of an error. The errors around it repeat addresses.
func innermost(err error) error {
	for {
		inner := errors.Unwrap(err)
		if inner == nil {
			return err
		}
		err = inner
	}
}

// redact replaces the credentials in a text that came from the gateway.
func (c credentials) redact(text string) string {
	for _, secret := range []string{c.token, c.password} {
		if len(secret) >= 4 {
			text = strings.ReplaceAll(text, secret, "(secret)")
		}
	}
	return text
}

// redactSession replaces the credentials in every text of a session: a label or
// a prompt can repeat them.
func (c credentials) redactSession(s *adapters.Session) {
	for _, text := range []*string{&s.Title, &s.FirstPrompt, &s.LastPrompt, &s.Evidence, &s.CWD, &s.Branch, &s.Model, &s.Remote} {
		*text = c.redact(*text)
	}
}

// scrub replaces the credentials in an error: a gateway may repeat them.
func (c credentials) scrub(err error) error {
	if err == nil {
		return nil
	}
	s := c.redact(err.Error())
	if s == err.Error() {
		return err
	}
	return errors.New(s)
}
