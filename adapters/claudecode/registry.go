package claudecode

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"regexp"
	"strconv"
	"time"

	"rollcall/adapters"
	"rollcall/adapters/internal/agentfile"
	"rollcall/adapters/internal/kit"
	"rollcall/bounded"
	"rollcall/proc"
)

// entry is a file sessions/<pid>.json, in which a running Claude Code describes itself. Claude
// Code writes such files since about 2.1.51. A process removes its file on a normal exit, and
// leaves it behind when it is killed.
type entry struct {
	path     string
	modified time.Time

	pid        int
	id         string
	cwd        string
	started    time.Time
	procStart  string // Linux: clock ticks; macOS: as ps prints lstart, in UTC
	procFT     string // Windows: FILETIME
	domain     string
	version    string
	entrypoint string // "cli"; "sdk-cli" without a terminal; see hosts
	name       string // as the user named the session
	status     string // empty or not reliable before 2.1.151, see hasStatus
	waitingFor string
	since      time.Time // of status; zero if not known
	dated      bool      // since is the time of the status
}

var entryName = regexp.MustCompile(`^([0-9]{1,10})\.json$`)

// entryPID returns the pid in the name of a registry file. ok is false for another file.
func entryPID(name string) (pid int, ok bool) {
	m := entryName.FindStringSubmatch(name)
	if m == nil {
		return 0, false
	}
	pid, err := strconv.Atoi(m[1])
	return pid, err == nil
}

// entryOf returns the path of a session's registry entry and the pid in its name, which may be that
// of an inner namespace. The path is empty if none is known.
func entryOf(s *adapters.Session) (path string, pid int) {
	for _, path := range s.Files {
		if pid, ok := entryPID(filepath.Base(path)); ok {
			return path, pid
		}
	}
	return "", 0
}

const (
	entryLimit = 256 << 10
	entryPause = 3 * time.Millisecond // between two looks at a file that is being written
	entryWait  = time.Second
	writeTime  = 2 * time.Second // an older file isn't being written
)

// parseEntry reads the content of sessions/<pid>.json. The error is agentfile.ErrSyntax for
// a file that Claude Code may still be writing.
func parseEntry(data []byte, pid int) (entry, error) {
	var e entry
	var nameSource string
	var said, started, since, updated int64
	texts := map[string]*string{"sessionId": &e.id, "cwd": &e.cwd, "procStart": &e.procStart, "procStartFt": &e.procFT,
		"pidDomain": &e.domain, "version": &e.version, "entrypoint": &e.entrypoint, "name": &e.name, "nameSource": &nameSource,
		"status": &e.status, "waitingFor": &e.waitingFor}
	numbers := map[string]*int64{"pid": &said, "startedAt": &started, "statusUpdatedAt": &since, "updatedAt": &updated}
	err := agentfile.Top(data, func(key, raw []byte) bool {
		switch name := string(key); {
		case name == "procStart" || name == "procStartFt": // a string or a number
			*texts[name] = scalar(raw)
		case texts[name] != nil:
			*texts[name] = text(raw)
		case numbers[name] != nil:
			*numbers[name], _ = agentfile.Int(raw)
		}
		return true
	})
	if err != nil {
		return entry{}, err
	}
	if said != int64(pid) {
		return entry{}, fmt.Errorf("it names pid %d", said)
	}
	if !kit.Is(e.id) {
		return entry{}, errors.New("it has no sessionId")
	}
	e.pid = pid
	if nameSource != "user" { // derived from the folder's name
		e.name = ""
	}
	e.dated = since != 0
	if !e.dated {
		since = updated
	}
	e.started, e.since = millis(started), millis(since)
	return e, nil
}

// scalar reads a string or a number as text.
func scalar(raw []byte) string {
	if len(raw) > 0 && raw[0] == '"' {
		return text(raw)
	}
	if agentfile.Null(raw) || len(raw) > 40 {
		return ""
	}
	return string(raw)
}

func millis(n int64) time.Time {
	if n <= 0 || n > 1<<50 {
		return time.Time{}
	}
	return time.UnixMilli(n)
}

// readEntry reads one registry file. Claude Code rewrites the file in place, so a new
// file that can't be parsed is read again until it can.
func readEntry(ctx context.Context, path string, pid int, until time.Time) (entry, error) {
	for {
		data, info, err := agentfile.ReadSmall(path, entryLimit)
		if errors.Is(err, agentfile.ErrTooLarge) {
			return entry{}, adapters.Unrecognised(path, "%w", err)
		}
		if err != nil {
			return entry{}, err
		}
		modified := info.ModTime()
		e, err := parseEntry(data, pid)
		if err == nil {
			e.path, e.modified = path, modified
			return e, nil
		}
		if !errors.Is(err, agentfile.ErrSyntax) || time.Since(modified) > writeTime || time.Now().After(until) {
			return entry{}, adapters.Unrecognised(path, "%w", err)
		}
		if err := bounded.Wait(ctx, entryPause); err != nil {
			return entry{}, err
		}
	}
}

// brokenEntry is a registry file that could not be read.
type brokenEntry struct {
	pid  int
	path string
	err  error // a *adapters.Problem
}

// readRegistry reads the entries in a root's sessions folder: those with one of the pids, and then others as long as there is time; unread
// is the number of the rest. Claude Code removes entries without a process when it starts, so that there are only ever a few. Files that are removed meanwhile are left out; the *.key files next to the entries are secrets and are never opened.
func readRegistry(ctx context.Context, root string, pids map[int]bool) (entries []entry, broken []brokenEntry, unread int, problem error) {
	dir := filepath.Join(root, "sessions")
	listing, cancel := kit.Part(ctx, 8)
	defer cancel()
	all, err := agentfile.Entries(listing, dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		problem = adapters.AsProblem(dir, err)
	}
	names, leftOver := byProcess(all, pids)
	live := len(names)
	names = append(names, leftOver...)
	until := time.Now().Add(entryWait) // one limit for all entries together
	type read struct {
		entry
		err error
	}
	found := make([]read, len(names))
	agentfile.Parallel(len(names), func(i int) {
		pid, _ := entryPID(names[i].Name())
		in := ctx
		if i >= live {
			in = listing
		}
		found[i].err = agentfile.Ended(in)
		if found[i].err == nil {
			found[i].entry, found[i].err = readEntry(in, filepath.Join(dir, names[i].Name()), pid, until)
		}
	})
	for i, d := range names {
		switch r := &found[i]; {
		case r.err == nil:
			entries = append(entries, r.entry)
		case errors.Is(r.err, fs.ErrNotExist):
		case i >= live && adapters.IsOutOfTime(r.err):
			unread++
		default:
			pid, _ := entryPID(d.Name())
			path := filepath.Join(dir, d.Name())
			broken = append(broken, brokenEntry{pid, path, adapters.AsProblem(path, r.err)})
		}
	}
	return entries, broken, unread, problem
}

// byProcess returns the entries with one of the pids, and the others.
func byProcess(all []fs.DirEntry, pids map[int]bool) (names, leftOver []fs.DirEntry) {
	for _, e := range all {
		switch pid, ok := entryPID(e.Name()); {
		case !ok:
		case pids[pid]:
			names = append(names, e)
		default:
			leftOver = append(leftOver, e)
		}
	}
	return names, leftOver
}

// startSlack is the precision of a process's start time as a date: on Linux it is known
// to the second only.
const startSlack = 2 * time.Second

// clockSlack is the largest difference between the time of a file or record and the
// start time of a process at the same moment: these come from clocks of different
// precision. A start time that is cut to the second is too early, never too late.
const clockSlack = 100 * time.Millisecond

// isBy reports whether the process p, which has the entry's pid, is the one that wrote the entry. Before about 2.1.139 an entry has
// no process start: the process that wrote it was running by then, and one that took over its pid began later.
func (e *entry) isBy(p proc.Process) bool {
	switch {
	case e.procFT != "":
		ft, err := strconv.ParseUint(e.procFT, 10, 64)
		return err == nil && ft == p.Start
	case e.procStart != "":
		return startsAt(e.procStart, p)
	}
	return program.MayBe(p.Comm) && !p.Started.After(e.started.Add(startSlack))
}

// startsAt compares procStart with a process.
func startsAt(procStart string, p proc.Process) bool {
	if ticks, err := strconv.ParseUint(procStart, 10, 64); err == nil {
		return ticks == p.Start
	}
	at, err := time.ParseInLocation(lstart, procStart, time.UTC)
	return err == nil && at.Sub(p.Started).Abs() < startSlack
}

// lstart is the format in which ps prints a start time in the C locale.
const lstart = "Mon Jan _2 15:04:05 2006"
