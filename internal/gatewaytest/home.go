package gatewaytest

import (
	"encoding/json"
	"encoding/pem"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"rollcall/proc"
)

// WriteHome writes into home what a gateway leaves there while it runs:
// .openclaw/openclaw.json with its port and token, and its lock, which names the
// calling process.
func (g *Gateway) WriteHome(home string) error {
	return g.WriteState(filepath.Join(home, ".openclaw"))
}

// WriteState does it for another state folder, as profiles have them
// (.openclaw-NAME).
func (g *Gateway) WriteState(stateDir string) error {
	if err := g.writeConfig(stateDir); err != nil {
		return err
	}
	if err := g.writeCertificate(stateDir); err != nil {
		return err
	}
	self := proc.Self()
	return WriteLock(stateDir, Lock{PID: self.PID, StartTime: self.Start, Port: g.Port()})
}

func (g *Gateway) writeConfig(stateDir string) error {
	auth := map[string]any{"mode": "token", "token": g.opts.Token}
	switch {
	case g.opts.NoAuth:
		auth = map[string]any{"mode": "none"}
	case g.opts.Password != "":
		auth = map[string]any{"mode": "password", "password": g.opts.Password}
	}
	gateway := map[string]any{"mode": "local", "port": g.Port(), "bind": "loopback", "auth": auth}
	if g.opts.TLS {
		gateway["tls"] = map[string]any{"enabled": true}
	}
	return writeJSON(filepath.Join(stateDir, "openclaw.json"), map[string]any{
		"gateway": gateway,
		"agents":  map[string]any{"defaults": map[string]any{"workspace": "/home/dev/ws"}},
	})
}

func (g *Gateway) writeCertificate(stateDir string) error {
	if !g.opts.TLS {
		return nil
	}
	path := filepath.Join(stateDir, "gateway", "tls", "gateway-cert.pem")
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	return os.WriteFile(path, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: g.Certificate()}), 0o600)
}

// Lock is the content of gateway.state.lock.
type Lock struct {
	PID       int
	StartTime uint64 // 0 is left out
	Port      int
}

// LockPath returns where a gateway with that state folder has its lock.
func LockPath(stateDir string) string {
	folder := "openclaw"
	if uid := os.Getuid(); uid >= 0 {
		folder = fmt.Sprintf("openclaw-%d", uid)
	}
	return filepath.Join(stateDir, "tmp", folder, "gateway.state.lock")
}

// WriteLock writes a gateway's lock. A clean exit removes it: see RemoveLock.
func WriteLock(stateDir string, l Lock) error {
	lock := map[string]any{
		"pid": l.PID, "ownerId": newID(), "createdAt": time.Now().UTC().Format("2006-01-02T15:04:05.000Z"),
		"configPath": filepath.Join(stateDir, "openclaw.json"), "stateDir": stateDir, "port": l.Port,
	}
	if l.StartTime != 0 {
		lock["startTime"] = l.StartTime
	}
	return writeJSON(LockPath(stateDir), lock)
}

// RemoveLock removes the lock, as a gateway that ends cleanly does.
func RemoveLock(stateDir string) error { return os.Remove(LockPath(stateDir)) }

func writeJSON(path string, v any) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	b, err := json.MarshalIndent(v, "", "  ")
	if err != nil {
		return err
	}
	return os.WriteFile(path, append(b, '\n'), 0o600)
}
