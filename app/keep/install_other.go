//go:build !darwin && !windows

package keep

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"rollcall/app/owned"
)

// unit names the systemd user unit.
const unit = "rollcall-keep.service"

// unitPaths returns the paths of the unit and of the link that starts it at login, as `systemctl --user enable` makes it.
func unitPaths() (file, link string, err error) {
	dir, err := os.UserConfigDir()
	dir = filepath.Join(dir, "systemd", "user")
	return filepath.Join(dir, unit), filepath.Join(dir, "default.target.wants", unit), err
}

// Install makes systemd start the keeper when the user logs in.
func Install() (i Installation, err error) {
	program, err := programPath()
	if err != nil {
		return i, err
	}
	file, link, err := unitPaths()
	if err != nil {
		return i, err
	}
	// With another KillMode the agents would end with their keeper.
	text := `[Unit]
Description=Rollcall: launches, hooks, fuses and the webhook

[Service]
ExecStart=` + quoteUnit(program) + ` keep
KillMode=process
Restart=on-failure

[Install]
WantedBy=default.target
`
	if err := i.write(file, text); err != nil {
		return i, err
	}
	if to, err := os.Readlink(link); err != nil || to != file {
		if err == nil {
			_ = os.Remove(link)
		}
		if err := os.MkdirAll(filepath.Dir(link), 0o755); err != nil {
			return i, fmt.Errorf("start the keeper at login: %w", err)
		}
		if err := os.Symlink(file, link); err != nil {
			return i, fmt.Errorf("start the keeper at login: %w", err)
		}
	}
	i.Paths = append(i.Paths, link)
	i.Hint = "It starts at your next login. To have it run without one, also after a restart: loginctl enable-linger"
	return i, nil
}

// Installed reports whether the keeper is started at login.
func Installed() bool {
	_, link, err := unitPaths()
	return err == nil && !owned.Missing(link)
}

// Uninstall undoes Install.
func Uninstall() (i Installation, err error) {
	file, link, err := unitPaths()
	if err != nil {
		return i, err
	}
	return i, errors.Join(i.remove(link), i.remove(file))
}

// quoteUnit quotes a program's path for a unit file.
func quoteUnit(path string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`, "%", "%%", "$", "$$").Replace(path) + `"`
}
