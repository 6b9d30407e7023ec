package textmatch

import (
	"context"
	"errors"
	"io"
	"slices"
	"unicode/utf8"
)

// Pages says how the pages of an SQLite database lie in a file: https://www.sqlite.org/fileformat2.html. No page has bytes that are reserved, and there
// are fewer than 1<<24 of them, so that the number of a page begins with a zero byte.
type Pages struct {
	Size int // of a page, in bytes
	Gap  int // bytes before each page
}

// overflowNumber is the size of the number of the next page, with which each page begins on which a text goes on.
const overflowNumber = 4

// MayBeIn reports whether pages, read from r, can contain the pattern in one of the JSON strings of their texts: false is certain. Errors are those of
// ctx or of a read.
//
// A database splits a text over pages, none of which is shorter than a literal: one half of each occurrence is whole within one page, and is at its end,
// before the number of the page on which the text goes on, or at the beginning of that page. If one of its characters is an escape that is split itself,
// the other half is whole, or has an escape that is.
func (p *Pattern) MayBeIn(ctx context.Context, r io.Reader, pages Pages) (bool, error) {
	half := p.literal.middle()
	step := pages.Gap + pages.Size
	if half == 0 || step > blockSize {
		return true, nil
	}
	h := halves{Pages: pages, all: p.literal.positions, half: half}
	h.first = literal{positions: h.all[:half], escapes: p.literal.escapes}
	h.second = literal{positions: h.all[half:]}
	h.first.pickRare()
	h.second.pickRare()
	pooled := blocks.Get().(*[blockSize]byte)
	defer blocks.Put(pooled)
	buf := pooled[:blockSize/step*step]
	for {
		if err := ctx.Err(); err != nil {
			return true, err
		}
		n, err := io.ReadFull(r, buf)
		if h.mayBeIn(buf[:n]) {
			return true, nil
		}
		if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
			return false, nil
		}
		if err != nil {
			return true, err
		}
	}
}

// middle returns the position nearest to the middle at which a character begins; 0: there is none but the first.
func (l *literal) middle() int {
	for i := len(l.positions) / 2; i > 0; i-- {
		if utf8.RuneStart(l.positions[i][0]) {
			return i
		}
	}
	for i := len(l.positions)/2 + 1; i < len(l.positions); i++ {
		if utf8.RuneStart(l.positions[i][0]) {
			return i
		}
	}
	return 0
}

// halves looks for a literal in pages by its two halves.
type halves struct {
	Pages
	all           []byteSet
	half          int // where the second begins
	first, second literal
}

// mayBeIn looks in a block of whole pages.
func (h *halves) mayBeIn(block []byte) bool {
	var f finder
	f.reset(&h.first, block, nil)
	for at := f.next(0); at >= 0; at = f.next(at + 1) {
		if block[at] == '\\' || h.goesOn(block, at-h.first.rare) {
			return true
		}
	}
	f.reset(&h.second, block, nil)
	for at := f.next(0); at >= 0; at = f.next(at + 1) {
		if h.continues(block, at-h.second.rare) {
			return true
		}
	}
	return false
}

// page returns where the page that has the byte at begins in a block.
func (h *halves) page(at int) int {
	return at - at%(h.Gap+h.Size) + h.Gap
}

// goesOn reports whether the literal, whose first half is at a place of the block, is whole there, or can go on with an escape or on another page.
func (h *halves) goesOn(block []byte, at int) bool {
	rest := block[at+h.half : min(h.page(at)+h.Size, len(block))]
	for _, set := range h.all[h.half:] {
		if len(rest) == 0 {
			return true
		}
		if !slices.Contains(set, rest[0]) {
			return rest[0] == 0 || rest[0] == '\\'
		}
		rest = rest[1:]
	}
	return true
}

// continues reports whether what is before the second half, which is at a place of the block, can be the end of the first half of a text that began on
// another page.
func (h *halves) continues(block []byte, at int) bool {
	start := h.page(at) + overflowNumber
	before := at - start
	if before < 0 {
		return false
	}
	if before <= h.half && matches(h.all[h.half-before:h.half], block[start:at]) {
		return true
	}
	const split = len(`u0000\u0000`) // what is left at most of an escape of which the first byte is on the other page
	return before <= h.half+split && isEscapes(block[start])
}

func matches(sets []byteSet, text []byte) bool {
	for i, set := range sets {
		if !slices.Contains(set, text[i]) {
			return false
		}
	}
	return true
}

// isEscapes reports whether a byte can be in an escape, behind its backslash.
func isEscapes(b byte) bool {
	return b == 'u' || '0' <= b && b <= '9' || 'a' <= b && b <= 'f' || 'A' <= b && b <= 'F'
}
