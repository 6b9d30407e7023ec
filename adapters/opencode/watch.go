package opencode

import (
	"os"
	"path/filepath"
	"slices"
)

// watchRoot adds the folders of a root that should be watched.
func (d *discovery) watchRoot(r *root, l *links) {
	d.answer.Watch(r.path, r.logFolder())
	for _, path := range append(slices.Clone(r.databases), r.missing...) {
		d.answer.Watch(filepath.Dir(path))
	}
	sessions := filepath.Join(r.storage(), "session")
	if len(r.databases) > 0 && !slices.ContainsFunc(r.hosts, func(h *host) bool { return !l.usesDatabase(h) }) {
		return // nothing is written there any more
	}
	d.answer.Watch(sessions)
	entries, err := os.ReadDir(sessions)
	if err != nil || len(entries) > 100 {
		return
	}
	for _, e := range entries {
		d.answer.Watch(filepath.Join(sessions, e.Name()))
	}
}

// watchSession adds the folder of the messages of a live session in the JSON store.
func (d *discovery) watchSession(r *root, f *facts) {
	if len(f.files) > 0 && filepath.Ext(f.files[0]) == ".json" && len(d.answer.Watched()) < 500 {
		d.answer.Watch(messageFolder(r.storage(), f.id))
	}
}
