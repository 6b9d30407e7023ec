package opencode

import (
	"os"
	"path/filepath"
	"strings"

	"rollcall/adapters/internal/agentfile"
	"rollcall/adapters/internal/factcache"
)

// factsFormat is the version of the facts of the JSON store's sessions. It must be raised when the
// same fields get another meaning.
const factsFormat = 1

// savedSessions keeps what was read of the JSON store's sessions between processes, by the path
// of the session's file.
type savedSessions = factcache.Facts[fileSession]

// source is a file or a folder from which facts of a session follow.
type source struct {
	path  string // below the store's folder
	stamp agentfile.Stamp
}

// sources are all files and folders from which the facts of a session follow, except those of
// complete messages that only count for its sums.
type sources []source

// note adds a file or folder. stamp was taken before its contents were read: a stamp that is taken
// later may be that of other contents. A zero stamp stands for a path that does not exist or could
// not be read.
func (s *sources) note(storage, path string, stamp agentfile.Stamp) {
	if s != nil {
		*s = append(*s, source{path: strings.TrimPrefix(path, storage), stamp: stamp})
	}
}

// noteFolder adds a folder that is about to be listed.
func (s *sources) noteFolder(storage, path string) {
	if s == nil {
		return
	}
	var stamp agentfile.Stamp
	if info, err := os.Stat(path); err == nil {
		stamp = agentfile.StampOf(path, info)
	}
	s.note(storage, path, stamp)
}

// areUnchanged reports whether no file and no folder has changed since it was read.
func (s sources) areUnchanged(storage string) bool {
	for i := range s {
		one := &s[i]
		path := filepath.Join(storage, one.path)
		info, err := os.Stat(path)
		switch {
		case err != nil && one.stamp.IsZero():
		case err != nil, info.Size() != one.stamp.Size, !one.stamp.Unchanged(agentfile.StampOf(path, info)):
			return false
		}
	}
	return len(s) > 0
}
