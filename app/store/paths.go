package store

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
)

// program is the name of Rollcall's folder in each of the system's folders.
const program = "rollcall"

// The folders and files in Rollcall's state folder.
const (
	Launches      = "launches"
	Locks         = "locks"
	Worktrees     = "worktrees"
	Fuses         = "fuses"
	Webhook       = "webhook"       // messages of the webhook that have not been delivered
	Machines      = "machines"      // the machines of machine add
	Notifications = "notifications" // the notifications that are on the screen
	Quiet         = "quiet"         // do not disturb
	Marks         = "marks"         // the user's names for sessions, and which are pinned or hidden
	Limits        = "limits"        // what agents told the status line
	Window        = "window.json"   // its size
	Homes         = "homes"         // the folders that agents used in the last 24 hours
)

// StatePath returns the path of the folder in which Rollcall keeps its files:
// $XDG_STATE_HOME/rollcall or ~/.local/state/rollcall, on macOS
// ~/Library/Application Support/rollcall, on Windows %LOCALAPPDATA%\rollcall. The
// folder may not exist yet.
func StatePath() (string, error) {
	switch runtime.GOOS {
	case "windows":
		if dir := os.Getenv("LOCALAPPDATA"); dir != "" {
			return filepath.Join(dir, program), nil
		}
		return "", errors.New("LOCALAPPDATA is not set")
	case "darwin":
		home, err := os.UserHomeDir()
		return filepath.Join(home, "Library", "Application Support", program), err
	}
	if dir := os.Getenv("XDG_STATE_HOME"); filepath.IsAbs(dir) {
		return filepath.Join(dir, program), nil
	}
	home, err := os.UserHomeDir()
	return filepath.Join(home, ".local", "state", program), err
}

// SettingsPath returns the path of the user's settings:
// $XDG_CONFIG_HOME/rollcall/config.toml, below ~/Library/Application Support on macOS,
// below %AppData% on Windows.
func SettingsPath() (string, error) {
	dir, err := os.UserConfigDir()
	if err != nil {
		return "", fmt.Errorf("settings: %w", err)
	}
	return filepath.Join(dir, program, "config.toml"), nil
}

// FactsPath returns the path of the cache of data parsed from agents' files: rollcall/facts in the user's folder for caches.
// The folder may not exist yet.
func FactsPath() (string, error) {
	dir, err := os.UserCacheDir()
	if err != nil {
		return "", fmt.Errorf("cache: %w", err)
	}
	return filepath.Join(dir, program, "facts"), nil
}

// RuntimePaths returns the paths at which Rollcall's folder for locks and sockets may
// be, the preferred one first. Each is in a folder of the system's, which is local,
// private to the user and emptied at logout, and which may not exist. A process that
// was started without XDG_RUNTIME_DIR (by cron, or by ssh without PAM) must find the
// folder of the others, so the place where systemd puts it is among them.
func RuntimePaths() []string {
	if runtime.GOOS == "windows" || runtime.GOOS == "darwin" {
		return nil
	}
	var out []string
	for _, dir := range []string{os.Getenv("XDG_RUNTIME_DIR"), fmt.Sprintf("/run/user/%d", os.Getuid())} {
		if filepath.IsAbs(dir) {
			out = append(out, filepath.Join(dir, program))
		}
	}
	return out
}
