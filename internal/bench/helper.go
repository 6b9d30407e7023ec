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

// help runs one helper: "write DIR N", "check DIR LIST", "floor KIND DIR", "evict DIR" or "big DIR SIZE".
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
		return writeCorpus(args[1], n)
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

// writeCorpus writes a corpus.
func writeCorpus(dir string, n int) error {
	_, err := corpus.Write(dir, corpus.Options{Sessions: n, Live: min(live, n), Seed: 1, Now: time.Now()})
	return err
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
