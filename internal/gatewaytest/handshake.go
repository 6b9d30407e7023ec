package gatewaytest

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

type connectParams struct {
	Min    *int `json:"minProtocol"`
	Max    *int `json:"maxProtocol"`
	Client struct {
		ID, Version, Platform, Mode string
	} `json:"client"`
	Role   string          `json:"role"`
	Scopes json.RawMessage `json:"scopes"`
	Auth   struct {
		Token, Password string
	} `json:"auth"`
}

var (
	clientIDs = []string{"webchat-ui", "openclaw-control-ui", "openclaw-tui", "webchat", "cli", "gateway-client",
		"openclaw-macos", "openclaw-ios", "openclaw-android", "node-host", "test", "fingerprint", "openclaw-probe"}
	clientModes = []string{"webchat", "cli", "ui", "backend", "node", "probe", "test"}
)

// connect checks in the order of 2026.9.6: the form of the request, the
// protocol, the origin, the credentials, the state of the gateway.
func (c *conn) connect(raw json.RawMessage) (any, *failure) {
	var p connectParams
	if err := json.Unmarshal(raw, &p); err != nil {
		return nil, invalid("invalid connect params: at root: must be object", nil)
	}
	if f := p.form(); f != nil {
		return nil, f
	}
	o := c.g.opts
	if *p.Max < o.MinProtocol || *p.Min > o.MaxProtocol {
		f := invalid("protocol mismatch", map[string]any{"code": "PROTOCOL_MISMATCH",
			"clientMinProtocol": *p.Min, "clientMaxProtocol": *p.Max, "expectedProtocol": o.MaxProtocol})
		f.close = 1002
		return nil, f
	}
	if c.origin {
		const m = "origin not allowed (open the Control UI from the gateway host or allow it in gateway.controlUi.allowedOrigins)"
		return nil, invalid(m, map[string]any{"code": "CONTROL_UI_ORIGIN_NOT_ALLOWED", "reason": "origin not allowed"})
	}
	if f := c.authenticate(&p); f != nil {
		return nil, f
	}
	c.g.mu.Lock()
	starting := c.g.starting
	c.g.mu.Unlock()
	if starting {
		return nil, &failure{Code: "UNAVAILABLE", Message: "gateway starting; retry shortly", Retryable: true, RetryAfterMs: 500,
			Details: map[string]any{"reason": "startup-sidecars"}, close: 1013, reason: "gateway starting"}
	}
	return c.welcome(&p), nil
}

func (p *connectParams) form() *failure {
	var scopes []string
	switch {
	case p.Min == nil || p.Max == nil:
		return invalid("invalid connect params: at root: must have required property 'minProtocol'", nil)
	case !slices.Contains(clientIDs, p.Client.ID):
		return invalid("invalid connect params: at /client/id: must be equal to one of the allowed values", nil)
	case !slices.Contains(clientModes, p.Client.Mode):
		return invalid("invalid connect params: at /client/mode: must be equal to one of the allowed values", nil)
	case p.Client.Version == "" || p.Client.Platform == "":
		return invalid("invalid connect params: at /client: must have required property 'version'", nil)
	case json.Unmarshal(p.Scopes, &scopes) != nil || scopes == nil:
		return invalid("invalid connect params: at /scopes: must be array", nil)
	}
	return nil
}

func (c *conn) authenticate(p *connectParams) *failure {
	o := c.g.opts
	wrong := func(kind, code, reason string) *failure {
		m := fmt.Sprintf("unauthorized: gateway %s %s (use this gateway's gateway.auth.%s or pair the device)", kind, reason, kind)
		return invalid(m, map[string]any{"code": code, "authReason": kind + "_" + reason, "canRetryWithDeviceToken": false})
	}
	switch {
	case o.NoAuth:
		return nil
	case o.Password != "":
		if p.Auth.Password == "" {
			return wrong("password", "AUTH_PASSWORD_MISSING", "missing")
		}
		if p.Auth.Password != o.Password {
			return wrong("password", "AUTH_PASSWORD_MISMATCH", "mismatch")
		}
	case p.Auth.Token == "":
		return wrong("token", "AUTH_TOKEN_MISSING", "missing")
	case p.Auth.Token != o.Token:
		return wrong("token", "AUTH_TOKEN_MISMATCH", "mismatch")
	}
	return nil
}

// welcome grants the scopes: without a device exactly those asked for, and none
// to the modes ui and probe, or with Options.BackendOnly to all but one.
func (c *conn) welcome(p *connectParams) any {
	var scopes []string
	_ = json.Unmarshal(p.Scopes, &scopes)
	backend := p.Client.ID == "gateway-client" && p.Client.Mode == "backend"
	if p.Client.Mode == "ui" || p.Client.Mode == "probe" || c.g.opts.BackendOnly && !backend || c.g.opts.NoScopes {
		scopes = []string{}
	}
	if c.g.opts.DenyAdmin {
		scopes = slices.DeleteFunc(scopes, func(s string) bool { return s == "operator.admin" })
	}
	c.mu.Lock()
	c.scopes, c.ready = scopes, true
	c.mu.Unlock()
	names := make([]string, 0, len(methods))
	for name, m := range methods {
		if m.since <= c.g.opts.MaxProtocol {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return map[string]any{
		"type": "hello-ok", "protocol": c.g.opts.MaxProtocol,
		"server":   map[string]any{"version": c.g.opts.Version, "bootId": c.g.bootID, "connId": c.id},
		"features": map[string]any{"methods": names, "events": strings.Fields("connect.challenge agent chat session.message sessions.changed tick health shutdown exec.approval.requested exec.approval.resolved")},
		"snapshot": map[string]any{},
		"auth":     map[string]any{"method": "token", "role": "operator", "scopes": scopes},
		"policy":   map[string]any{"maxPayload": 25 << 20, "maxBufferedBytes": 50 << 20, "tickIntervalMs": 30000},
	}
}
