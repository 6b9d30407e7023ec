package openclaw

import (
	"cmp"
	"encoding/json"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"

	"rollcall/adapters"
	"rollcall/adapters/internal/agentfile"
)

// lock is the lock file that a running gateway keeps in its state folder (2026.9.6).
type lock struct {
	PID       int    `json:"pid"`
	Start     uint64 `json:"startTime"` // on Linux field 22 of /proc/PID/stat
	Port      int    `json:"port"`
	CreatedAt string `json:"createdAt"`
	Config    string `json:"configPath"`
	StateDir  string `json:"stateDir"`
}

// readLock reads gateway.state.lock; ok reports whether there is one.
func readLock(path string) (l lock, ok bool, err error) {
	b, _, err := agentfile.ReadSmall(path, 1<<16)
	switch {
	case os.IsNotExist(err):
		return lock{}, false, nil
	case err != nil:
		return lock{}, false, adapters.Unreadable(path, err)
	}
	if json.Unmarshal(b, &l) != nil || l.PID <= 0 {
		// The lock is half written by a gateway that is starting: treated as no lock.
		return lock{}, false, nil
	}
	l.Port = validPort(l.Port)
	return l, true, nil
}

// lockPath returns where 2026.9.6 keeps the lock of the gateway with that state folder.
func lockPath(dir string) string {
	return filepath.Join(dir, "tmp", lockFolder(), "gateway.state.lock")
}

func lockFolder() string {
	if uid := os.Getuid(); uid >= 0 {
		return "openclaw-" + strconv.Itoa(uid)
	}
	return "openclaw"
}

// correctStateDir corrects the state folder of a gateway that was started with
// --profile. Neither its environment nor, once it runs, its arguments name the profile;
// its lock names the folder.
func (s *search) correctStateDir(g *gatewayProcess) {
	if g.foreign || g.env["OPENCLAW_STATE_DIR"] != "" {
		return
	}
	paths, _ := fs.Glob(os.DirFS(s.home), filepath.ToSlash(lockPath(".openclaw*")))
	for _, path := range paths {
		l, ok, err := readLock(filepath.Join(s.home, path))
		if !ok || err != nil || l.PID != g.PID || !s.isOwner(g.Process, l) {
			continue
		}
		if dir := cmp.Or(l.StateDir, filepath.Dir(l.Config)); filepath.IsAbs(dir) {
			g.stateDir, g.config = dir, cmp.Or(l.Config, g.config)
			return
		}
	}
}
