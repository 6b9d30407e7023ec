package adaptertest

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"rollcall/adapters"
	"rollcall/internal/adaptertest/scene"
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

// everyLevel closes every folder and file of the store, one at a time. An answer
// either names what could not be read, or still has every live session as it is:
// nothing that is closed may hide a session in silence. Once it is open again
// the answer is whole. It asks as the program does: live sessions only, as for
// the tray, and those of the last week.
func everyLevel(c *check) {
	all := c.cast()
	if all[0].Remote {
		c.Skip("a gateway's sessions have no files here")
	}
	var live []*scene.Session
	for _, s := range all {
		if s.Truth().Status != adapters.Stopped {
			live = append(live, s)
		}
	}
	queries := map[string]adapters.Query{"live": {Since: time.Now()}, "week": {Since: time.Now().Add(-7 * 24 * time.Hour)}}
	for _, path := range c.entries(c.agent.Store()) {
		for name, q := range queries {
			for _, warm := range []bool{false, true} {
				c.adapter = c.subject.New(c.environment)
				if warm { // what was read before is cached, and must not hide the failure
					_, _, _ = c.ask(q)
				}
				c.closed(path, func() {
					sessions, roll, err := c.ask(q)
					if len(adapters.Problems(err)) > 0 && strings.Contains(err.Error(), path) {
						return
					}
					for _, s := range live {
						if got, ok := sessions[s.ID]; !ok || scene.TruthOf(&got) != s.Truth() {
							c.Errorf("%s closed (%s, cached %v): session %s is %s, want %s or an error that names it; error %v, skipped %v, evidence %s",
								path, name, warm, s.ID, scene.TruthOf(&got), s.Truth(), err, roll.Skipped, got.Evidence)
						}
					}
				})
				sessions, _ := c.fine(q)
				for _, s := range live {
					c.expectOne(sessions, s)
				}
			}
		}
	}
}

// entries returns the paths of everything below dir.
func (c *check) entries(dir string) []string {
	c.Helper()
	var paths []string
	c.must(filepath.WalkDir(dir, func(path string, _ fs.DirEntry, err error) error {
		paths = append(paths, path)
		return err
	}))
	return paths
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
// it becomes another user meanwhile: the effective user of all threads.
func (c *check) closed(path string, f func()) {
	c.Helper()
	for dir := c.environment.Home; len(dir) > len(os.TempDir()); dir = filepath.Dir(dir) {
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
