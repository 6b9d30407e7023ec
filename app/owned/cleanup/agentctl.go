package cleanup

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"time"

	"rollcall/adapters"
	"rollcall/proc"
)

// Sessions holds the live sessions of one snapshot.
type Sessions struct {
	Live map[string]bool
	// Unknown are the agents that did not list all their sessions. Any session of theirs may be live.
	Unknown []adapters.Name
}

// Agentctl finds the files that OrgLoop/agentctl left behind: the session records in the agents' folders, and the lists
// of its daemon in ~/.agentctl. Their formats are those of its published source (2026).
type Agentctl struct {
	Home     string
	Table    proc.Lister
	Sessions Sessions
	Now      func() time.Time // nil: time.Now
}

var _ Source = (*Agentctl)(nil)

// records lists the folders of session records in the home folder, and the agents of those sessions.
var records = []struct {
	folder string
	anchor string // the part of folder that may be a link of the user's
	agents []adapters.Name
}{
	{".claude/agentctl/sessions", ".claude", []adapters.Name{"claude-code"}},
	{".codex/agentctl/sessions", ".codex", []adapters.Name{"codex"}},
	{".agentctl/opencode-sessions", "", []adapters.Name{"opencode"}},
	{".pi/agentctl/sessions", ".pi", []adapters.Name{"pi", "pi-rust"}},
}

// own is the folder of agentctl's daemon.
const own = ".agentctl"

// The daemon's lists in that folder.
const (
	stateFile = "state.json"
	locksFile = "locks.json"
	fusesFile = "fuses.json"
)

// lists are in the order of their removal. The state is the last, since the checks of the others read it.
var lists = []string{locksFile, fusesFile, stateFile}

func (a *Agentctl) path(rel ...string) string {
	return filepath.Join(a.Home, filepath.FromSlash(filepath.Join(rel...)))
}

// Owns implements Source.
func (a *Agentctl) Owns(path string) (anchor string, ok bool) {
	dir, name := filepath.Split(path)
	dir = filepath.Clean(dir)
	if dir == a.path(own) && slices.Contains(lists, name) {
		return a.Home, true
	}
	if filepath.Ext(name) == ".json" && name != ".json" {
		for _, r := range records {
			if dir == a.path(r.folder) {
				return a.path(r.anchor), true
			}
		}
	}
	return "", false
}

// Scan implements Source.
func (a *Agentctl) Scan(ctx context.Context) ([]Item, error) {
	var items []Item
	var errs []error
	doubtful := map[adapters.Name]int{}
	for _, path := range a.files(&errs) {
		it, err := a.Check(ctx, path)
		var doubt *unknownError
		switch {
		case ctx.Err() != nil:
			return nil, ctx.Err()
		case err == nil:
			items = append(items, it)
		case errors.As(err, &doubt):
			doubtful[doubt.agent]++
		case !errors.Is(err, ErrKept) && !errors.Is(err, fs.ErrNotExist):
			errs = append(errs, err)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(doubtful)) {
		errs = append(errs, fmt.Errorf("%s of agentctl kept: %w", count(doubtful[name], "file"), &unknownError{name}))
	}
	return items, errors.Join(errs...)
}

// unknownError reports that the sessions of an agent are not all known.
type unknownError struct{ agent adapters.Name }

func (e *unknownError) Error() string {
	return fmt.Sprintf("the live sessions of %s are not all known", e.agent)
}

// files returns the paths of all candidates, which it selects by name alone.
func (a *Agentctl) files(errs *[]error) []string {
	var paths []string
	for _, r := range records {
		dir := a.path(r.folder)
		entries, err := os.ReadDir(dir)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			*errs = append(*errs, adapters.Unreadable(dir, err))
		}
		for _, e := range entries {
			if path := filepath.Join(dir, e.Name()); filepath.Ext(path) == ".json" {
				paths = append(paths, path)
			}
		}
	}
	for _, name := range lists {
		paths = append(paths, a.path(own, name))
	}
	return paths
}

// maxList and maxRecord are far above the sizes that agentctl writes.
const (
	maxList   = 32 << 20
	maxRecord = 1 << 20
)

// Check implements Source.
func (a *Agentctl) Check(ctx context.Context, path string) (Item, error) {
	if _, ok := a.Owns(path); ok && filepath.Dir(path) == a.path(own) {
		return a.checkList(ctx, path)
	} else if ok {
		for _, r := range records {
			if filepath.Dir(path) == a.path(r.folder) {
				return a.checkRecord(path, r.agents)
			}
		}
	}
	return Item{}, fmt.Errorf("%s: not a file of agentctl", path)
}

// checkRecord checks whether the record of one session may be removed.
func (a *Agentctl) checkRecord(path string, agents []adapters.Name) (Item, error) {
	data, info, err := read(path, maxRecord)
	if err != nil {
		return Item{}, err
	}
	r, err := parseRecord(data)
	if err == nil && r.SessionID+".json" != filepath.Base(path) {
		err = errors.New("the file's name and the session's id do not match")
	}
	if err != nil {
		return Item{}, adapters.Unrecognised(path, "not a session record of agentctl: %w", err)
	}
	if a.Sessions.Live[r.SessionID] {
		return Item{}, kept("its session is live")
	}
	if err := a.checkAsked(agents); err != nil {
		return Item{}, err
	}
	alive, why := a.alive(r.PID, info.ModTime())
	if !alive && r.WrapperPID > 0 {
		alive, why = a.alive(r.WrapperPID, info.ModTime())
	}
	if alive {
		return Item{}, kept("%s", why)
	}
	return NewItem(path, "agentctl session record", why+", and no session with this id is live", info), nil
}

// checkAsked returns an error unless all sessions of these agents are known.
func (a *Agentctl) checkAsked(agents []adapters.Name) error {
	for _, name := range agents {
		if slices.Contains(a.Sessions.Unknown, name) {
			return &unknownError{name}
		}
	}
	return nil
}

func read(path string, limit int64) ([]byte, fs.FileInfo, error) {
	info, err := os.Lstat(path)
	if err != nil {
		return nil, nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, nil, adapters.Unrecognised(path, "not a regular file")
	}
	if info.Size() > limit {
		return nil, nil, adapters.Unrecognised(path, "larger than anything agentctl writes")
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, nil, adapters.Unreadable(path, err)
	}
	defer f.Close()
	opened, err := f.Stat()
	if err != nil || !os.SameFile(info, opened) {
		return nil, nil, adapters.Unreadable(path, errors.Join(err, ErrChanged))
	}
	data, err := io.ReadAll(io.LimitReader(f, limit+1))
	if err != nil {
		return nil, nil, adapters.Unreadable(path, err)
	}
	return data, info, nil
}

func (a *Agentctl) now() time.Time {
	if a.Now != nil {
		return a.Now()
	}
	return time.Now()
}

// record is a session record. All versions write sessionId, pid and launchedAt, and older ones wrapperPid.
type record struct {
	SessionID  string `json:"sessionId"`
	PID        int    `json:"pid"`
	LaunchedAt string `json:"launchedAt"`
	WrapperPID int    `json:"wrapperPid"`
}

func parseRecord(data []byte) (record, error) {
	var r record
	if err := json.Unmarshal(data, &r); err != nil {
		return r, err
	}
	if r.SessionID == "" || r.PID <= 0 || r.WrapperPID < 0 {
		return r, errors.New("the session id or the pid is missing")
	}
	if _, err := time.Parse(time.RFC3339, r.LaunchedAt); err != nil {
		return r, errors.New("launchedAt is missing or not a time")
	}
	return r, nil
}

// clockSlack is the largest difference between the time of a file and the start time of a process that was started right
// before.
const clockSlack = time.Minute

// alive reports whether the process with this pid is running that was recorded at a time, and the reason for that answer. A
// process that started later has been given the pid since.
func (a *Agentctl) alive(pid int, recorded time.Time) (bool, string) {
	p, err := a.Table.Find(pid)
	switch {
	case errors.Is(err, proc.ErrGone):
		return false, fmt.Sprintf("process %d has ended", pid)
	case err != nil:
		return true, fmt.Sprintf("process %d may be running: %v", pid, err)
	case p.Started.After(recorded.Add(clockSlack)):
		return false, fmt.Sprintf("process %d has ended (another one has had this pid since %s)", pid, p.Started.Format(time.DateTime))
	}
	return true, fmt.Sprintf("process %d is running", pid)
}
