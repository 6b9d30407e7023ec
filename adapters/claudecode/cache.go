package claudecode

// maxCached bounds how many transcripts' facts are kept, about 1 KB each.
const maxCached = 30_000

// cache keeps transcripts by path. It is guarded by Adapter.mu.
type cache struct {
	files map[string]*cached
	turn  uint64 // counts the questions
}

type cached struct {
	*transcript
	used uint64 // the question that needed it last
}

// get returns the transcript at path, new if it isn't known.
func (c *cache) get(path string) *transcript {
	if c.files == nil {
		c.files = make(map[string]*cached)
	}
	f := c.files[path]
	if f == nil {
		f = &cached{transcript: newTranscript(path)}
		c.files[path] = f
	}
	f.used = c.turn
	return f.transcript
}

// trim drops what the fewest recent questions needed, when there is too much.
func (c *cache) trim() {
	c.turn++
	for back := uint64(8); len(c.files) > maxCached && back > 0; back /= 2 {
		for path, f := range c.files {
			if f.used+back < c.turn {
				delete(c.files, path)
			}
		}
	}
}
