//go:build linux

package main

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	_ "modernc.org/sqlite" // the driver
)

// A floor is a bare loop with the reads that a question cannot do without, and nothing else: what the machine takes for
// them at least.
const (
	floorLive   = "live"   // the names of the processes, and the names in the folders of transcripts
	floorStat   = "stat"   // all folders and files, listed and examined
	floorWeek   = "week"   // that, and the ends of the transcripts of the last 7 days, and the database's sessions of that time
	floorTotals = "totals" // that, and every transcript whole (Codex's: the ends), every message file, the database's sessions
	floorUsage  = "usage"  // that, and Codex's transcripts whole, the database's messages
	floorAll    = "all"    // that, and every part of a message
)

// endSize is how much of a transcript's beginning and end is read, in bytes.
const endSize = 64 << 10

// floor is one run of a floor.
type floor struct {
	kind  string
	home  string
	week  time.Time
	bytes atomic.Int64
}

// runFloor does the reads of a floor below a corpus and prints how many files and bytes there were.
func runFloor(kind, dir string) error {
	f := &floor{kind: kind, home: filepath.Join(dir, "home"), week: time.Now().AddDate(0, 0, -7)}
	if kind == floorLive {
		return f.live(filepath.Join(dir, "proc"))
	}
	folders, err := leafFolders(f.home, f.hasParts())
	if err != nil {
		return err
	}
	work := make(chan string)
	var failed atomic.Pointer[error]
	var group sync.WaitGroup
	for range runtime.GOMAXPROCS(0) {
		group.Go(func() {
			buffer := make([]byte, 1<<20)
			for folder := range work {
				if err := f.folder(folder, buffer); err != nil {
					failed.Store(&err)
				}
			}
		})
	}
	group.Go(func() {
		if err := f.database(); err != nil {
			failed.Store(&err)
		}
	})
	for _, folder := range folders {
		work <- folder
	}
	close(work)
	group.Wait()
	if err := failed.Load(); err != nil {
		return *err
	}
	fmt.Println(f.bytes.Load())
	return nil
}

func (f *floor) hasParts() bool { return f.kind == floorAll }

// leafFolders lists the folders below home that have transcripts or an agent's small files.
func leafFolders(home string, parts bool) ([]string, error) {
	var list []string
	err := filepath.WalkDir(home, func(path string, e fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case !e.IsDir():
			return nil
		case e.Name() == "part" && !parts:
			return fs.SkipDir
		}
		list = append(list, path)
		return nil
	})
	return list, err
}

// folder examines the files of a folder and reads those that the floor needs.
func (f *floor) folder(dir string, buffer []byte) error {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	for _, e := range entries {
		if e.IsDir() {
			continue
		}
		info, err := e.Info()
		if err != nil {
			return err
		}
		if err := f.file(filepath.Join(dir, e.Name()), info, buffer); err != nil {
			return err
		}
	}
	return nil
}

func (f *floor) file(path string, info fs.FileInfo, buffer []byte) error {
	if f.kind == floorStat {
		return nil
	}
	recent := !info.ModTime().Before(f.week)
	switch ext := filepath.Ext(path); {
	case ext == ".jsonl":
		codex := strings.Contains(path, "/.codex/")
		if f.kind == floorAll || f.kind == floorUsage || f.kind == floorTotals && !codex {
			return f.read(path, info.Size(), buffer)
		}
		if f.kind == floorTotals || recent {
			return f.ends(path, info.Size(), buffer)
		}
	case ext == ".json" && strings.Contains(path, "/storage/"):
		if f.kind != floorWeek || recent && strings.Contains(path, "/session/") {
			return f.read(path, info.Size(), buffer)
		}
	}
	return nil
}

func (f *floor) read(path string, size int64, buffer []byte) error {
	file, err := os.Open(path)
	if err != nil {
		return err
	}
	defer file.Close()
	for at := int64(0); at < size; {
		n, err := file.ReadAt(buffer, at)
		at += int64(n)
		f.bytes.Add(int64(n))
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func (f *floor) ends(path string, size int64, buffer []byte) error {
	file, err := os.Open(path)
	if err != nil {
		return err
	}
	defer file.Close()
	for _, at := range []int64{0, max(endSize, size-endSize)} {
		n, err := file.ReadAt(buffer[:endSize], at)
		f.bytes.Add(int64(n))
		if err != nil && !errors.Is(err, io.EOF) {
			return err
		}
	}
	return nil
}

// live reads what a list of the live sessions needs.
func (f *floor) live(table string) error {
	entries, err := os.ReadDir(table)
	if err != nil {
		return err
	}
	for _, e := range entries {
		if _, err := strconv.Atoi(e.Name()); err != nil {
			continue
		}
		b, err := os.ReadFile(filepath.Join(table, e.Name(), "stat"))
		if err != nil {
			return err
		}
		f.bytes.Add(int64(len(b)))
	}
	folders, err := leafFolders(filepath.Join(f.home, ".claude"), false)
	fmt.Println(f.bytes.Load(), len(folders))
	return err
}

// database reads OpenCode's database, if there is one.
func (f *floor) database() error {
	query := map[string]string{
		floorWeek:   "SELECT count(*), coalesce(sum(length(title)), 0) FROM session WHERE time_updated >= ?",
		floorTotals: "SELECT count(*), coalesce(sum(length(title) + tokens_input), 0) FROM session WHERE time_updated >= ?",
		floorUsage:  "SELECT count(*), coalesce(sum(length(data)), 0) FROM message WHERE time_created >= ?",
		floorAll:    "SELECT count(*), coalesce(sum(instr(data, 'zzqqxxyy')), 0) FROM part WHERE time_created >= ?",
	}[f.kind]
	path := filepath.Join(f.home, ".local", "share", "opencode", "opencode.db")
	if _, err := os.Stat(path); err != nil || query == "" {
		return nil //nolint:nilerr // a store of files has no database
	}
	db, err := sql.Open("sqlite", "file:"+path+"?mode=ro")
	if err != nil {
		return err
	}
	defer db.Close()
	since := int64(0)
	if f.kind == floorWeek {
		since = f.week.UnixMilli()
	}
	var count, size int64
	if err := db.QueryRowContext(context.Background(), query, since).Scan(&count, &size); err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	return nil
}
