// Package settings reads the user's settings in config.toml, follows its changes, and changes single keys where the user
// asks for it. Rollcall does not need the file.
package settings

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/BurntSushi/toml"

	"rollcall/adapters"
	"rollcall/app/self/updates"
	"rollcall/app/store"
	"rollcall/bounded"
)

// Settings are the user's settings. The zero value has the defaults.
type Settings struct {
	// DefaultAgent is the agent of a launch that names none.
	DefaultAgent adapters.Name `toml:"default_agent"`
	// LeaveOut are the names of environment variables that launches do not inherit.
	LeaveOut []string `toml:"leave_out_environment"`
	// LeftOutAgents are the agents whose sessions are not shown, unless Rollcall launched them.
	LeftOutAgents []adapters.Name `toml:"leave_out_agents"`
	// Headless is how the menu and the notifications treat headless sessions, as app.Headless names it; empty: the default.
	Headless string                  `toml:"headless"`
	Agents   map[adapters.Name]Agent `toml:"agents"`
	// Homes are the folders, by agent, in which an agent keeps its files besides its own. HomesOf returns them.
	Homes    map[adapters.Name]Homes `toml:"homes"`
	OpenClaw OpenClaw                `toml:"openclaw"`
	Webhook  Webhook                 `toml:"webhook"`
	Metrics  Metrics                 `toml:"metrics"`
	Launch   Launch                  `toml:"launch"`
	// Prices are the user's prices by model, as the sessions name it. They give the cost of sessions whose agent states none.
	Prices map[string]Price `toml:"prices"`
	// Answering determines which requests of agents may be answered from Rollcall, and which by one key.
	Answering AnsweringTable `toml:"answering"`
	Updates   Updates        `toml:"updates"`
	// Notifications are the settings of notifications on the desktop.
	Notifications Notifications `toml:"notifications"`
	// StalledAfter is how long a working session gives no sign of life before its row says so; see Stalled.
	StalledAfter Duration `toml:"stalled_after"`
	// Theme is the theme of the window: "light", "dark", or "desktop" for that of the desktop.
	Theme Theme `toml:"theme"`
	// Cache reports whether data parsed from agents' files is stored for later processes; nil: yes.
	Cache *bool `toml:"cache"`
	// Terminal and Editor are the commands that open a terminal and a folder in an editor; empty: Rollcall finds one.
	Terminal Command `toml:"terminal"`
	Editor   Command `toml:"editor"`
	// Machines are the other machines whose sessions are shown.
	Machines []Machine `toml:"machine"`
	// Named are the agents that the user named. Unread are the same in the adapters' form.
	Named  []NamedAgent      `toml:"agent"`
	Unread []adapters.Unread `toml:"-"`
}

// UsesCache reports whether data parsed from agents' files may be stored for later processes.
func (s *Settings) UsesCache() bool { return s.Cache == nil || *s.Cache }

// Stalled returns after how long a working session without a sign of life is shown as such; 0: never.
func (s *Settings) Stalled() time.Duration { return s.StalledAfter.Or(10 * time.Minute) }

// Price is what a model costs, in USD per million tokens.
type Price struct {
	Input      float64 `toml:"input"`
	Output     float64 `toml:"output"`
	CacheRead  float64 `toml:"cache_read"`
	CacheWrite float64 `toml:"cache_write"`
}

// Updates contains the address of the feed that names the newest version. Rollcall asks it only when the user calls for it.
type Updates struct {
	Feed string `toml:"feed"` // https://; empty: none
}

// Theme is a theme of the window. The zero value is DesktopTheme.
type Theme string

// The themes.
const (
	DesktopTheme Theme = "desktop"
	LightTheme   Theme = "light"
	DarkTheme    Theme = "dark"
)

// Themes returns all themes.
func Themes() []Theme { return []Theme{DesktopTheme, LightTheme, DarkTheme} }

// Agent contains the settings of one agent: the model and the permission mode, as the agent names them, of a launch that names none.
type Agent struct {
	Model string `toml:"model"`
	Mode  string `toml:"mode"`
	// TokenFile is a file, as that of a Gateway, with the token that the user made for Rollcall by adapters.Description.Token. Token is its text, a secret.
	TokenFile string `toml:"token_file"`
	Token     string `toml:"-"`
}

// Webhook is the webhook for the ends of sessions. There is none unless URL is set.
type Webhook struct {
	URL string `toml:"url"` // http:// or https://
	// Secret is the key of the signature. SecretFile is a file that contains only the secret; it is an alternative.
	Secret     string `toml:"secret"`
	SecretFile string `toml:"secret_file"`
}

// Launch are the settings of launches.
type Launch struct {
	// KeepEnv keeps environment variables that a launch would drop, such as those that make Claude Code bill an API
	// account.
	KeepEnv bool `toml:"keep_env"`
}

// OpenClaw are the gateways that Rollcall asks in addition to those on this machine.
type OpenClaw struct {
	Gateways []Gateway `toml:"gateway"`
	// AllowPlaintext allows sending tokens to other machines over ws://, which anyone on the network can read.
	AllowPlaintext bool `toml:"allow_plaintext"`
}

// Gateway is one gateway of OpenClaw. Its token is a secret and must not appear in messages or logs.
type Gateway struct {
	Name  string `toml:"name"` // for display; empty: the URL's host
	URL   string `toml:"url"`  // ws:// or wss://
	Token string `toml:"token"`
	// TokenFile is a file that contains only the token; it is an alternative to Token. A relative path is relative to the
	// folder of the settings, and ~ is the home folder.
	TokenFile string `toml:"token_file"`
}

// maxSize is far above the size that a person writes.
const maxSize = 1 << 20

// The environment variables that replace the address and the secret of the webhook in the file.
const (
	WebhookURL    = "ROLLCALL_WEBHOOK_URL"
	WebhookSecret = "ROLLCALL_WEBHOOK_SECRET"
)

// Load reads the settings at path, and those of the environment. A missing file is not an error. The error names the file or the variables and, where possible,
// the line; the settings returned with it are those that could be understood. With a file that cannot be used Load ignores the environment too, since the file
// may have the secret of the webhook.
func Load(path string) (Settings, error) {
	var s Settings
	text, err := readFile(path, maxSize)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return s, s.checkWebhook(path)
	case errors.Is(err, store.ErrNotRegular), errors.Is(err, store.ErrTooLarge):
		return unusable, fmt.Errorf("settings: %s is not a settings file: it must be a text file of at most 1 MB", path)
	case err != nil:
		return unusable, fmt.Errorf("settings: %w", err)
	}
	meta, err := toml.Decode(string(text), &s)
	if err != nil {
		return unusable, fmt.Errorf("settings: %s: %s; the whole file is ignored until you correct that", path, explain(err))
	}
	var bad []error
	var mistakes []mistake
	for _, key := range meta.Undecoded() {
		if key[0] == answeringTable { // it checks its keys itself
			continue
		}
		mistakes = append(mistakes, mistake{key, fmt.Sprintf("this version has no setting %q", key.String())})
	}
	bad = append(bad, s.checkMachines(path, text)...)
	bad = append(bad, s.checkNamed(path, text)...)
	mistakes = slices.Concat(mistakes, s.checkLaunches(), s.checkLeftOutAgents(), s.checkHomes(), s.checkPrices(), s.checkAnswering(),
		s.checkNotifications(), s.checkSounds(), oneOf("theme", &s.Theme, Themes()...),
		oneOf("headless", &s.Headless, "show", "fold", "quiet"), s.checkCommands())
	for i, m := range mistakes {
		at := ""
		if i < maxLines {
			at = line(text, m.key...)
		}
		bad = append(bad, fmt.Errorf("settings: %s:%s %s", path, at, m.text))
	}
	s.OpenClaw.Gateways = slices.DeleteFunc(s.OpenClaw.Gateways, func(g Gateway) bool {
		err := g.check()
		if err != nil {
			bad = append(bad, fmt.Errorf("settings: %s: gateway %q is ignored: %w", path, g.label(), err))
		}
		return err != nil
	})
	if err := s.checkUpdates(); err != nil {
		bad = append(bad, fmt.Errorf("settings: %s:%s updates.feed is ignored: %w", path, line(text, "updates", "feed"), err))
	}
	bad = append(bad, s.readTokens(path)...)
	bad = append(bad, s.checkWebhook(path), s.Metrics.check(path))
	return s, errors.Join(bad...)
}

// without removes the values of a setting of which wrong returns a text, and adds that to bad.
func without[T any](list []T, bad *[]mistake, key []string, wrong func(T) string) []T {
	return slices.DeleteFunc(list, func(v T) bool {
		text := wrong(v)
		if text != "" {
			*bad = append(*bad, mistake{key, strings.Join(key, ".") + text})
		}
		return text != ""
	})
}

func explain(err error) string {
	if pe, ok := errors.AsType[toml.ParseError](err); ok {
		return fmt.Sprintf("line %d: %s", pe.Position.Line, pe.Message)
	}
	return strings.TrimPrefix(err.Error(), "toml: ")
}

// checkUpdates removes a feed with an invalid address, and returns the reason.
func (s *Settings) checkUpdates() error {
	if s.Updates.Feed == "" {
		return nil
	}
	err := updates.CheckFeed(s.Updates.Feed)
	if err != nil {
		s.Updates.Feed = ""
	}
	return err
}

// check returns an error for a gateway with invalid values. The error must not contain the URL, which may contain the
// token.
func (g *Gateway) check() error {
	u, err := url.Parse(g.URL)
	switch {
	case g.URL == "":
		return errors.New("url is missing")
	case err != nil:
		return errors.New("url is not a valid URL")
	case u.Scheme != "ws" && u.Scheme != "wss":
		return errors.New("url must begin with ws:// or wss://")
	case u.Host == "":
		return errors.New("url has no host name")
	case u.User != nil || u.RawQuery != "" || u.Fragment != "":
		return errors.New("url must not have a user, query or fragment; set token instead")
	case g.Token != "" && g.TokenFile != "":
		return errors.New("it has both token and token_file; remove one of them")
	}
	return nil
}

// check returns an error for a webhook with invalid values, and reads the secret. A webhook whose secret cannot be read
// must not be used: its receiver would reject unsigned messages.
func (w *Webhook) check(dir string) error {
	if w.URL == "" {
		if w.Secret != "" || w.SecretFile != "" {
			return errors.New("it has a secret but no url")
		}
		return nil
	}
	u, err := url.Parse(w.URL)
	switch {
	case err != nil:
		return errors.New("url is not a valid URL")
	case u.Scheme != "http" && u.Scheme != "https" || u.Host == "":
		return errors.New("url must begin with http:// or https://")
	case w.Secret != "" && w.SecretFile != "":
		return errors.New("it has both secret and secret_file; remove one of them")
	case w.SecretFile != "":
		w.Secret, err = readToken(w.SecretFile, dir)
	}
	return err
}

// WebhookInEnvironment reports whether the environment contains a part of the webhook.
func WebhookInEnvironment() bool {
	return os.Getenv(WebhookURL) != "" || os.Getenv(WebhookSecret) != ""
}

// readEnvironment replaces the address, the secret or both by those of the environment.
func (w *Webhook) readEnvironment() {
	if address := os.Getenv(WebhookURL); address != "" {
		w.URL = address
	}
	if secret := os.Getenv(WebhookSecret); secret != "" {
		w.Secret, w.SecretFile = secret, ""
	}
}

// checkWebhook adds the environment's part of the webhook to the file's, and removes a webhook that cannot be used.
func (s *Settings) checkWebhook(path string) error {
	s.Webhook.readEnvironment()
	err := s.Webhook.check(filepath.Dir(path))
	if err == nil {
		return nil
	}
	s.Webhook = Webhook{}
	if WebhookInEnvironment() {
		path += " with " + WebhookURL + " and " + WebhookSecret + " of the environment"
	}
	return fmt.Errorf("settings: %s: the webhook is ignored: %w", path, err)
}

// oneOf removes a value that is none of three, and returns what is wrong with it.
func oneOf[T ~string](key string, value *T, known ...T) []mistake {
	if *value == "" || slices.Contains(known, *value) {
		return nil
	}
	bad := mistake{[]string{key}, fmt.Sprintf("%s is ignored: it is one of %q, %q and %q, not %q", key, known[0], known[1], known[2], *value)}
	*value = ""
	return []mistake{bad}
}

func (g *Gateway) label() string {
	if g.Name != "" {
		return g.Name
	}
	if u, err := url.Parse(g.URL); err == nil {
		return u.Host
	}
	return ""
}

// readTokens reads the token files. It keeps a gateway whose file can't be read: the gateway itself reports that the
// token is missing.
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
	for _, name := range slices.Sorted(maps.Keys(s.Agents)) {
		a := s.Agents[name]
		if a.TokenFile == "" {
			continue
		}
		err := errors.New("this agent knows no token for Rollcall")
		if d, _ := adapters.Describe(name); d.Token != "" {
			a.Token, err = readToken(a.TokenFile, filepath.Dir(path))
		}
		if err != nil {
			bad = append(bad, fmt.Errorf("settings: %s: agents.%s.token_file is ignored: %w", path, name, err))
		}
		s.Agents[name] = a
	}
	return bad
}

func readToken(file, dir string) (string, error) {
	file = ExpandHome(file)
	if !filepath.IsAbs(file) {
		file = filepath.Join(dir, file)
	}
	text, err := readFile(file, maxToken)
	if errors.Is(err, store.ErrNotRegular) || errors.Is(err, store.ErrTooLarge) {
		err = fmt.Errorf("%s: a token file must be a text file of at most 16 KB", file)
	}
	return strings.TrimSpace(string(text)), err
}

// maxToken is far above the length of any token.
const maxToken = 16 << 10

// readFile reads a file that only the user may have written. It does not wait for a file system that does not answer.
func readFile(path string, limit int64) ([]byte, error) {
	return bounded.In(filepath.Dir(path), bounded.ReadLimit, func(context.Context) ([]byte, error) {
		return store.ReadFile(path, limit)
	})
}

// unusable are the settings of a file that can't be read. With them no request is answered and nothing is stored in the cache, since the file may forbid both.
var unusable = Settings{Answering: AnsweringTable{Requests: AnswerNone}, Cache: new(bool)}
