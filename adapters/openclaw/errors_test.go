package openclaw_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"rollcall/adapters"
	"rollcall/adapters/openclaw"
	"rollcall/internal/gatewaytest"
	"rollcall/internal/must"
	"rollcall/proc"
)

const secret = "s3cret-token-that-must-not-leak"

func TestRefusals(t *testing.T) {
	tests := []struct {
		name  string
		opts  gatewaytest.Options
		given openclaw.Gateway
		after func(*gatewaytest.Gateway)
		kind  error
		words []string
	}{
		{"wrong token", gatewaytest.Options{Token: "right"}, openclaw.Gateway{Token: secret}, nil,
			adapters.ErrUnreadable, []string{"refused the token", "Rollcall's settings"}},
		{"no token", gatewaytest.Options{}, openclaw.Gateway{}, nil,
			adapters.ErrUnreadable, []string{"requires a token or password, and Rollcall has none"}},
		{"wrong password", gatewaytest.Options{Password: "right"}, openclaw.Gateway{Token: secret}, nil,
			adapters.ErrUnreadable, []string{"refused the token or password"}},
		{"newer protocol", gatewaytest.Options{MinProtocol: 5, MaxProtocol: 6}, openclaw.Gateway{}, nil,
			adapters.ErrUnreadable, []string{"speaks protocol 6, Rollcall 4"}},
		{"starting", gatewaytest.Options{}, openclaw.Gateway{Token: gatewaytest.DefaultToken},
			func(g *gatewaytest.Gateway) { g.Starting(true) }, adapters.ErrUnreadable, []string{"starting up"}},
		{"hanging", gatewaytest.Options{}, openclaw.Gateway{Token: secret},
			func(g *gatewaytest.Gateway) { g.Hang() }, adapters.ErrTimeout, []string{"did not respond in time"}},
		{"list refused", gatewaytest.Options{Token: secret}, openclaw.Gateway{Token: secret},
			func(g *gatewaytest.Gateway) {
				g.Refuse("sessions.list", gatewaytest.Refusal{Code: "INTERNAL", Message: "bad token " + secret + "\x1b[31m"})
			}, adapters.ErrUnreadable, []string{"sessions.list was refused", "(secret)"}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			w := newFixture(t)
			g := w.gateway(test.opts)
			if test.after != nil {
				test.after(g)
			}
			test.given.URL = g.URL()
			w.cfg.Gateways = []openclaw.Gateway{test.given}
			roll, err := discover(t, w.adapter(), adapters.Query{})
			onlyProblem(t, err, test.kind, append(test.words, g.URL())...)
			all := fmt.Sprint(err, roll.LookedIn)
			if strings.Contains(all, secret) || strings.Contains(all, "\x1b") {
				t.Errorf("leaks: %q", all)
			}
		})
	}
}

// TestNotRunning: stopped is no error, crashed, named or vanished is.
func TestNotRunning(t *testing.T) {
	gone := gatewaytest.Lock{PID: 4194399, StartTime: 1, Port: 1} // beyond the largest pid
	t.Run("stopped", func(t *testing.T) {
		w := newFixture(t)
		w.write(".openclaw/openclaw.json", `{gateway: {port: 1, auth: {token: 'x'}},}`)
		if roll, err := discover(t, w.adapter(), adapters.Query{}); err != nil || len(roll.Sessions) != 0 {
			t.Errorf("%v", err)
		}
	})
	t.Run("installed only", func(t *testing.T) {
		w := newFixture(t)
		w.write(".openclaw/state/x", "")
		if _, err := discover(t, w.adapter(), adapters.Query{}); err != nil {
			t.Errorf("%v", err)
		}
	})
	t.Run("crashed", func(t *testing.T) {
		w := newFixture(t)
		w.write(".openclaw/openclaw.json", `{"gateway":{"port":1,"auth":{"token":"x"}}}`)
		state := filepath.Join(w.home, ".openclaw")
		must.Do(t, gatewaytest.WriteLock(state, gone))
		roll, err := discover(t, w.adapter(), adapters.Query{})
		said := fmt.Sprint(roll.Skipped)
		for _, words := range []string{"gateway.state.lock", "process 4194399 is gone", "openclaw gateway start"} {
			if err != nil || len(roll.Skipped) != 1 || !strings.Contains(said, words) {
				t.Errorf("%v, %s; want %q for doctor, and no error", err, said, words)
			}
		}
		old := time.Now().Add(-25 * time.Hour)
		must.Do(t, os.Chtimes(gatewaytest.LockPath(state), old, old))
		if roll, err := discover(t, w.adapter(), adapters.Query{}); err != nil || len(roll.Skipped) > 0 {
			t.Errorf("after a day: %v, %v", err, roll.Skipped)
		}
	})
	t.Run("pid of another", func(t *testing.T) {
		w := newFixture(t)
		w.write(".openclaw/openclaw.json", `{"gateway":{"port":1}}`)
		self := proc.Self()
		err := gatewaytest.WriteLock(filepath.Join(w.home, ".openclaw"),
			gatewaytest.Lock{PID: self.PID, StartTime: self.Start + 5, Port: 1})
		must.Do(t, err)
		if roll, err := discover(t, w.adapter(), adapters.Query{}); err != nil || !strings.Contains(fmt.Sprint(roll.Skipped), "is gone") {
			t.Errorf("%v, %v", err, roll.Skipped)
		}
	})
	t.Run("not listening yet", func(t *testing.T) {
		if runtime.GOOS != "linux" {
			t.Skip("only on Linux is the owner of a lock told by its start time, which this process has")
		}
		w := newFixture(t)
		g := w.running(gatewaytest.Options{})
		g.Close()
		_, err := discover(t, w.adapter(), adapters.Query{})
		onlyProblem(t, err, adapters.ErrUnreadable, "nothing listens there")
	})
	t.Run("named in the environment", func(t *testing.T) {
		w := newFixture(t)
		w.env["OPENCLAW_GATEWAY_URL"] = "http://127.0.0.1:1/?token=" + secret
		roll, err := discover(t, w.adapter(), adapters.Query{})
		onlyProblem(t, err, adapters.ErrUnreadable, "named in OPENCLAW_GATEWAY_URL is not running")
		if strings.Contains(fmt.Sprint(err, roll.LookedIn), secret) {
			t.Error("leaks the token of the address")
		}
	})
	t.Run("ended cleanly, and comes back", func(t *testing.T) {
		if runtime.GOOS != "linux" {
			t.Skip("only on Linux is the owner of a lock told by its start time, which this process has")
		}
		w := newFixture(t)
		g := w.running(gatewaytest.Options{})
		g.Update(gatewaytest.Session{Key: "k", SessionID: "s", Running: true})
		a := w.adapter()
		one(t, a)
		port := g.Port()
		g.Close()
		must.Do(t, gatewaytest.RemoveLock(filepath.Join(w.home, ".openclaw")))
		if roll, err := discover(t, a, adapters.Query{}); err != nil || len(roll.Sessions) != 0 {
			t.Errorf("%v", err)
		}
		again := w.running(gatewaytest.Options{Port: port})
		again.Update(gatewaytest.Session{Key: "k", SessionID: "s", Status: "done"})
		if s := one(t, a); s.Status != adapters.Idle {
			t.Errorf("%+v", s)
		}
	})
	t.Run("seen without a lock, then gone: as for one who asks now", func(t *testing.T) {
		w := newFixture(t)
		g := w.running(gatewaytest.Options{})
		must.Do(t, gatewaytest.RemoveLock(filepath.Join(w.home, ".openclaw")))
		a := w.adapter()
		must.Get(discover(t, a, adapters.Query{}))(t)
		g.Close()
		for _, a := range []*openclaw.Adapter{a, w.adapter()} {
			if roll, err := discover(t, a, adapters.Query{}); err != nil || len(roll.Sessions) != 0 {
				t.Errorf("%+v, %v", roll, err)
			}
		}
	})
}

func TestStrangers(t *testing.T) {
	stray := make(chan string, 10)
	elsewhere := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { stray <- r.URL.String() }))
	defer elsewhere.Close()
	tests := []struct {
		name    string
		handler http.HandlerFunc
		words   []string
	}{
		{"a web server", func(w http.ResponseWriter, _ *http.Request) { fmt.Fprintln(w, "hello") }, []string{"answered HTTP 200 instead of opening a WebSocket"}},
		{"a redirect", func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, elsewhere.URL, http.StatusFound) }, []string{"redirect"}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			server := httptest.NewServer(test.handler)
			defer server.Close()
			w := newFixture(t)
			w.cfg.Gateways = []openclaw.Gateway{{URL: server.URL, Token: secret}}
			_, err := discover(t, w.adapter(), adapters.Query{})
			onlyProblem(t, err, adapters.ErrUnreadable, test.words...)
		})
	}
	if len(stray) > 0 {
		t.Errorf("the redirect was followed: %s", <-stray)
	}
}

// TestPlaintext: no byte goes to a machine elsewhere without TLS, whatever it is
// called.
func TestPlaintext(t *testing.T) {
	host := ownAddress(t)
	listener, err := net.Listen("tcp", net.JoinHostPort(host, "0"))
	if err != nil {
		t.Skip(err)
	}
	defer listener.Close()
	accepted := make(chan struct{}, 10)
	go func() {
		for {
			c, err := listener.Accept()
			if err != nil {
				return
			}
			accepted <- struct{}{}
			c.Close()
		}
	}()
	w := newFixture(t)
	w.cfg.Gateways = []openclaw.Gateway{{URL: "ws://" + listener.Addr().String(), Token: secret}}
	_, err = discover(t, w.adapter(), adapters.Query{})
	onlyProblem(t, err, adapters.ErrUnreadable, "travel unencrypted", "wss://")
	if len(accepted) > 0 {
		t.Error("it was connected to")
	}
	w.cfg.AllowPlaintext = true
	_, err = discover(t, w.adapter(), adapters.Query{})
	if err == nil || len(accepted) == 0 {
		t.Errorf("allowed, and not connected to: %v", err)
	}
}

// ownAddress is an address of this machine that isn't loopback.
func ownAddress(t *testing.T) string {
	addrs, err := net.InterfaceAddrs()
	if err != nil {
		t.Skip(err)
	}
	for _, a := range addrs {
		if n, ok := a.(*net.IPNet); ok && n.IP.To4() != nil && n.IP.IsGlobalUnicast() {
			return n.IP.String()
		}
	}
	t.Skip("this machine has loopback only")
	return ""
}

func TestTLS(t *testing.T) {
	w := newFixture(t)
	g := w.running(gatewaytest.Options{TLS: true})
	g.Update(gatewaytest.Session{Key: "k", SessionID: "s", Running: true})
	if s := one(t, w.adapter()); s.Status != adapters.Working || !strings.HasPrefix(s.Remote, "wss://") {
		t.Errorf("%+v", s)
	}
	other := newFixture(t) // knows neither the certificate nor who signed it
	other.cfg.Gateways = []openclaw.Gateway{{URL: g.URL(), Token: g.Token()}}
	_, err := discover(t, other.adapter(), adapters.Query{})
	onlyProblem(t, err, adapters.ErrUnreadable, "TLS certificate is not trusted")
	w.write(".openclaw/gateway/tls/gateway-cert.pem", "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n")
	_, err = discover(t, w.adapter(), adapters.Query{})
	onlyProblem(t, err, adapters.ErrUnreadable, "not the gateway's own")
}

// TestSecretsStayHome: what goes over the wire names the token once, in connect, and
// never sends an Origin.
func TestSecretsStayHome(t *testing.T) {
	w := newFixture(t)
	g := w.running(gatewaytest.Options{Token: secret})
	g.Update(gatewaytest.Session{Key: "k", SessionID: "s", Running: true, Label: "for " + secret})
	roll, err := discover(t, w.adapter(), adapters.Query{})
	must.Do(t, err)
	if got := roll.Sessions[0].Title; got != "for (secret)" {
		t.Errorf("title %q, want the token replaced", got)
	}
	if strings.Contains(fmt.Sprintf("%+v", roll), secret) {
		t.Error("the roll has the token")
	}
	for _, frame := range g.Received() {
		var f struct{ Method string }
		_ = json.Unmarshal(frame, &f)
		if strings.Contains(string(frame), secret) != (f.Method == "connect") {
			t.Errorf("%s", frame)
		}
	}
}

func TestDamagedSettings(t *testing.T) {
	for name, content := range map[string]string{
		"torn":        `{"gateway": {"port": 1`,
		"other types": `[1, 2]`,
		"binary":      "\x00\x01\x02",
		"unending":    `{"a": "`,
	} {
		t.Run(name, func(t *testing.T) {
			w := newFixture(t)
			w.write(".openclaw/openclaw.json", content)
			_, err := discover(t, w.adapter(), adapters.Query{})
			onlyProblem(t, err, adapters.ErrFormat, "openclaw.json", "openclaw doctor")
		})
	}
	t.Run("a folder", func(t *testing.T) {
		w := newFixture(t)
		w.write(".openclaw/openclaw.json/x", "")
		_, err := discover(t, w.adapter(), adapters.Query{})
		onlyProblem(t, err, adapters.ErrUnreadable, "openclaw.json")
	})
	t.Run("odd values", func(t *testing.T) {
		w := newFixture(t)
		w.write(".openclaw/openclaw.json", `{"gateway": {"port": "x", "auth": {"token": 5}, "mode": []}, "agents": {"list": [1, {"id": 2}]}}`)
		if _, err := discover(t, w.adapter(), adapters.Query{}); err != nil && errors.Is(err, adapters.ErrFormat) {
			t.Errorf("%v", err)
		}
	})
}
