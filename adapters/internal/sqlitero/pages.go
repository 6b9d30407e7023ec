package sqlitero

import (
	"context"
	"encoding/binary"
	"io"
	"math"
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

// Places in the header of a database: https://www.sqlite.org/fileformat2.html.
const (
	headerSize     = 100
	headerPageSize = 16 // 2 bytes; 1: 65536
	headerReserved = 20 // bytes at the end of each page
	headerEncoding = 56 // 4 bytes; 1: UTF-8
)

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
	size := s.plainPages()
	if size == 0 {
		return true
	}
	if s.wal != nil {
		frames := io.NewSectionReader(s.wal, walHeaderSize, math.MaxInt64-walHeaderSize)
		may, err := pattern.MayBeIn(ctx, frames, textmatch.Pages{Size: size, Gap: frameHeaderSize})
		if may || err != nil {
			return true
		}
	}
	may, err := pattern.MayBeIn(ctx, s.db, textmatch.Pages{Size: size})
	return may || err != nil
}

// plainPages returns the size of the database's pages; 0 where their texts are not UTF-8, where bytes are reserved in them, or where their numbers
// need more than three bytes.
func (s *snapshot) plainPages() int {
	header := make([]byte, headerSize)
	if _, err := s.db.ReadAt(header, 0); err != nil {
		return 0
	}
	size := int(binary.BigEndian.Uint16(header[headerPageSize:]))
	if size == 1 {
		size = 1 << 16
	}
	fi, err := s.db.Stat()
	if err != nil || size == 0 || (fi.Size()+s.walSize)/int64(size) >= 1<<24 {
		return 0
	}
	if binary.BigEndian.Uint32(header[headerEncoding:]) != 1 || header[headerReserved] != 0 {
		return 0
	}
	return size
}
