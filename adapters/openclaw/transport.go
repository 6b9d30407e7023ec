package openclaw

import (
	"context"
	"crypto/sha256"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strings"
	"time"

	"rollcall/adapters/internal/kit"
	"rollcall/proc"
)

// errPlaintext reports that the credentials would travel unencrypted to another
// machine.
var errPlaintext = errors.New("the address is not on this machine and has no TLS, so that the token would travel unencrypted")

// errPin reports that the certificate is not the gateway's own.
var errPin = errors.New("the certificate is not the gateway's own")

// errRedirect reports that the gateway answered with a redirect.
var errRedirect = errors.New("it answered with a redirect, which is not followed")

// address is a gateway's address without any secret.
type address struct {
	url string
	id  string
}

// parseURL reads an address as the user wrote it. Credentials in it are taken out.
func parseURL(raw string) (address, credentials, error) {
	raw = strings.TrimSpace(raw)
	if !strings.Contains(raw, "://") {
		raw = "ws://" + raw
	}
	u, err := url.Parse(raw)
	if err != nil { // its text repeats the address with its secrets
		return address{}, credentials{}, errors.New("a gateway's address is not a valid URL")
	}
	scheme := map[string]string{"ws": "ws", "http": "ws", "wss": "wss", "https": "wss"}[strings.ToLower(u.Scheme)]
	if scheme == "" || u.Hostname() == "" {
		return address{}, credentials{}, errors.New("a gateway's address has no host, or begins neither with ws:// nor with wss://")
	}
	host, port := strings.ToLower(u.Hostname()), u.Port()
	if port == "" {
		port = map[string]string{"ws": "18789", "wss": "443"}[scheme]
		if u.Scheme == "http" {
			port = "80"
		}
	}
	c := credentials{token: u.Query().Get("token"), password: u.Query().Get("password")}
	if password, ok := u.User.Password(); ok && c.none() {
		c = credentials{password, password}
	}
	clean := url.URL{Scheme: scheme, Host: net.JoinHostPort(host, port), Path: strings.TrimSuffix(u.Path, "/")}
	id := clean.Host + clean.Path
	if loopbackName(host) {
		id = "loopback:" + port + clean.Path
	}
	return address{url: clean.String(), id: id}, c, nil
}

func loopbackName(host string) bool {
	ip, err := netip.ParseAddr(host)
	return host == "localhost" || err == nil && ip.Unmap().IsLoopback()
}

// dial resolves the name and connects only to addresses that it has checked: a name
// like localhost proves nothing.
func (t *target) dial(ctx context.Context, network, addr string) (net.Conn, error) {
	host, port, err := net.SplitHostPort(addr)
	if err != nil {
		return nil, err
	}
	ips, err := net.DefaultResolver.LookupNetIP(ctx, "ip", host)
	if err != nil {
		return nil, err
	}
	var conn net.Conn
	err = &net.AddrError{Err: "no address", Addr: host}
	for _, ip := range ips {
		ip = ip.Unmap()
		if t.plaintext() && !t.allowPlaintext && !ip.IsLoopback() {
			return nil, errPlaintext
		}
		conn, err = (&net.Dialer{Timeout: 3 * time.Second}).DialContext(ctx, network, net.JoinHostPort(ip.String(), port))
		if err == nil {
			err = t.check(conn)
		}
		if err == nil {
			return conn, nil
		}
	}
	return nil, err
}

// check closes a connection over which credentials would go to another user's
// process on this machine, and returns a peer.ListenerError.
func (t *target) check(conn net.Conn) error {
	to, ok := conn.RemoteAddr().(*net.TCPAddr)
	if t.auth.none() || !ok || !to.IP.IsLoopback() {
		return nil
	}
	if err := proc.CheckListener(to.AddrPort()); err != nil {
		_ = conn.Close() // nothing was sent over it
		return &kit.ListenerError{Unsent: "the token was not sent", Err: err}
	}
	return nil
}

// plaintext reports whether a gateway is asked without TLS.
func (t *target) plaintext() bool { return strings.HasPrefix(t.url, "ws://") }

// httpClient makes the client for one connection. Close its idle connections
// afterwards.
func (t *target) httpClient() *http.Client {
	transport := &http.Transport{DialContext: t.dial, TLSClientConfig: t.tlsConfig(), TLSHandshakeTimeout: 3 * time.Second,
		MaxResponseHeaderBytes: 64 << 10}
	if !t.plaintext() && !strings.HasPrefix(t.id, "loopback:") {
		transport.Proxy = http.ProxyFromEnvironment // end to end encrypted through a proxy as well
	}
	return &http.Client{
		Transport:     transport,
		CheckRedirect: func(*http.Request, []*http.Request) error { return errRedirect },
	}
}

// tlsConfig returns a configuration that trusts the system's authorities or, for a
// gateway on this machine, only the certificate in the gateway's own folder.
func (t *target) tlsConfig() *tls.Config {
	cfg := &tls.Config{MinVersion: tls.VersionTLS12}
	if t.pin == "" {
		return cfg
	}
	cfg.InsecureSkipVerify = true //nolint:gosec // VerifyConnection wants one very certificate
	cfg.VerifyConnection = func(state tls.ConnectionState) error {
		if len(state.PeerCertificates) == 0 || fmt.Sprintf("%x", sha256.Sum256(state.PeerCertificates[0].Raw)) != t.pin {
			return errPin
		}
		return nil
	}
	return cfg
}
