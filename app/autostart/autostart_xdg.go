//go:build unix && !darwin

package autostart

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// desktopFile returns the autostart file of the tray. TryExec makes the desktop ignore it once the program was removed.
func desktopFile() (*file, error) {
	dir, err := os.UserConfigDir()
	if err != nil {
		return nil, err
	}
	return &file{
		path: filepath.Join(dir, "autostart", "io.github.rollcall.Rollcall.desktop"),
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
	}, nil
}

// quoteExec quotes a program's path for the key Exec: first as an argument, then as a string of the file.
func quoteExec(path string) string {
	argument := strings.NewReplacer(`\`, `\\`, `"`, `\"`, "`", "\\`", "$", `\$`, "%", "%%").Replace(path)
	return `"` + strings.ReplaceAll(argument, `\`, `\\`) + `"`
}

// unit names the systemd user unit of the keeper.
const unit = "rollcall-keep.service"

// keeperUnit returns the unit of the keeper, and the path of the link that starts it at login, as `systemctl --user enable`
// makes it.
func keeperUnit() (f *file, link string, err error) {
	dir, err := os.UserConfigDir()
	if err != nil {
		return nil, "", err
	}
	dir = filepath.Join(dir, "systemd", "user")
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
	}, filepath.Join(dir, "default.target.wants", unit), nil
}

// Unit returns the systemd user unit that starts the keeper of a program. With another KillMode the agents would end with
// their keeper.
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

func (e Entry) on(program string) (c Change, err error) {
	if strings.ContainsFunc(program, func(r rune) bool { return r < ' ' }) {
		return c, fmt.Errorf("the program's path %q has a control character; install it elsewhere", program)
	}
	if e.kind == keeper {
		return keeperOn(program)
	}
	f, err := desktopFile()
	if err != nil {
		return c, err
	}
	err = f.write(program, &c)
	return c, err
}

func keeperOn(program string) (c Change, err error) {
	f, link, err := keeperUnit()
	if err != nil {
		return c, err
	}
	if err := f.write(program, &c); err != nil {
		return c, err
	}
	if to, err := os.Readlink(link); err != nil || to != f.path {
		if err == nil {
			_ = os.Remove(link)
		}
		if err := os.MkdirAll(filepath.Dir(link), 0o755); err != nil {
			return c, err
		}
		if err := os.Symlink(f.path, link); err != nil {
			return c, err
		}
	}
	c.Paths = append(c.Paths, link)
	c.Hint = "It starts at your next login. To have it run without one, also after a restart: loginctl enable-linger"
	return c, nil
}

func (e Entry) off() (c Change, err error) {
	if e.kind == tray {
		f, err := desktopFile()
		if err == nil {
			err = f.remove(&c)
		}
		return c, err
	}
	f, link, err := keeperUnit()
	if err != nil {
		return c, err
	}
	// The link goes first: it alone is what starts the unit, whoever edited that.
	if info, err := os.Lstat(link); err == nil && info.Mode()&os.ModeSymlink != 0 {
		if err := os.Remove(link); err != nil {
			return c, err
		}
		c.Paths = append(c.Paths, link)
	}
	err = f.remove(&c)
	return c, err
}

func (e Entry) state() (s State, err error) {
	if e.kind == tray {
		f, err := desktopFile()
		if err != nil {
			return s, err
		}
		s, text, err := f.state()
		lines := strings.Split(text, "\n")
		if slices.Contains(lines, "Hidden=true") || slices.Contains(lines, "X-GNOME-Autostart-enabled=false") {
			s.On, s.Problem = false, "the desktop's settings turned it off"
		}
		return s, err
	}
	f, link, err := keeperUnit()
	if err != nil {
		return s, err
	}
	s, _, err = f.state()
	if _, linkErr := os.Lstat(link); linkErr == nil {
		s.Paths = append(s.Paths, link)
		if _, err := os.Stat(link); err == nil {
			s.On = true // also a package's unit, which systemctl --user enable links
		}
	} else if errors.Is(linkErr, os.ErrNotExist) {
		s.On = false
	}
	return s, err
}
