// Package pulse tells whether anything went on in a folder since one looked last:
// a cheap look at what stands right in it, for agents that leave a trace there
// whenever they run.
package pulse

import (
	"os"
	"path/filepath"
	"slices"
	"time"
)

// Pulse is what stood in a folder at one moment, with sizes and times. The zero
// value is that of a folder that could not be looked at.
type Pulse struct {
	at      time.Time
	entries []entry
}

type entry struct {
	name  string
	size  int64
	mtime int64
}

const (
	// settled is how old a modification time must be to tell of every change:
	// within a tick of the file system's clock two changes look as one.
	settled = 2 * time.Second
	// most is up to how many entries a folder is looked at.
	most = 200
)

// Take looks at dir, at the entries right in it, and at more paths that need not
// exist. It opens no file.
func Take(dir string, more ...string) Pulse {
	p := Pulse{at: time.Now()}
	f, err := os.Open(dir)
	if err != nil {
		return Pulse{}
	}
	defer f.Close()
	names, err := f.Readdirnames(most + 1)
	if err != nil || len(names) > most {
		return Pulse{}
	}
	slices.Sort(names)
	for _, name := range names {
		p.add(filepath.Join(dir, name))
	}
	for _, path := range append(more, dir) {
		p.add(path)
	}
	return p
}

func (p *Pulse) add(path string) {
	e := entry{name: path, size: -1}
	if info, err := os.Lstat(path); err == nil {
		e.size, e.mtime = info.Size(), info.ModTime().UnixNano()
	}
	p.entries = append(p.entries, e)
}

// Still says whether for certain nothing changed from before to p. When a change
// was so recent that a later one could look the same, it says false.
func (p Pulse) Still(before Pulse) bool {
	if before.entries == nil || !slices.Equal(p.entries, before.entries) {
		return false
	}
	for _, e := range before.entries {
		if age := before.at.Sub(time.Unix(0, e.mtime)); e.size >= 0 && age.Abs() < settled {
			return false
		}
	}
	return true
}
