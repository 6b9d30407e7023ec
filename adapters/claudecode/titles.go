package claudecode

// titleBySummaries titles sessions of versions before 2.1: those wrote a title
// as a summary line into the transcript of the session that was started next,
// and it names the last record of the one that it titles.
func (c *call) titleBySummaries() {
	untitled := make(map[string][]*session) // by project folder
	for _, s := range c.list() {
		if s.file != nil && len(s.facts.leaves) > 0 && s.facts.customTitle == "" && s.facts.aiTitle == "" {
			untitled[s.file.dir] = append(untitled[s.file.dir], s)
		}
	}
	if len(untitled) == 0 {
		return
	}
	titles := make(map[uint64]string)
	for _, s := range c.neighbours(untitled) {
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

// neighbours are the sessions whose transcripts lie in those folders, read.
func (c *call) neighbours(folders map[string][]*session) []*session {
	if len(c.q.IDs) > 0 { // the folders were not listed, or not read
		for dir := range folders {
			files, _, _, _ := listProject(dir)
			for i := range files {
				if s := c.session(files[i].id); s.file == nil {
					s.file = &files[i]
				}
			}
		}
	}
	var near []*session
	for _, s := range c.sessions {
		if s.file != nil && folders[s.file.dir] != nil {
			near = append(near, s)
		}
	}
	parallel(len(near), func(i int) {
		if s := near[i]; len(c.q.IDs) > 0 || c.wanted(s) {
			c.load(s)
		}
	})
	return near
}
