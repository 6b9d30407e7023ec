package pistore

// maxCached bounds how many files' facts are kept, about 1 KB each.
const maxCached = 30_000

// cache keeps transcripts by path. It is guarded by Store.mu.
type cache struct {
	files     map[string]*transcript
	databases map[string]database
	turn      uint64 // counts the questions
}

// transcript returns the transcript at path, new if it isn't known.
func (s *Store) transcript(path string) *transcript {
	s.mu.Lock()
	defer s.mu.Unlock()
	c := &s.cache
	if c.files == nil {
		c.files = make(map[string]*transcript)
	}
	t := c.files[path]
	if t == nil {
		t = newTranscript(path)
		c.files[path] = t
	}
	t.used = c.turn
	return t
}

// trim drops what the fewest recent questions needed, when there is too much.
func (c *cache) trim() {
	c.turn++
	for back := uint64(8); len(c.files) > maxCached && back > 0; back /= 2 {
		for path, t := range c.files {
			if t.used+back < c.turn {
				delete(c.files, path)
			}
		}
	}
	if len(c.databases) > maxCached/10 {
		clear(c.databases)
	}
}
