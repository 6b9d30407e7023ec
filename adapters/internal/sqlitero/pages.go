package sqlitero

import (
	"bytes"
	"context"
	"sync"

	"rollcall/textmatch"
)

// Pages remembers whether the bytes of a database can contain a pattern. The zero value is ready. It is safe for concurrent use.
type Pages struct {
	mu      sync.Mutex
	path    string
	pattern *textmatch.Pattern
	may     bool
}

// MayContain reports whether the JSON in the database at path can contain the pattern, by its pages alone, which is several times faster than to ask for its
// rows. false is certain; what can't be read may contain everything, and Read says why. Only the first call for a database and a pattern reads.
func (p *Pages) MayContain(ctx context.Context, path string, pattern *textmatch.Pattern) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.pattern != pattern || p.path != path {
		p.pattern = pattern
		p.path = path
		p.may = mayContain(ctx, path, pattern)
	}
	return p.may
}

// utf8 is the text encoding in the header of a database whose texts are UTF-8.
var utf8 = []byte{0, 0, 0, 1}

// mayContain reads the log before the database: a writer moves pages from the one into the other.
func mayContain(ctx context.Context, path string, pattern *textmatch.Pattern) bool {
	s, err := open(ctx, path)
	if err != nil {
		return true
	}
	defer s.close()
	if s.before.journal {
		return true // pages that an unfinished change replaced are in the journal
	}
	encoding := make([]byte, len(utf8))
	if _, err := s.db.ReadAt(encoding, 56); err != nil || !bytes.Equal(encoding, utf8) {
		return true
	}
	if s.wal != nil {
		may, err := pattern.MayBeIn(ctx, s.wal)
		if may || err != nil {
			return true
		}
	}
	may, err := pattern.MayBeIn(ctx, s.db)
	return may || err != nil
}
