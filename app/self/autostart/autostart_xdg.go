//go:build unix && !darwin

package autostart

import (
	"os"
	"path/filepath"
	"strings"
)

// file returns the file that starts the entry.
func (e Entry) file() (*file, error) {
	dir, err := os.UserConfigDir()
	if err != nil {
		return nil, err
	}
	if e == Keeper {
		return keeperUnit(filepath.Join(dir, "systemd", "user")), nil
	}
	return desktopFile(filepath.Join(dir, "autostart")), nil
}

// desktopFile returns the autostart file of the tray. TryExec makes the desktop ignore it once the program was removed.
func desktopFile(dir string) *file {
	return &file{
		path: filepath.Join(dir, "io.github.rollcall.Rollcall.desktop"),
		text: func(program string) string {
			return `[Desktop Entry]
Type=Application
Name=Rollcall
Comment=Who is working, who waits for you, who is done
Exec=` + quoteExec(program) + `
TryExec=` + strings.ReplaceAll(program, `\`, `\\`) + `
Icon=io.github.rollcall.Rollcall
Terminal=false
StartupNotify=false
`
		},
		program: func(text string) string {
			for line := range strings.Lines(text) {
				if program, ok := strings.CutPrefix(strings.TrimRight(line, "\n"), "TryExec="); ok {
					return strings.ReplaceAll(program, `\\`, `\`)
				}
			}
			return ""
		},
		switches: []string{"Hidden=", "X-GNOME-Autostart-"},
		off:      []string{"Hidden=true", "X-GNOME-Autostart-enabled=false"},
	}
}

// quoteExec quotes a program's path for the key Exec: first as an argument, then as a string of the file.
func quoteExec(path string) string {
	argument := strings.NewReplacer(`\`, `\\`, `"`, `\"`, "`", "\\`", "$", `\$`, "%", "%%").Replace(path)
	return `"` + strings.ReplaceAll(argument, `\`, `\\`) + `"`
}

// unit names the systemd user unit of the keeper.
const unit = "rollcall-keep.service"

// keeperUnit returns the unit of the keeper. Its link is the one that `systemctl --user enable` creates.
func keeperUnit(dir string) *file {
	return &file{
		path: filepath.Join(dir, unit),
		text: Unit,
		program: func(text string) string {
			_, rest, _ := strings.Cut(text, "\nExecStart=\"")
			quoted, _, ok := strings.Cut(rest, "\" keep\n")
			if !ok {
				return ""
			}
			return strings.NewReplacer(`\\`, `\`, `\"`, `"`, "%%", "%", "$$", "$").Replace(quoted)
		},
		link: filepath.Join(dir, "default.target.wants", unit),
		hint: "It starts at your next login. To start it without a login too, also after a restart, run: loginctl enable-linger",
	}
}

// Unit returns the systemd user unit that starts the keeper of a program. With another KillMode the agents would end with
// their keeper.
//
// It has no NoNewPrivileges, ProtectSystem, PrivateTmp or SystemCallFilter. The keeper is the parent of the agents that the user launches, and they would
// inherit all of it: no sudo, and nothing written outside of what the unit allows. In a user unit each of these brings no_new_privs, and most a user or mount
// namespace: then the tray and the keeper refuse each other (proc.CheckBoundary), as a process in a sandbox is another party.
func Unit(program string) string {
	return `[Unit]
Description=Rollcall: launches, hooks, fuses and the webhook

[Service]
ExecStart="` + strings.NewReplacer(`\`, `\\`, `"`, `\"`, "%", "%%", "$", "$$").Replace(program) + `" keep
KillMode=process
Restart=on-failure

[Install]
WantedBy=default.target
`
}
