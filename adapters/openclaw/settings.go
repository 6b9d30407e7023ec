package openclaw

import (
	"cmp"
	"crypto/sha256"
	"encoding/pem"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"rollcall/adapters"
	"rollcall/adapters/internal/agentfile"
)

// settings holds what an openclaw.json contains about its gateway.
type settings struct {
	path     string
	port     int
	remote   string // gateway.remote.url, when gateway.mode is "remote"
	auth     credentials
	tls      bool
	certPath string
	pin      string // gateway.remote.tlsFingerprint
	// workspaces maps an agent to its folder; "" stands for the default agent.
	workspaces map[string]string
}

// credentials holds a token or password. It must not appear in any message.
type credentials struct{ token, password string }

func (c credentials) none() bool { return c.token == "" && c.password == "" }

// String returns a placeholder, so that no code prints credentials by mistake.
func (credentials) String() string { return "(secret)" }

// GoString implements fmt.GoStringer for the same reason.
func (credentials) GoString() string { return "(secret)" }

// maxSettings is the largest size of openclaw.json in bytes. It usually has a few
// kilobytes.
const maxSettings = 4 << 20

// readSettings reads an openclaw.json. lookup resolves the variables in it.
func readSettings(path string, lookup func(string) string) (settings, error) {
	b, _, err := agentfile.ReadSmall(path, maxSettings)
	if err != nil {
		if os.IsNotExist(err) {
			return settings{}, err
		}
		return settings{}, adapters.Unreadable(path, err)
	}
	s, err := parseSettings(b, lookup)
	if err != nil {
		return settings{}, &adapters.Problem{Kind: adapters.ErrFormat, Path: path, Err: err,
			Fix: "OpenClaw itself reads JSON5; `openclaw doctor` checks the file"}
	}
	s.path = path
	return s, nil
}

func parseSettings(b []byte, lookup func(string) string) (settings, error) {
	var c struct {
		Gateway struct {
			Mode   any
			Port   any
			Auth   map[string]any
			Remote map[string]any
			TLS    map[string]any `json:"tls"`
		}
		Agents struct {
			Defaults map[string]any
			List     []any
		}
	}
	if err := unmarshalJSON5(b, &c); err != nil {
		return settings{}, err
	}
	g := c.Gateway
	s := settings{
		port:     port(g.Port),
		auth:     credentials{secret(g.Auth["token"], lookup), secret(g.Auth["password"], lookup)},
		certPath: text(g.TLS["certPath"]),
	}
	s.workspaces = map[string]string{"": text(c.Agents.Defaults["workspace"])}
	for _, a := range c.Agents.List {
		if agent, ok := a.(map[string]any); ok {
			s.workspaces[text(agent["id"])] = text(agent["workspace"])
		}
	}
	s.tls, _ = g.TLS["enabled"].(bool)
	switch text(g.Auth["mode"]) {
	case "none":
		s.auth = credentials{}
	case "token":
		s.auth.password = ""
	case "password":
		s.auth.token = ""
	}
	if text(g.Mode) == "remote" {
		s.remote = expand(text(g.Remote["url"]), lookup)
		s.auth = credentials{secret(g.Remote["token"], lookup), secret(g.Remote["password"], lookup)}
		s.pin = fingerprint(text(g.Remote["tlsFingerprint"]))
	}
	return s, nil
}

func text(v any) string {
	s, _ := v.(string)
	return strings.TrimSpace(s)
}

func port(v any) int {
	n, _ := v.(float64)
	if n != float64(int(n)) {
		return 0
	}
	return validPort(int(n))
}

var variable = regexp.MustCompile(`\$\{([A-Z_][A-Z0-9_]*)\}`)

// expand fills in ${NAME}, as OpenClaw does in every text of its settings.
func expand(s string, lookup func(string) string) string {
	return variable.ReplaceAllStringFunc(s, func(v string) string { return lookup(v[2 : len(v)-1]) })
}

// secret reads a secret: a text, or a reference to a variable. References to files and
// programs are not resolved.
func secret(v any, lookup func(string) string) string {
	switch v := v.(type) {
	case string:
		return strings.TrimSpace(expand(v, lookup))
	case map[string]any:
		if text(v["source"]) == "env" {
			return strings.TrimSpace(lookup(text(v["id"])))
		}
	}
	return ""
}

// dotenv reads the variables of a .env file. OpenClaw reads the one in its state folder.
func dotenv(path string) map[string]string {
	b, _, err := agentfile.ReadSmall(path, 1<<20)
	if err != nil {
		return nil
	}
	vars := map[string]string{}
	for line := range strings.Lines(string(b)) {
		name, value, ok := strings.Cut(strings.TrimPrefix(strings.TrimSpace(line), "export "), "=")
		name, value = strings.TrimSpace(name), strings.TrimSpace(value)
		if !ok || strings.HasPrefix(name, "#") {
			continue
		}
		if n := len(value); n >= 2 && (value[0] == '"' || value[0] == '\'') && value[n-1] == value[0] {
			value = value[1 : n-1]
		}
		vars[name] = value
	}
	return vars
}

// fingerprint returns the SHA-256 of a certificate as 64 lowercase hexadecimal digits, and ""
// for another text.
func fingerprint(s string) string {
	s = strings.ToLower(strings.ReplaceAll(strings.TrimPrefix(strings.ToLower(strings.TrimSpace(s)), "sha256:"), ":", ""))
	if len(s) != 64 || strings.Trim(s, "0123456789abcdef") != "" {
		return ""
	}
	return s
}

// pinOf returns the fingerprint of the certificate that a local gateway with TLS
// generates (2026.9.6) or was given, and "" if it can't be read.
func (s *settings) pinOf(stateDir string) string {
	b, _, err := agentfile.ReadSmall(cmp.Or(s.certPath, filepath.Join(stateDir, "gateway", "tls", "gateway-cert.pem")), 1<<16)
	if err != nil {
		return ""
	}
	block, _ := pem.Decode(b)
	if block == nil || block.Type != "CERTIFICATE" {
		return ""
	}
	return fmt.Sprintf("%x", sha256.Sum256(block.Bytes))
}
