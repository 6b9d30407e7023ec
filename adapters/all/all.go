// Package all creates the adapters of all agents. No other package imports them all.
package all

import (
	"time"

	"rollcall/adapters"
	"rollcall/adapters/claudecode"
	"rollcall/adapters/cline"
	"rollcall/adapters/codex"
	"rollcall/adapters/copilot"
	"rollcall/adapters/gemini"
	"rollcall/adapters/grok"
	"rollcall/adapters/kilo"
	"rollcall/adapters/kimi"
	"rollcall/adapters/named"
	"rollcall/adapters/omp"
	"rollcall/adapters/openclaw"
	"rollcall/adapters/opencode"
	"rollcall/adapters/pi"
	"rollcall/adapters/pirust"
	"rollcall/adapters/qwen"
	"rollcall/proc"
)

// Config holds the places that the adapters read and the gateways that they ask. The zero value
// is the current user's own folders.
type Config struct {
	Home string // the user's home folder; empty: that of the user who runs this
	// Gateways lists the OpenClaw gateways to ask in addition to those that are found.
	// AllowPlaintext permits sending their tokens to other machines without TLS.
	Gateways       []openclaw.Gateway
	AllowPlaintext bool
	// Homes returns the further homes of an agent that the user named; nil: there are none. See adapters.Config.
	Homes func(adapters.Name) []string
	// Token returns the user's token for an agent; nil: there is none. See adapters.Config.
	Token func(adapters.Name) string
	// Places keeps the homes in use for later processes; nil: nothing is kept. See adapters.Config.
	Places adapters.Places
	// Facts keeps what was parsed of files between processes; nil: nothing is kept.
	Facts *adapters.FactsCache
	// Password returns a password that Rollcall chose at a launch. See adapters.Config.
	Password func(proc.Identity) string
	// Outputs returns what an agent printed in background launches; nil: there are none. See adapters.Config.
	Outputs func(adapters.Name) []adapters.Output
	// Told returns the limits that an agent told Rollcall's status line; nil: there are none. See adapters.Config.
	Told func(adapters.Name) []adapters.Limit
	// Unread returns the agents that the user named, of which nothing but the names is known; nil: there are none. New makes adapters for those of its
	// first answer, which follow its changes.
	Unread func() []adapters.Unread
	// Programs runs the programs of the user for one of these agents; nil: none is run.
	Programs adapters.Programs
	Now      func() time.Time // the clock of all adapters; nil is time.Now
}

// Register makes the agents that the user named known to adapters.Describe and adapters.Known.
func Register(users []adapters.Unread) { named.Register(users) }

// New makes the adapters of every agent that Rollcall knows, in the order in
// which they are shown. They read table and the agents' folders. Nothing is read
// yet.
func New(table proc.Lister, cfg Config) []adapters.Adapter {
	table = proc.Share(table) // all adapters read it at the same time
	look := adapters.Config{Home: cfg.Home, Table: table, Facts: cfg.Facts, Places: cfg.Places, Password: cfg.Password, Now: cfg.Now}
	of := func(agent adapters.Name) adapters.Config {
		own := look
		if cfg.Homes != nil {
			own.Homes = func() []string { return cfg.Homes(agent) }
		}
		if cfg.Token != nil {
			own.Token = func() string { return cfg.Token(agent) }
		}
		if cfg.Outputs != nil {
			own.Outputs = func() []adapters.Output { return cfg.Outputs(agent) }
		}
		if cfg.Told != nil {
			own.Told = func() []adapters.Limit { return cfg.Told(agent) }
		}
		return own
	}
	read := []adapters.Adapter{
		claudecode.New(of(claudecode.Name)),
		codex.New(of(codex.Name)),
		opencode.New(of(opencode.Name)),
		kilo.New(of(kilo.Name)),
		pi.New(of(pi.Name)),
		pirust.New(of(pirust.Name)),
		copilot.New(of(copilot.Name)),
		cline.New(of(cline.Name)),
		openclaw.New(openclaw.Config{Config: of(openclaw.Name), Gateways: cfg.Gateways, AllowPlaintext: cfg.AllowPlaintext}),
		gemini.New(of(gemini.Name)),
		qwen.New(of(qwen.Name)),
		grok.New(of(grok.Name)),
		kimi.New(of(kimi.Name)),
		omp.New(of(omp.Name)),
	}
	users := cfg.Unread
	if users == nil {
		users = func() []adapters.Unread { return nil }
	}
	return append(read, named.New(look, users, cfg.Programs, read)...)
}
