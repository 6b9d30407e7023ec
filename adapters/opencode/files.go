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
	facts   *facts
	sources sources
	sums    messageSums
}

// sum holds what one message, or several, used.
type sum struct {
	tokens adapters.Tokens
	cost   float64
	// The following fields are set for a single message only.
	at      millis
	asks    bool // it is the user's
	answers bool // it is an answer, or a part of one
}

// maxFile is the largest size of a record's file in bytes.
const maxFile = 16 << 20

// readRecord reads one small file of JSON. OpenCode writes its files in place: one
// that is half written is read again. The stamp is that of the file before its contents
// were read, and zero with an error.
func readRecord(path string, into any) (fs.FileInfo, agentfile.Stamp, error) {
	var err error
	for range 3 {
		var b []byte
		var info fs.FileInfo
		var stamp agentfile.Stamp
		if b, info, stamp, err = agentfile.ReadStamped(path, maxFile); err != nil {
			return nil, agentfile.Stamp{}, err
		}
		if err = json.Unmarshal(b, into); err == nil {
			return info, stamp, nil
		}
		if time.Since(info.ModTime()) > callDelay {
			break
		}
		<-time.After(2 * time.Millisecond)
	}
	return nil, agentfile.Stamp{}, err
}

// fileEntry is the file of a session as its folder shows it.
type fileEntry struct {
	id, path string
	info     fs.FileInfo
	facts    *facts // once it was read; nil: it isn't wanted
	err      error
}

// fileSessions returns the sessions of a JSON store, those of the scope. skipped counts
// records that were skipped. The newest files are read first.
func (a *Adapter) fileSessions(ctx context.Context, storage string, want scope, skipped map[string]int) (map[string]*facts, []error) {
	entries, problems := listFiles(storage, want)
	slices.SortStableFunc(entries, func(x, y *fileEntry) int { return y.info.ModTime().Compare(x.info.ModTime()) })
	agentfile.Parallel(len(entries), func(i int) {
		e := entries[i]
		if e.err = ctx.Err(); e.err == nil {
			e.facts, e.err = a.fileSession(ctx, storage, e, want)
		}
	})
	a.saved.Flush(want.once)
	sessions := map[string]*facts{}
	for _, e := range entries {
		f := e.facts
		switch {
		case e.err == nil && f != nil:
			if old := sessions[f.id]; old == nil || old.activity < f.activity {
				sessions[f.id] = f
			}
		case errors.Is(e.err, fs.ErrNotExist), e.err == nil, ctx.Err() != nil:
		case errors.Is(e.err, fs.ErrPermission):
			problems = append(problems, adapters.Unreadable(e.path, e.err))
		default:
			skipped["session file in an unknown form"]++
		}
	}
	return sessions, problems
}

// listFiles lists the files of the sessions that may be in the scope.
func listFiles(storage string, want scope) (list []*fileEntry, problems []error) {
	dir := filepath.Join(storage, "session")
	projects, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, []error{adapters.AsProblem(dir, err)}
	}
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
			id, ok := strings.CutSuffix(e.Name(), ".json")
			if !ok || !isSession(id) || want.only != nil && !want.only[id] {
				continue
			}
			info, err := e.Info()
			if errors.Is(err, fs.ErrNotExist) {
				continue
			}
			if err != nil {
				problems = append(problems, adapters.Unreadable(filepath.Join(project, e.Name()), err))
				continue
			}
			list = append(list, &fileEntry{id: id, path: filepath.Join(project, e.Name()), info: info})
		}
	}
	return list, problems
}

// fileSession reads one session; nil for one that isn't wanted. With totals, it returns the facts
// without tokens if ctx ends before all messages are read.
func (a *Adapter) fileSession(ctx context.Context, storage string, e *fileEntry, want scope) (*facts, error) {
	head := a.head(e.path, messageFolder(storage, e.id), e.info, want)
	if !want.wants(e.id, head.active) {
		return nil, nil
	}
	was, known := a.files.Get(e.path)
	if !known {
		if saved, ok := a.saved.Load(e.path); ok && saved.facts != nil && saved.facts.id == e.id {
			was = &saved
		}
	}
	if was != nil && (was.facts.tokens != nil || !want.totals) && was.sources.areUnchanged(storage) {
		a.files.Put(e.path, was)
		return was.facts, nil
	}
	now, err := readFileSession(ctx, storage, e.path, e.id, was, want)
	if err != nil {
		return nil, err
	}
	a.files.Put(e.path, now)
	if len(now.sources) <= maxSources {
		a.saved.Store(e.path, now, int64(len(now.sources)+now.sums.read)*fileCost)
	}
	return now.facts, nil
}

const (
	// maxSources is the largest number of files for which facts are kept between processes. An
	// answer that is being written can have many parts.
	maxSources = 100
	// fileCost is what reading one small file costs, in bytes of a large one.
	fileCost = 16 << 10
)

// readFileSession reads the session's file and the necessary part of its messages.
func readFileSession(ctx context.Context, storage, path, id string, was *fileSession, want scope) (*fileSession, error) {
	var row struct {
		ID        string          `json:"id"`
		Parent    string          `json:"parentID"`
		Directory string          `json:"directory"`
		Title     string          `json:"title"`
		Version   string          `json:"version"`
		Rules     json.RawMessage `json:"permission"`
		Time      struct {
			Created millis `json:"created"`
			Updated millis `json:"updated"`
		} `json:"time"`
	}
	s := &fileSession{}
	_, stamp, err := readRecord(path, &row)
	if err != nil {
		return nil, err
	}
	s.sources.note(storage, path, stamp)
	if row.ID != id {
		return nil, fmt.Errorf("%s: it describes another session", path)
	}
	f := &facts{id: id, parent: row.Parent, directory: row.Directory, title: ownTitle(row.Title), version: row.Version,
		created: row.Time.Created, updated: row.Time.Updated,
		byRun: madeByRun(string(row.Rules)), files: []string{path}}
	m := messageFiles{storage: storage, folder: messageFolder(storage, id), facts: f, sources: &s.sources}
	s.sources.noteFolder(storage, m.folder)
	if err := m.list(); err != nil {
		return nil, err
	}
	m.ends()
	m.prompts()
	if f.partsUnread = f.last.ended() && !f.needsParts(); !f.partsUnread {
		m.calls()
	}
	s.facts = f
	m.sum(ctx, s, was, want.totals)
	f.finish()
	return s, nil
}

// messageFiles holds the message files of one session.
type messageFiles struct {
	storage, folder string
	names           []string // ids, oldest first
	known           map[string]message
	facts           *facts
	sources         *sources // nil: they are not needed
}

// filesOf returns the message files of the session with this file.
func filesOf(path, id string) (*messageFiles, error) {
	storage := filepath.Dir(filepath.Dir(filepath.Dir(path)))
	m := &messageFiles{storage: storage, folder: messageFolder(storage, id), facts: &facts{}}
	return m, m.list()
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

// fileHead holds what shows the age of a session of the JSON store without its messages.
// It is not changed afterwards.
type fileHead struct {
	size     int64
	changed  time.Time // of the session's file
	messages time.Time // of the folder of its messages
	active   millis    // no record of the session is younger
}

// sameFiles reports whether nothing was added or written since h was read.
func (h *fileHead) sameFiles(o *fileHead) bool {
	return h.size == o.size && h.changed.Equal(o.changed) && h.messages.Equal(o.messages)
}

// longAnswer is the time that an answer may take: its file can have been written
// that long after it was begun, or be a copy.
const longAnswer = 24 * time.Hour

// head returns the head of a session, whose file info describes. No record of a session
// is newer than the times of its file and folder. But in a store that was copied here,
// these are the times of the copy, and the session's file and the names of its messages
// show the real times. They are read only for a session that seems to be wanted.
func (a *Adapter) head(path, folder string, info fs.FileInfo, want scope) *fileHead {
	now := &fileHead{size: info.Size(), changed: info.ModTime()}
	if fi, err := os.Stat(folder); err == nil {
		now.messages = fi.ModTime()
	}
	was, _ := a.fileHeads.Get(path)
	if was != nil && was.sameFiles(now) {
		return was
	}
	changed, messages := millis(now.changed.UnixMilli()), millis(0)
	if !now.messages.IsZero() {
		messages = millis(now.messages.UnixMilli())
	}
	now.active = max(changed, messages)
	if want.since <= 0 || now.active < want.since {
		return now // this head alone decides
	}
	updated := changed
	if changed >= want.since {
		updated = a.storedUpdate(path, changed)
	}
	now.active = max(updated, a.lastMessage(folder, messages, updated))
	a.fileHeads.Put(path, now)
	return now
}

// storedUpdate reads from a session's file when it was last updated, and returns the
// modification time of a file that can't be read or does not contain the time.
func (a *Adapter) storedUpdate(path string, changed millis) millis {
	var row struct {
		Time struct {
			Created millis `json:"created"`
			Updated millis `json:"updated"`
		} `json:"time"`
	}
	if _, _, err := readRecord(path, &row); err != nil || row.Time.Updated <= 0 {
		return changed
	}
	return min(changed, max(row.Time.Created, row.Time.Updated))
}

// lastMessage returns the latest time at which the last message of a folder can have
// been written. The name of a message has the time at which it was begun. changed is
// when the folder changed.
func (a *Adapter) lastMessage(folder string, changed, updated millis) millis {
	entries, err := os.ReadDir(folder)
	if err != nil {
		return changed
	}
	last := ""
	for _, e := range entries {
		if id, ok := strings.CutSuffix(e.Name(), ".json"); ok && strings.HasPrefix(id, "msg_") && (last == "" || compareIDs(id, last) > 0) {
			last = id
		}
	}
	if last == "" {
		return 0
	}
	begun, ok := idMillis(last, updated)
	if !ok {
		return changed
	}
	fi, err := os.Stat(filepath.Join(folder, last+".json"))
	if err != nil {
		return changed
	}
	return max(begun, min(millis(fi.ModTime().UnixMilli()), begun+millis(longAnswer.Milliseconds())))
}

// idMillis returns the time in an id. Ids hold its lower 36 bits, which begin again
// every two years: idMillis returns the possible time that is nearest to another time.
func idMillis(id string, near millis) (millis, bool) {
	n, ok := idTime(id)
	if !ok {
		return 0, false
	}
	const span = 1 << 36
	ahead := (millis(n>>12) - near) & (span - 1)
	if ahead >= span/2 {
		ahead -= span
	}
	return near + ahead, true
}

// messageFolder returns the folder in which a session's messages are kept.
func messageFolder(storage, id string) string { return filepath.Join(storage, "message", id) }
