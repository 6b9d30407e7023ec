package claudecode

import (
	"rollcall/adapters/internal/agentfile"
)

// titleBySummaries finds the titles of sessions of versions before 2.1. These wrote the
// title of a session as a summary line into the transcript of the session that was
// started next; the line names the last record of the session that it is about.
func (d *discovery) titleBySummaries() {
	untitled := make(map[string][]*session) // by project folder
	for _, s := range d.list() {
		if s.file != nil && len(s.facts.leaves) > 0 && s.facts.customTitle == "" && s.facts.aiTitle == "" {
			untitled[s.file.dir] = append(untitled[s.file.dir], s)
		}
	}
	if len(untitled) == 0 {
		return
	}
	titles := make(map[uint64]string)
	for _, s := range d.neighbours(untitled) {
		for _, sum := range s.facts.summaries {
			titles[sum.leaf] = sum.title
		}
	}
	for _, list := range untitled {
		for _, s := range list {
			for _, leaf := range s.facts.leaves { // the newest last: it wins
				set(&s.title, titles[leaf])
			}
		}
	}
}

// neighbours reads and returns the sessions whose transcripts are in those folders.
func (d *discovery) neighbours(folders map[string][]*session) []*session {
	if len(d.query.IDs) > 0 { // the folders were not listed, or not read
		for dir := range folders {
			files, _, _, _ := listProject(dir)
			for i := range files {
				if s := d.session(files[i].id); s.file == nil {
					s.file = &files[i]
				}
			}
		}
	}
	var near []*session
	for _, s := range d.sessions {
		if s.file != nil && folders[s.file.dir] != nil {
			near = append(near, s)
		}
	}
	agentfile.Parallel(len(near), func(i int) {
		if s := near[i]; len(d.query.IDs) > 0 || d.wanted(s) {
			d.load(s)
		}
	})
	return near
}
