package adaptertest

import (
	"errors"
	"maps"
	"os"
	"path/filepath"
	"slices"
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

// nonFolders make something at a path that is no folder.
var nonFolders = map[string]func(path string) error{
	"a file":       func(path string) error { return os.WriteFile(path, []byte("text"), 0o644) },
	"a named pipe": func(path string) error { return syscall.Mkfifo(path, 0o644) },
	"a socket":     func(path string) error { return syscall.Mknod(path, syscall.S_IFSOCK|0o644, 0) },
}

// kindOfFolder checks the same as kindOfFile for what is in the place of a folder whose name the agent determines.
func kindOfFolder(c *check) {
	for name, put := range nonFolders {
		c.Run(name, func(t *testing.T) {
			probe := c.in(t)
			probe.cast()
			folders := probe.fixedFolders()
			probe.needs(len(folders) > 0, "the agent has no folders")
			for _, folder := range folders {
				c := c.in(t)
				all := c.cast()
				path := filepath.Join(c.environment.Home, folder)
				c.fine(adapters.Query{})
				c.must(errors.Join(os.RemoveAll(path), put(path)))
				c.hidesNothing(all, path, "with what was read before")
				c.adapter = c.subject.New(c.environment)
				c.hidesNothing(all, path, "for the first time")
				if c.Failed() {
					c.Fatalf("with %s in place of %s", name, folder)
				}
			}
		})
	}
}

// fixedFolders returns the folders below the home whose names the agent determines: those in which the adapter looks, those above
// them, and one of the folders that have the same name in several others.
func (c *check) fixedFolders() (folders []string) {
	c.Helper()
	found := map[string]bool{}
	_, roll := c.fine(adapters.Query{})
	for _, path := range roll.LookedIn {
		for ; isFolder(path) && strings.HasPrefix(path, c.environment.Home+"/"); path = filepath.Dir(path) {
			found[path] = true
		}
	}
	names := map[string]int{}
	for _, path := range c.entries(c.agent.Store()) {
		if names[filepath.Base(path)]++; isFolder(path) && names[filepath.Base(path)] == 2 {
			found[path] = true
		}
	}
	for _, path := range slices.Sorted(maps.Keys(found)) {
		folders = append(folders, strings.TrimPrefix(path, c.environment.Home+"/"))
	}
	return folders
}

func isFolder(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}
