// Package settings reads what the user has set in config.toml. Rollcall never
// writes that file, and works the same without it.
package settings

import (
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/BurntSushi/toml"
)

// Settings are the user's settings. The zero value is that of a user without
// any.
type Settings struct {
	OpenClaw OpenClaw `toml:"openclaw"`
	Webhook  Webhook  `toml:"webhook"`
	Launch   Launch   `toml:"launch"`
}

// Webhook is whom to tell when a session ended; nobody unless URL is set.
type Webhook struct {
	URL string `toml:"url"` // http:// or https://
	// Secret signs what is told; SecretFile is a file with it alone, instead.
	Secret     string `toml:"secret"`
	SecretFile string `toml:"secret_file"`
}

// Launch is about agents that Rollcall starts.
type Launch struct {
	// KeepEnv leaves variables in place that would be left out, such as those
	// with which Claude Code bills an API account.
	KeepEnv bool `toml:"keep_env"`
}

// OpenClaw says which gateways are asked beside those found on this machine.
type OpenClaw struct {
	Gateways []Gateway `toml:"gateway"`
	// AllowPlaintext lets tokens travel to other machines over ws://, where
	// anybody on the way can read them.
	AllowPlaintext bool `toml:"allow_plaintext"`
}

// Gateway is one gateway of OpenClaw. Its token is a secret: no message and no
// log may have it.
type Gateway struct {
	Name  string `toml:"name"` // as it is shown; empty: the URL's host
	URL   string `toml:"url"`  // ws:// or wss://
	Token string `toml:"token"`
	// TokenFile is a file with the token alone, instead of Token. A relative
	// path begins at the folder of the settings, ~ at the home folder.
	TokenFile string `toml:"token_file"`
}

// Path returns where the settings lie: $XDG_CONFIG_HOME/rollcall/config.toml,
// below ~/Library/Application Support on macOS, below %AppData% on Windows.
func Path() (string, error) {
	dir, err := os.UserConfigDir()
	if err != nil {
		return "", fmt.Errorf("settings: %w", err)
	}
	return filepath.Join(dir, "rollcall", "config.toml"), nil
}

// maxSize is far above what a person writes.
const maxSize = 1 << 20

// Load reads the settings at path. A file that isn't there is no error. With an
// error, which names the file, the line and what to do, the settings are those
// that could be understood: one bad entry does not take away the others.
func Load(path string) (Settings, error) {
	var s Settings
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return s, nil
	case err != nil:
		return s, fmt.Errorf("settings: %w", err)
	case !info.Mode().IsRegular() || info.Size() > maxSize:
		return s, fmt.Errorf("settings: %s is no settings file: it should be a text file of at most 1 MB", path)
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return s, fmt.Errorf("settings: %w", err)
	}
	meta, err := toml.Decode(string(text), &s)
	if err != nil {
		return Settings{}, fmt.Errorf("settings: %s: %s; none of it is used until that is mended", path, explain(err))
	}
	var bad []error
	for _, key := range meta.Undecoded() {
		bad = append(bad, fmt.Errorf("settings: %s: %q is no setting of this version", path, key.String()))
	}
	s.OpenClaw.Gateways = slices.DeleteFunc(s.OpenClaw.Gateways, func(g Gateway) bool {
		err := g.check()
		if err != nil {
			bad = append(bad, fmt.Errorf("settings: %s: gateway %q is left out: %w", path, g.label(), err))
		}
		return err != nil
	})
	bad = append(bad, s.readTokens(path)...)
	if err := s.Webhook.check(filepath.Dir(path)); err != nil {
		bad = append(bad, fmt.Errorf("settings: %s: the webhook is left out: %w", path, err))
		s.Webhook = Webhook{}
	}
	return s, errors.Join(bad...)
}

func explain(err error) string {
	var pe toml.ParseError
	if errors.As(err, &pe) {
		return fmt.Sprintf("line %d: %s", pe.Position.Line, pe.Message)
	}
	return strings.TrimPrefix(err.Error(), "toml: ")
}

// check looks at a gateway as it stands. Its messages must not have the token,
// which may stand in the URL.
func (g *Gateway) check() error {
	u, err := url.Parse(g.URL)
	switch {
	case g.URL == "":
		return errors.New("it has no url")
	case err != nil:
		return errors.New("its url can't be read")
	case u.Scheme != "ws" && u.Scheme != "wss":
		return errors.New("its url must begin with ws:// or wss://")
	case u.Host == "":
		return errors.New("its url names no machine")
	case u.User != nil || u.RawQuery != "" || u.Fragment != "":
		return errors.New("its url must have neither user, query nor fragment; the token has a key of its own")
	case g.Token != "" && g.TokenFile != "":
		return errors.New("it has a token and a token_file; leave one out")
	}
	return nil
}

// check looks at the webhook and reads its secret. One without its secret would
// tell things that the other side must refuse.
func (w *Webhook) check(dir string) error {
	if w.URL == "" {
		if w.Secret != "" || w.SecretFile != "" {
			return errors.New("it has a secret and no url")
		}
		return nil
	}
	u, err := url.Parse(w.URL)
	switch {
	case err != nil:
		return errors.New("its url can't be read")
	case u.Scheme != "http" && u.Scheme != "https" || u.Host == "":
		return errors.New("its url must begin with http:// or https://")
	case w.Secret != "" && w.SecretFile != "":
		return errors.New("it has a secret and a secret_file; leave one out")
	case w.SecretFile != "":
		w.Secret, err = readToken(w.SecretFile, dir)
	}
	return err
}

// label names a gateway in a message.
func (g *Gateway) label() string {
	if g.Name != "" {
		return g.Name
	}
	if u, err := url.Parse(g.URL); err == nil {
		return u.Host
	}
	return ""
}

// readTokens reads the token files. A gateway whose file can't be read stays:
// its own answer says that the token is missing.
func (s *Settings) readTokens(path string) []error {
	var bad []error
	for i := range s.OpenClaw.Gateways {
		g := &s.OpenClaw.Gateways[i]
		if g.TokenFile == "" {
			continue
		}
		token, err := readToken(g.TokenFile, filepath.Dir(path))
		if err != nil {
			bad = append(bad, fmt.Errorf("settings: %s: token of gateway %q: %w", path, g.label(), err))
		}
		g.Token = token
	}
	return bad
}

func readToken(file, dir string) (string, error) {
	if rest, ok := strings.CutPrefix(file, "~/"); ok {
		home, err := os.UserHomeDir()
		if err != nil {
			return "", err
		}
		file = filepath.Join(home, rest)
	} else if !filepath.IsAbs(file) {
		file = filepath.Join(dir, file)
	}
	info, err := os.Stat(file)
	if err != nil {
		return "", err
	}
	if !info.Mode().IsRegular() || info.Size() > 16<<10 {
		return "", fmt.Errorf("%s: a token file is a short text file", file)
	}
	text, err := os.ReadFile(file)
	return strings.TrimSpace(string(text)), err
}
