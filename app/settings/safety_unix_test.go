//go:build unix

package settings

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"rollcall/app/store"
	"rollcall/internal/must"
)

const stranger = 65534

func needsRoot(t *testing.T) {
	t.Helper()
	if os.Geteuid() != 0 {
		t.Skip("only root can give a file to another user")
	}
}

// Settings, and tokens, that another user may have written are not used, and the
// message says how to mend that.
func TestUnsafe(t *testing.T) {
	const text = "[[openclaw.gateway]]\nurl = \"ws://127.0.0.1:1\"\ntoken_file = \"token\"\n"
	for name, tt := range map[string]struct {
		do   func(t *testing.T, path string) // a file in a folder of its own
		says string
	}{
		"another user's":       {func(t *testing.T, path string) { needsRoot(t); must.Do(t, os.Chown(path, stranger, stranger)) }, "belongs to another user (uid 65534)"},
		"written by others":    {func(t *testing.T, path string) { must.Do(t, os.Chmod(path, 0o606)) }, "chmod go-w"},
		"written by the group": {func(t *testing.T, path string) { must.Do(t, os.Chmod(path, 0o660)) }, "chmod go-w"},
		"in a folder that others write": {func(t *testing.T, path string) {
			must.Do(t, os.Chmod(filepath.Dir(path), 0o777))
		}, "chmod go-w"},
		"another user's link": {func(t *testing.T, path string) {
			needsRoot(t)
			must.Do(t, os.Rename(path, path+".own"))
			must.Do(t, os.Symlink(path+".own", path))
			must.Do(t, os.Lchown(path, stranger, stranger))
		}, "Replace the link"},
		"link to another user's": {func(t *testing.T, path string) {
			needsRoot(t)
			must.Do(t, os.Rename(path, path+".own"))
			must.Do(t, os.Symlink(path+".own", path))
			must.Do(t, os.Chown(path+".own", stranger, stranger))
		}, "belongs to another user (uid 65534)"},
		"pipe": {func(t *testing.T, path string) {
			must.Do(t, os.Remove(path))
			must.Do(t, syscall.Mkfifo(path, 0o600))
		}, "file"},
	} {
		t.Run(name, func(t *testing.T) {
			path := write(t, text)
			token := filepath.Join(filepath.Dir(path), "token")
			must.Do(t, os.WriteFile(token, []byte("hush"), 0o600))
			if s, err := Load(path); err != nil || s.OpenClaw.Gateways[0].Token != "hush" {
				t.Fatalf("before: %+v, %v", s, err)
			}
			tt.do(t, path)
			s, err := Load(path)
			if err == nil || !strings.Contains(err.Error(), tt.says) || len(s.OpenClaw.Gateways) > 0 {
				t.Errorf("settings: %+v, %v", s, err)
			}

			path = write(t, text)
			dir := t.TempDir()
			token = filepath.Join(dir, "token")
			must.Do(t, os.WriteFile(token, []byte("hush"), 0o600))
			must.Do(t, os.WriteFile(path, []byte(strings.ReplaceAll(text, `"token"`, `"`+token+`"`)), 0o600))
			tt.do(t, token)
			s, err = Load(path)
			if err == nil || !strings.Contains(err.Error(), tt.says) || s.OpenClaw.Gateways[0].Token != "" {
				t.Errorf("token: %+v, %v", s, err)
			}
		})
	}
}

// Programs that manage settings make config.toml, or its folder, a link of the
// user's to a file of the user's or of root.
func TestLinksOfTheUser(t *testing.T) {
	home := t.TempDir()
	dotfiles := filepath.Join(home, "dotfiles")
	must.Do(t, os.MkdirAll(filepath.Join(dotfiles, "rollcall"), 0o700))
	must.Do(t, os.WriteFile(filepath.Join(dotfiles, "rollcall", "real.toml"), []byte("[launch]\nkeep_env = true"), 0o600))
	must.Do(t, os.Symlink("real.toml", filepath.Join(dotfiles, "rollcall", "config.toml")))
	must.Do(t, os.Mkdir(filepath.Join(home, ".config"), 0o700))
	must.Do(t, os.Symlink("../dotfiles/rollcall", filepath.Join(home, ".config", "rollcall")))
	s, err := Load(filepath.Join(home, ".config", "rollcall", "config.toml"))
	if err != nil || !s.Launch.KeepEnv {
		t.Errorf("%+v, %v", s, err)
	}
	must.Do(t, os.Remove(filepath.Join(dotfiles, "rollcall", "real.toml")))
	must.Do(t, os.Symlink("config.toml", filepath.Join(dotfiles, "rollcall", "real.toml")))
	if _, err := Load(filepath.Join(home, ".config", "rollcall", "config.toml")); err == nil || errors.Is(err, store.ErrUnsafe) {
		t.Errorf("links in a circle: %v", err)
	}
}
