//go:build linux

package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"golang.org/x/sys/unix"

	"rollcall/internal/corpus"
)

// helperArgument makes this program do one thing that needs memory or is measured itself.
const helperArgument = "helper"

// live is how many sessions of a corpus have a process.
const live = 10

// help runs one helper: "write DIR N STORE", "check DIR LIST", "floor KIND DIR", "evict DIR" or "big DIR SIZE".
func help(args []string) error {
	if len(args) < 2 {
		return errors.New("helper: nothing to do")
	}
	switch args[0] {
	case "write":
		n, err := strconv.Atoi(args[2])
		if err != nil {
			return err
		}
		return writeCorpus(args[1], n, corpus.Store(args[3]))
	case "check":
		return checkList(args[1], args[2])
	case "floor":
		return runFloor(args[1], args[2])
	case "evict":
		return evict(args[1])
	case "big":
		size, err := strconv.ParseInt(args[2], 10, 64)
		if err != nil {
			return err
		}
		return writeBig(args[1], size)
	}
	return fmt.Errorf("helper: unknown %q", args[0])
}

// writeCorpus writes a corpus with OpenCode's sessions in a database; or, of one that exists, moves that store aside and writes the
// same sessions in files in its place.
func writeCorpus(dir string, n int, store corpus.Store) (err error) {
	o := corpus.Options{Sessions: n, Live: min(live, n), Seed: 1, Now: time.Now(), Store: store}
	when := filepath.Join(dir, "now") // ids and times follow from it
	if store == corpus.InDatabase {
		if _, err := corpus.Write(dir, o); err != nil {
			return err
		}
		return os.WriteFile(when, []byte(o.Now.Format(time.RFC3339Nano)), 0o600)
	}
	text, err := os.ReadFile(when)
	if err != nil {
		return err
	}
	if o.Now, err = time.Parse(time.RFC3339Nano, string(text)); err != nil {
		return err
	}
	man, err := corpus.Read(dir)
	if err != nil {
		return err
	}
	o.OnlyOpenCode = true
	other := dir + ".files"
	defer func() { err = errors.Join(err, os.RemoveAll(other)) }()
	files, err := corpus.Write(other, o)
	if err != nil {
		return err
	}
	folder := filepath.Join("home", ".local", "share", "opencode")
	if err := os.RemoveAll(filepath.Join(dir, folder)); err != nil {
		return err
	}
	if err := os.Rename(filepath.Join(other, folder), filepath.Join(dir, folder)); err != nil {
		return err
	}
	for i := range files.Sessions {
		if files.Sessions[i].ID != "" {
			man.Sessions[i] = files.Sessions[i]
		}
	}
	return corpus.WriteManifest(dir, man)
}

// checkList compares what list printed with the truth of a corpus.
func checkList(dir, list string) error {
	man, err := corpus.Read(dir)
	if err != nil {
		return err
	}
	f, err := os.Open(list)
	if err != nil {
		return err
	}
	defer f.Close()
	got, err := corpus.ReadList(f)
	if err != nil {
		return err
	}
	wrong := corpus.Compare(man.Truths(false), got)
	for i, line := range wrong {
		if i == 10 {
			fmt.Fprintln(os.Stderr, "…")
			break
		}
		fmt.Fprintln(os.Stderr, line)
	}
	if len(wrong) > 0 {
		return fmt.Errorf("the list has %d differences to the truth", len(wrong))
	}
	return nil
}

// evict drops the files' pages from the system's cache, as far as they are written to the disk. Folders and inodes stay.
func evict(dir string) error {
	root, err := os.Open(dir)
	if err != nil {
		return err
	}
	defer root.Close()
	if err := unix.Syncfs(int(root.Fd())); err != nil {
		return err
	}
	return filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if err != nil || !e.Type().IsRegular() {
			return err
		}
		f, err := os.Open(path)
		if err != nil {
			return err
		}
		defer f.Close()
		return unix.Fadvise(int(f.Fd()), 0, 0, unix.FADV_DONTNEED)
	})
}
