package opencode

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"rollcall/adapters"
	"rollcall/adapters/internal/agentfile"
)

// fileSession holds what was read of one session. It is not changed afterwards.
type fileSession struct {
	stamp fileStamp
	facts *facts
	sums  map[string]sum // by the message's file; only of messages that won't change
}

type sum struct {
	tokens adapters.Tokens
	cost   float64
}

// fileStamp identifies one state of a session's files: of its own file, of the folder of its
// messages, and of the last of these.
type fileStamp struct {
	size     int64
	changed  time.Time
	messages time.Time
	last     string
	lastSize int64
	lastTime time.Time
	totals   bool
}

// maxFile is the largest size of a record's file in bytes.
const maxFile = 16 << 20

// readRecord reads one small file of JSON. OpenCode writes its files in place: one
// that is half written is read again.
func readRecord(path string, into any) (fs.FileInfo, error) {
	var info fs.FileInfo
	var err error
	for range 3 {
		var b []byte
		if b, info, err = agentfile.ReadSmall(path, maxFile); err != nil {
			return nil, err
		}
		if err = json.Unmarshal(b, into); err == nil {
			return info, nil
		}
		if time.Since(info.ModTime()) > callDelay {
			break
		}
		<-time.After(2 * time.Millisecond)
	}
	return nil, err
}

// fileSessions returns the sessions of a JSON store, those of the scope. skipped counts
// records that were skipped.
func (a *Adapter) fileSessions(ctx context.Context, storage string, want scope, skipped map[string]int) (map[string]*facts, []error) {
	dir := filepath.Join(storage, "session")
	projects, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, []error{adapters.AsProblem(dir, err)}
	}
	sessions := map[string]*facts{}
	var problems []error
	for _, p := range projects {
		if !p.IsDir() && p.Type()&fs.ModeSymlink == 0 {
			continue
		}
		project := filepath.Join(dir, p.Name())
		entries, err := os.ReadDir(project)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			problems = append(problems, adapters.AsProblem(project, err))
		}
		for _, e := range entries {
			if ctx.Err() != nil {
				return sessions, problems
			}
			f, err := a.fileSession(storage, filepath.Join(project, e.Name()), e, want)
			switch {
			case err == nil && f != nil:
				if old := sessions[f.id]; old == nil || old.activity < f.activity {
					sessions[f.id] = f
				}
			case errors.Is(err, fs.ErrNotExist), err == nil:
			case errors.Is(err, fs.ErrPermission):
				problems = append(problems, adapters.Unreadable(filepath.Join(project, e.Name()), err))
			default:
				skipped["session file in an unknown form"]++
			}
		}
	}
	return sessions, problems
}

// fileSession reads one session; nil for one that isn't wanted.
func (a *Adapter) fileSession(storage, path string, e fs.DirEntry, want scope) (*facts, error) {
	id, ok := strings.CutSuffix(e.Name(), ".json")
	if !ok || !isSession(id) || want.only != nil && !want.only[id] {
		return nil, nil
	}
	info, err := e.Info()
	if err != nil {
		return nil, err
	}
	folder := messageFolder(storage, id)
	head := a.head(path, folder, info, want)
	if !want.wants(id, head.active) {
		return nil, nil
	}
	stamp := fileStamp{size: head.size, changed: head.changed, messages: head.messages, totals: want.totals}
	was, _ := a.files.Get(path)
	if was != nil {
		stamp.last = was.stamp.last
		stamp.stampLast(folder)
		stamp.totals = stamp.totals || was.stamp.totals
		if stamp == was.stamp {
			return was.facts.withFreshCalls(storage, want), nil
		}
	}
	now, err := readFileSession(storage, path, id, was, want)
	if err != nil {
		return nil, err
	}
	stamp.last = now.facts.last.ID
	stamp.totals = want.totals || now.facts.tokens != nil
	stamp.stampLast(folder)
	now.stamp = stamp
	a.files.Put(path, now)
	return now.facts, nil
}

// withFreshCalls returns the known facts of a session whose messages did not change. It
// reads the calls of an open message again, since their parts may have changed.
func (f *facts) withFreshCalls(storage string, want scope) *facts {
	if f.last.ended() || !want.mayRun(f.id, f.activity) {
		return f
	}
	fresh := *f
	fresh.calls, fresh.tools, fresh.refused, fresh.skipped = nil, false, false, nil
	m := messageFiles{storage: storage, facts: &fresh}
	m.calls()
	fresh.finish()
	return &fresh
}

func (s *fileStamp) stampLast(folder string) {
	s.lastSize, s.lastTime = 0, time.Time{}
	if s.last == "" {
		return
	}
	if fi, err := os.Stat(filepath.Join(folder, s.last+".json")); err == nil {
		s.lastSize, s.lastTime = fi.Size(), fi.ModTime()
	}
}

// readFileSession reads the session's file and the necessary part of its messages.
func readFileSession(storage, path, id string, was *fileSession, want scope) (*fileSession, error) {
	var row struct {
		ID        string          `json:"id"`
		Parent    string          `json:"parentID"`
		Directory string          `json:"directory"`
		Title     string          `json:"title"`
		Version   string          `json:"version"`
		Rules     json.RawMessage `json:"permission"`
		Time      struct {
			Created  millis `json:"created"`
			Updated  millis `json:"updated"`
			Archived millis `json:"archived"`
		} `json:"time"`
	}
	if _, err := readRecord(path, &row); err != nil {
		return nil, err
	}
	if row.ID != id {
		return nil, fmt.Errorf("%s: it describes another session", path)
	}
	f := &facts{id: id, parent: row.Parent, directory: row.Directory, title: ownTitle(row.Title), version: row.Version,
		created: row.Time.Created, updated: row.Time.Updated, archived: row.Time.Archived > 0,
		byRun: madeByRun(string(row.Rules)), files: []string{path}}
	m := messageFiles{storage: storage, folder: messageFolder(storage, id), facts: f}
	if err := m.list(); err != nil {
		return nil, err
	}
	m.ends()
	m.prompts()
	if f.partsUnread = f.last.ended() && !f.needsParts(); !f.partsUnread {
		m.calls()
	}
	s := &fileSession{facts: f, sums: map[string]sum{}}
	m.sum(s, was, want.totals)
	f.finish()
	return s, nil
}

// messageFiles holds the message files of one session.
type messageFiles struct {
	storage, folder string
	names           []string // ids, oldest first
	known           map[string]message
	facts           *facts
}

func (m *messageFiles) list() error {
	entries, err := os.ReadDir(m.folder)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	for _, e := range entries {
		if id, ok := strings.CutSuffix(e.Name(), ".json"); ok && strings.HasPrefix(id, "msg_") {
			m.names = append(m.names, id)
		}
	}
	slices.SortFunc(m.names, compareIDs)
	return nil
}

// compareIDs orders ids by the time in them: 48 bits of milliseconds and a counter,
// which start again every two years.
func compareIDs(a, b string) int {
	x, okA := idTime(a)
	y, okB := idTime(b)
	if okA && okB && x != y {
		if (x-y)&(1<<48-1) < 1<<47 {
			return 1
		}
		return -1
	}
	return strings.Compare(a, b)
}

func idTime(id string) (uint64, bool) {
	_, rest, ok := strings.Cut(id, "_")
	if !ok || len(rest) < 12 {
		return 0, false
	}
	t, err := strconv.ParseUint(rest[:12], 16, 64)
	return t, err == nil
}
