package kit

import (
	"context"
	"io/fs"
	"maps"
	"os"
	"slices"
	"sync"
	"time"

	"rollcall/adapters"
	"rollcall/adapters/internal/agentfile"
)

const (
	limitFiles = 64      // newest files of a home that are searched for limits
	limitTail  = 1 << 20 // bytes at the end of a file that are searched
)

// Limits reads the newest records of limits at the ends of files. It keeps what it read of a file until the file changes. The
// zero value is ready for use, by several goroutines.
type Limits struct {
	mu    sync.Mutex
	known map[string]limitFile
}

type limitFile struct {
	stamp  agentfile.Stamp
	limits []adapters.Limit
}

// LimitFile is a file that may have records of limits.
type LimitFile struct {
	Path string
	Info fs.FileInfo
}

// Newest returns the newest record of each limit in the files of a home. parse returns the limits of a line; nil: it has none. A limit
// without a time gets that at which its file was changed. The lines before the last one that has any are not read.
func (l *Limits) Newest(ctx context.Context, home string, files []LimitFile, now time.Time, parse func(line []byte) []adapters.Limit) ([]adapters.Limit, error) {
	files = slices.DeleteFunc(files, func(f LimitFile) bool { return now.Sub(f.Info.ModTime()) > adapters.LimitAge })
	slices.SortFunc(files, func(a, b LimitFile) int { return b.Info.ModTime().Compare(a.Info.ModTime()) })
	files = files[:min(len(files), limitFiles)]
	found, problems := make([][]adapters.Limit, len(files)), make([]error, len(files))
	agentfile.Parallel(len(files), func(i int) { found[i], problems[i] = l.file(ctx, files[i].Path, parse) })
	var all []adapters.Limit
	for i := range files {
		for _, limit := range found[i] {
			limit.Home = home
			if limit.At.IsZero() {
				limit.At = files[i].Info.ModTime()
				if limit.At.After(now) {
					limit.At = now
				}
			}
			all = append(all, limit)
		}
	}
	out := NewestLimits(all)
	for _, err := range problems {
		if err != nil {
			return out, err
		}
	}
	return out, nil
}

// NewestLimits returns the newest record of each limit, in no particular order.
func NewestLimits(list []adapters.Limit) []adapters.Limit {
	newest := map[adapters.Limit]adapters.Limit{}
	for _, limit := range list {
		key := adapters.Limit{Home: limit.Home, Name: limit.Name, Window: limit.Window}
		if have, ok := newest[key]; !ok || limit.At.After(have.At) {
			newest[key] = limit
		}
	}
	return slices.Collect(maps.Values(newest))
}

func (l *Limits) file(ctx context.Context, path string, parse func(line []byte) []adapters.Limit) ([]adapters.Limit, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, nil //nolint:nilerr // it was removed since it was listed
	}
	stamp := agentfile.StampOf(path, info)
	l.mu.Lock()
	have, ok := l.known[path]
	l.mu.Unlock()
	if ok && have.stamp == stamp && !stamp.Fresh {
		return have.limits, nil
	}
	var found []adapters.Limit
	read := 0
	err = agentfile.LastLines(ctx, path, func(line []byte) bool {
		found = parse(line)
		read += len(line)
		return found == nil && read < limitTail
	})
	if err != nil {
		return nil, adapters.AsProblem(path, err)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.known == nil || len(l.known) > 64*limitFiles {
		l.known = map[string]limitFile{}
	}
	l.known[path] = limitFile{stamp, found}
	return found, nil
}
