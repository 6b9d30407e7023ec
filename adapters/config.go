package adapters

import (
	"os"
	"time"

	"rollcall/proc"
)

// Config holds the places where an adapter looks. Zero values stand for the current user's.
type Config struct {
	Home  string              // the user's home folder; "" is the folder that os.UserHomeDir returns
	Env   func(string) string // reads an environment variable; nil is os.Getenv
	Table proc.Lister         // the process table; nil is the system's
	Now   func() time.Time    // the clock; nil is time.Now
}

// WithDefaults returns the configuration with the zero fields set to their defaults.
func (c Config) WithDefaults() Config {
	if c.Home == "" {
		c.Home, _ = os.UserHomeDir()
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
	return c
}
