package adapters

import (
	"log/slog"
	"os"
	"os/user"
	"time"

	"rollcall/adapters/internal/factcache"
	"rollcall/proc"
)

// Config holds the places where an adapter looks. Zero values stand for the current user's.
type Config struct {
	Home  string              // the user's home folder; "" is that of the user who runs this
	Env   func(string) string // reads an environment variable; nil is os.Getenv
	Table proc.Lister         // the process table; nil is the system's
	Now   func() time.Time    // the clock; nil is time.Now
	// Homes returns the folders that the user named in addition to the agent's own: the agent keeps its files in each of them as in
	// its own. They are read like folders that processes use. nil returns none.
	Homes func() []string
	// Token returns the text of the file with the token that the user made by Description.Token, as the file was last read. nil returns none.
	Token  func() string
	Places Places      // keeps the homes in use for later processes; nil: only this process remembers them
	Facts  *FactsCache // keeps what was parsed of files between processes; nil: nothing is kept
	// Password returns the value of the Secret with which Rollcall launched a process, or "".
	// nil returns none.
	Password func(proc.Identity) string
	// Outputs returns the files with what the agent printed in Rollcall's background launches. nil returns none.
	Outputs func() []Output
	// Told returns the limits that the agent told Rollcall's status line. nil returns none.
	Told func() []Limit
}

// Output is a file with what an agent printed.
type Output struct {
	Path string
	Home string // the home that the agent used; "": that of the environment
}

// Places keeps, for processes of Rollcall that start later, the folders that processes of agents used in the last 24 hours: the paths alone. Its
// methods are safe for concurrent use. They report no errors: without it a folder is known only while a process uses it.
type Places interface {
	// Load returns the folders of an agent with the time of their last use.
	Load(agent string) map[string]time.Time
	// Save adds folders of an agent, with the time of their last use, to those that are kept.
	Save(agent string, folders map[string]time.Time)
}

// FactsCache keeps what adapters parsed of agents' files in a folder of Rollcall's own. It holds
// no statuses, no requests for the user and no processes. Each fact is checked against its file
// at every use.
type FactsCache = factcache.Cache

// FactsFolder is the open folder of a FactsCache.
type FactsFolder = factcache.Folder

// NewFactsCache returns the cache in the folder that open opens. With create, open makes a missing
// folder. version is that of the program: what another version parsed is not used. Damaged files
// are reported to log. Nothing is opened yet.
func NewFactsCache(open func(create bool) (FactsFolder, error), version string, log *slog.Logger) *FactsCache {
	return factcache.New(open, version, log)
}

// WithDefaults returns the configuration with the zero fields set to their defaults.
func (c Config) WithDefaults() Config {
	if c.Home == "" {
		c.Home = userHome()
	}
	if c.Env == nil {
		c.Env = os.Getenv
	}
	if c.Table == nil {
		c.Table = proc.Open()
	}
	if c.Now == nil {
		c.Now = time.Now
	}
	if c.Homes == nil {
		c.Homes = func() []string { return nil }
	}
	if c.Token == nil {
		c.Token = func() string { return "" }
	}
	if c.Password == nil {
		c.Password = func(proc.Identity) string { return "" }
	}
	if c.Told == nil {
		c.Told = func() []Limit { return nil }
	}
	if c.Outputs == nil {
		c.Outputs = func() []Output { return nil }
	}
	return c
}

// userHome returns the user's home folder, also where HOME isn't set, as in cron and in
// some services.
func userHome() string {
	if dir, err := os.UserHomeDir(); err == nil {
		return dir
	}
	if u, err := user.Current(); err == nil {
		return u.HomeDir
	}
	return ""
}
