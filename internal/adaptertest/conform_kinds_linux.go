package adaptertest

import (
	"errors"
	"os"
	"strings"
	"syscall"
	"testing"

	"rollcall/adapters"
	"rollcall/internal/adaptertest/scene"
)

// kinds make something at a path that is no file.
var kinds = map[string]func(c *check, path string){
	"a named pipe":                damages["a named pipe"],
	"a folder":                    damages["a folder"],
	"a link loop":                 damages["a link loop"],
	"a link to an endless device": damages["a link to an endless device"],
	"a socket": func(c *check, path string) {
		c.must(os.Remove(path))
		c.must(syscall.Mknod(path, syscall.S_IFSOCK|0o644, 0))
	},
}

// kindOfFile checks the answer when something that is no file is in the place of a file of the store. Either every session is as it is, or the answer
// names the path and what to do.
func kindOfFile(c *check) {
	for name, replace := range kinds {
		c.Run(name, func(t *testing.T) {
			probe := c.in(t)
			probe.cast()
			chosen := someOfEachKind(probe.files())
			probe.needs(len(chosen) > 0, "the agent has no files")
			for _, n := range chosen {
				c := c.in(t)
				all := c.cast()
				path := c.files()[n]
				c.fine(adapters.Query{})
				replace(c, path)
				c.hidesNothing(all, path, "with what was read before")
				c.adapter = c.subject.New(c.environment)
				c.hidesNothing(all, path, "for the first time")
				if c.Failed() {
					c.Fatalf("with %s in place of %s", name, strings.TrimPrefix(path, c.environment.Home))
				}
			}
		})
	}
}

// hidesNothing checks that an answer has every session as it is, or a problem of the path with what to do.
func (c *check) hidesNothing(all []*scene.Session, path, when string) {
	c.Helper()
	sessions, roll, err := c.ask(adapters.Query{})
	for _, problem := range adapters.Problems(err) {
		var p *adapters.Problem
		if errors.As(problem, &p) && p.Path == path && p.Fix != "" {
			return
		}
	}
	for _, s := range all {
		if got, listed := sessions[s.ID]; !listed || scene.TruthOf(&got) != s.Truth() {
			c.Errorf("%s: session %s is %s, want %s or a problem of the path with what to do; error %v, skipped %v, evidence %q",
				when, s.ID, scene.TruthOf(&got), s.Truth(), err, roll.Skipped, got.Evidence)
		}
	}
}
