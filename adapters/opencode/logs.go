package opencode

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"sort"
	"strconv"
	"strings"
	"time"

	"rollcall/adapters/internal/agentfile"
)

// logState holds what was read of one log file up to an offset. It is not changed afterwards.
type logState struct {
	info fs.FileInfo
	from time.Time // lines before it may be missing
	end  int64
	runs map[string]*run
}

// since returns what was logged since from: the same whether earlier lines were read or not.
func (s *logState) since(from time.Time) map[string]*run {
	runs := map[string]*run{}
	for id, r := range s.runs {
		if r.last.Before(from) {
			continue
		}
		runs[id] = r
		if !r.first.Before(from) {
			continue
		}
		late := r.clone()
		late.first = from
		for id, m := range r.sessions {
			if m.at.Before(from) {
				late.sessions[id] = mention{over: m.over}
			}
			if m.at.Before(from) && m.over.Before(from) {
				delete(late.sessions, id)
			}
		}
		late.asks = slices.DeleteFunc(late.asks, func(a ask) bool { return a.at.Before(from) })
		runs[id] = late
	}
	return runs
}

// run holds the log lines of one process: those with one "run=" (1.17 and later).
type run struct {
	id          string
	first, last time.Time
	folders     map[string]bool
	sessions    map[string]mention
	connected   bool // `run` and clients of servers have this
	asks        []ask
}

// mention holds what a run logged about a session.
type mention struct {
	at   time.Time // when a step of it began, or when it was created
	over time.Time // when its loop ended or was cancelled; zero since a step began
}

// ask is a request for a permission.
type ask struct {
	at         time.Time
	permission string
}

// sharedName is the log of all processes, since 1.17.11 at the latest.
const sharedName = "opencode.log"

const (
	maxLog  = 64 << 20 // how much of a log is read at most, from its end
	maxLine = 1 << 20  // longer lines are left out
	maxAsks = 64
)

// readLog returns the state of a log. Lines before from may be left out. An
// incomplete last line is left for the next call.
func (a *Adapter) readLog(ctx context.Context, path string, from time.Time) (*logState, error) {
	f, info, err := agentfile.OpenRegular(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	was, _ := a.logs.Get(path)
	now := &logState{info: info, from: from, runs: map[string]*run{}}
	if was != nil && os.SameFile(was.info, info) && info.Size() >= was.end && !from.Before(was.from) {
		if info.Size() == was.end {
			return was, nil
		}
		now.end = was.end
		for id, r := range was.runs {
			if r.last.Add(time.Minute).After(from) {
				now.runs[id] = r.clone()
			}
		}
	} else {
		now.end = startOf(f, info.Size(), from)
	}
	now.end, _, err = agentfile.Forward(ctx, f, now.end, maxLine, func(line []byte, _ int64) error {
		sharedLine(now.runs, line)
		return nil
	})
	if err != nil {
		return nil, err
	}
	a.logs.Put(path, now)
	return now, nil
}

func (r *run) clone() *run {
	c := *r
	c.folders = maps.Clone(r.folders)
	c.sessions = maps.Clone(r.sessions)
	c.asks = slices.Clone(r.asks)
	return &c
}

// startOf finds by binary search the position in a shared log at which the lines of a
// given time begin. The lines of several processes are slightly out of order.
func startOf(f *os.File, size int64, from time.Time) int64 {
	lowest := max(0, size-maxLog)
	if size-lowest < 1<<20 || from.IsZero() {
		return lowest
	}
	const grain = 64 << 10
	from = from.Add(-30 * time.Second)
	buffer := make([]byte, grain)
	n := sort.Search(int((size-lowest)/grain), func(i int) bool {
		k, err := f.ReadAt(buffer, lowest+int64(i)*grain)
		if err != nil && !errors.Is(err, io.EOF) {
			return true
		}
		for _, line := range bytes.Split(buffer[:k], []byte("\n"))[1:] {
			if at, ok := timestamp(line); ok {
				return !at.Before(from)
			}
		}
		return false
	})
	return max(lowest, lowest+int64(n-1)*grain)
}

const stampKey = "timestamp="

func timestamp(line []byte) (time.Time, bool) {
	rest, ok := bytes.CutPrefix(line, []byte(stampKey))
	if !ok {
		return time.Time{}, false
	}
	word, _, _ := bytes.Cut(rest, []byte(" "))
	at, err := time.Parse(time.RFC3339Nano, string(word))
	return at, err == nil
}

// sharedLine reads a line of the log of 1.17 and later:
//
//	timestamp=… level=INFO run=ce1a3036 message="creating instance" directory=/x
func sharedLine(runs map[string]*run, line []byte) {
	at, ok := timestamp(line)
	if !ok {
		return
	}
	var id, text, folder, session, subject, permission string
	fields(string(line), func(key, value string) {
		switch key {
		case "run":
			id = cmp.Or(id, value)
		case "message":
			text = cmp.Or(text, value)
		case "directory":
			folder = value
		case "session.id":
			session = value
		case "id":
			subject = value
		case "permission":
			permission = value
		}
	})
	if id == "" || len(id) > 64 {
		return
	}
	r := runs[id]
	if r == nil {
		r = newRun(id, at)
		runs[id] = r
	}
	r.seen(at)
	if folder != "" && text == "creating instance" {
		r.folders[filepath.Clean(folder)] = true
	}
	switch {
	case text == "event connected":
		r.connected = true
	case text == "created" && isSession(subject):
		r.began(subject, at)
	case text == "asking" && strings.HasPrefix(subject, "per_"):
		r.addAsk(ask{at: at, permission: permission})
	case !isSession(session):
	case text == "loop", text == "process", text == "stream":
		r.began(session, at)
	case text == "exiting loop", text == "cancel":
		r.ended(session, at)
	}
}

func newRun(id string, at time.Time) *run {
	return &run{id: id, first: at, last: at, folders: map[string]bool{}, sessions: map[string]mention{}}
}

func (r *run) seen(at time.Time) {
	if at.Before(r.first) {
		r.first = at
	}
	if at.After(r.last) {
		r.last = at
	}
}

func (r *run) addAsk(a ask) {
	r.asks = append(r.asks, a)
	r.asks = r.asks[max(0, len(r.asks)-maxAsks):]
}

func (r *run) began(session string, at time.Time) {
	if m := r.sessions[session]; !at.Before(m.at) {
		r.sessions[session] = mention{at: at}
	}
}

func (r *run) ended(session string, at time.Time) {
	m := r.sessions[session]
	m.over = at
	r.sessions[session] = m
}

// fields calls f with each key=value of a line. Values with spaces are quoted as in
// JSON. It ignores words without =.
func fields(line string, f func(key, value string)) {
	for line != "" {
		line = strings.TrimLeft(line, " ")
		i := strings.IndexAny(line, "= ")
		if i < 0 {
			return
		}
		if line[i] == ' ' {
			line = line[i:]
			continue
		}
		key := line[:i]
		line = line[i+1:]
		if !strings.HasPrefix(line, `"`) {
			value, rest, _ := strings.Cut(line, " ")
			f(key, value)
			line = rest
			continue
		}
		quoted, err := strconv.QuotedPrefix(line)
		if err != nil {
			_, line, _ = strings.Cut(line, " ")
			continue
		}
		if value, err := strconv.Unquote(quoted); err == nil {
			f(key, value)
		}
		line = line[len(quoted):]
	}
}
