package adaptertest

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"rollcall/adapters"
)

const nobody = 65534

// unreadable: what this user may not read is named, and the rest is right.
func unreadable(c *check) {
	c.Run("the store", func(t *testing.T) {
		c := c.in(t)
		c.cast()
		c.closed(c.agent.Store(), func() {
			sessions, _, err := c.ask(adapters.Query{})
			c.names(err, c.agent.Store())
			for _, s := range sessions {
				if s.Status != adapters.Unknown {
					c.Errorf("session %s is %s; evidence: %s", s.ID, s.Status, s.Evidence)
				}
			}
		})
	})
	c.Run("a session's file", func(t *testing.T) {
		c := c.in(t)
		all := c.cast()
		if all[0].Remote {
			c.Skip("a gateway's sessions have no files here")
		}
		one := all[0]
		c.closed(one.File, func() {
			sessions, roll, err := c.ask(adapters.Query{})
			c.names(err, one.File)
			for _, s := range all {
				c.judge(s, one.File, sessions, roll, err)
			}
		})
	})
	c.Run("a folder of it", func(t *testing.T) {
		c := c.in(t)
		all := c.cast()
		if all[0].Remote {
			c.Skip("a gateway's sessions have no files here")
		}
		folder := filepath.Dir(all[0].File)
		c.closed(folder, func() {
			_, _, err := c.ask(adapters.Query{})
			c.names(err, folder)
		})
	})
}

// names wants an error that says what could not be read, and what to do.
func (c *check) names(err error, path string) {
	c.Helper()
	if !errors.Is(err, adapters.ErrUnreadable) || !strings.Contains(err.Error(), path) {
		c.Errorf("%v, want ErrUnreadable that names %s", err, path)
		return
	}
	if !strings.Contains(err.Error(), "permission") {
		c.Errorf("does not say what to do: %v", err)
	}
}

// closed runs f as a user who may not read path. Root may read everything, so
// it becomes somebody else meanwhile: the effective user of all threads.
func (c *check) closed(path string, f func()) {
	c.Helper()
	for dir := c.world.Home; len(dir) > len(os.TempDir()); dir = filepath.Dir(dir) {
		c.must(os.Chmod(dir, 0o755))
	}
	c.must(os.Chmod(path, 0))
	defer func() { c.must(os.Chmod(path, 0o755)) }()
	if os.Geteuid() == 0 {
		c.must(syscall.Setresuid(-1, nobody, -1))
		defer func() { c.must(syscall.Setresuid(-1, 0, -1)) }()
	}
	f()
}
