package desktop

import (
	"net"
	"path/filepath"
	"testing"

	"rollcall/internal/must"
)

// What another process names as its desktop is asked only if a desktop's own program listens there.
func TestNamed(t *testing.T) {
	dir := t.TempDir()
	socket := filepath.Join(dir, "sway.sock")
	listener := must.Get(net.Listen("unix", socket))(t)
	defer listener.Close()
	for _, env := range []map[string]string{
		{},
		{"SWAYSOCK": socket},
		{"SWAYSOCK": "sway.sock"},
		{"SWAYSOCK": filepath.Join(dir, "none")},
		{"XDG_RUNTIME_DIR": dir, "HYPRLAND_INSTANCE_SIGNATURE": "../.."},
		{"DISPLAY": "localhost:10.0"},
		{"DISPLAY": socket + ":0"},
		{"DISPLAY": ":99999"},
	} {
		if got := Named(t.Context(), func(name string) string { return env[name] }); len(got) > 0 {
			t.Errorf("%v: %v", env, got)
		}
	}
}
