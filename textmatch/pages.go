package textmatch

import (
	"context"
	"errors"
	"io"
)

// MayBeIn reports whether the pages of a database, read from r, can contain the pattern in one of the JSON strings of their texts: false is certain.
//
// A database splits a text over pages, none of which is shorter than a literal: one half of each occurrence is whole within one page. If one of its
// characters is an escape that is split itself, the other half is whole, or has an escape that is. Errors are those of ctx or of a read.
func (p *Pattern) MayBeIn(ctx context.Context, r io.Reader) (bool, error) {
	half := len(p.literal.positions) / 2
	if half == 0 {
		return true, nil
	}
	pooled := blocks.Get().(*[blockSize]byte)
	defer blocks.Put(pooled)
	buf := pooled[:]
	first := literal{positions: p.literal.positions[:half], escapes: p.literal.escapes}
	second := literal{positions: p.literal.positions[half:]}
	first.pickRare()
	second.pickRare()
	for have := 0; ; {
		if err := ctx.Err(); err != nil {
			return true, err
		}
		n, err := io.ReadFull(r, buf[have:])
		have += n
		if first.mayBeIn(buf[:have]) || second.mayBeIn(buf[:have]) {
			return true, nil
		}
		if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
			return false, nil
		}
		if err != nil {
			return true, err
		}
		const overlap = maxLiteral + len(`\u0000`)
		have = copy(buf, buf[have-overlap:have])
	}
}

func (l *literal) mayBeIn(block []byte) bool {
	var f finder
	f.reset(l, block, nil)
	return f.next(0) >= 0
}
