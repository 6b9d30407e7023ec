package textmatch

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"regexp/syntax"
	"slices"
	"unicode/utf8"
)

// literal is a piece of the pattern that occurs, byte for byte, in every line of JSON with the
// pattern in one of its strings. Each position of the piece allows a few bytes, for the cases
// of a letter. A line may also write one of its characters as an escape (\u00e9). Without
// positions, every line can contain the pattern.
type literal struct {
	positions []byteSet
	rare      int    // the position whose bytes are the rarest
	escapes   []rune // the UTF-16 units whose escapes may stand for a part of it
}

// byteSet is a small set of bytes.
type byteSet []byte

const (
	maxLiteral = 48 // bytes; a longer one is not more selective
	maxCases   = 4  // of one byte
)

// bestLiteral returns the most selective literal of texts that must all occur.
func bestLiteral(texts [][]rune, allCases bool) literal {
	var best literal
	bestScore := 0
	for _, text := range texts {
		var piece literal
		end := func() {
			if score := piece.score(); score > bestScore {
				best, bestScore = piece, score
			}
			piece = literal{}
		}
		for _, r := range text {
			if !piece.add(r, allCases) || len(piece.positions) >= maxLiteral {
				end()
			}
		}
		end()
	}
	best.pickRare()
	return best
}

// add adds a character. It returns false for one that JSON may write in several ways, or
// whose cases have different lengths: such a character is in no literal.
func (l *literal) add(r rune, allCases bool) bool {
	if r < 0x20 || r == '"' || r == '\\' || r == '/' || r == utf8.RuneError || !utf8.ValidRune(r) {
		return false
	}
	cases := casesOf(r, allCases)
	if len(cases) > maxCases {
		return false
	}
	width := utf8.RuneLen(r)
	sets := make([]byteSet, width)
	for _, c := range cases {
		if utf8.RuneLen(c) != width {
			return false
		}
		for i, b := range utf8.AppendRune(nil, c) {
			if !slices.Contains(sets[i], b) {
				sets[i] = append(sets[i], b)
			}
		}
	}
	l.positions = append(l.positions, sets...)
	for _, c := range cases {
		if c > 0xffff { // written as two escapes
			c = 0xd800 + (c-0x10000)>>10
		}
		if !slices.Contains(l.escapes, c) {
			l.escapes = append(l.escapes, c)
		}
	}
	return true
}

// score returns how selective a literal is: the more bytes it has, and the rarer they are, the higher.
func (l *literal) score() int {
	score := 0
	for _, set := range l.positions {
		score += 8 - commonness(set)/32
	}
	return score
}

func (l *literal) pickRare() {
	least := 1 << 30
	for i, set := range l.positions {
		if c := commonness(set) + 40*(len(set)-1); c < least {
			l.rare, least = i, c
		}
	}
}

// byCommonness has the bytes of agents' transcripts, the most common first.
const byCommonness = "e \"tonaris,lcdu\\mp:f0_1gh2.y}{3b-45/6789vwkSTx[]()AECIRPDNM=jLqOFUBzGHWV'`><;*$#&+@|KYJQXZ!?%~^"

var ranks = func() (r [256]int) {
	for i := range r {
		r[i] = 20 // bytes of characters beyond ASCII
	}
	for i := range byCommonness {
		r[byCommonness[i]] = 224 * (len(byCommonness) - i) / len(byCommonness)
	}
	return r
}()

// commonness returns how common the bytes of a set are, from 0 to 255 and a little more.
func commonness(set byteSet) int {
	most := 0
	for _, b := range set {
		most = max(most, ranks[b])
	}
	return min(most+2*len(set), 255)
}

// required returns texts that every match of an expression contains.
func required(expr string) [][]rune {
	re, err := syntax.Parse(expr, syntax.Perl)
	if err != nil {
		return nil
	}
	return requiredIn(re.Simplify())
}

func requiredIn(re *syntax.Regexp) [][]rune {
	switch re.Op {
	case syntax.OpLiteral:
		return [][]rune{re.Rune}
	case syntax.OpCapture, syntax.OpPlus:
		return requiredIn(re.Sub[0])
	case syntax.OpConcat:
		var texts [][]rune
		for _, sub := range re.Sub {
			texts = append(texts, requiredIn(sub)...)
		}
		return texts
	}
	return nil
}

// finder looks for the places of a block at which a line can contain the pattern.
type finder struct {
	l       *literal
	block   []byte
	marks   [][]byte
	cursors [maxCases]int // the next place of each byte of the rare position
	escape  int           // the next escape that may stand for a part of the literal
	mark    int           // the next place of a mark
}

func (f *finder) reset(l *literal, block []byte, marks [][]byte) {
	f.l = l
	f.block = block
	f.marks = marks
	f.mark = f.nextMark(0)
	for i, b := range l.positions[l.rare] {
		f.cursors[i] = index(block, b, 0)
	}
	f.escape = f.nextEscape(0)
}

func index(block []byte, b byte, from int) int {
	if i := bytes.IndexByte(block[from:], b); i >= 0 {
		return from + i
	}
	return len(block)
}

// next returns the first place from from on that can be within the pattern; -1 if there is
// none. from never decreases.
func (f *finder) next(from int) int {
	set := f.l.positions[f.l.rare]
	for i, b := range set {
		if f.cursors[i] < from {
			f.cursors[i] = index(f.block, b, from)
		}
	}
	if f.escape < from {
		f.escape = f.nextEscape(from)
	}
	if f.mark < from {
		f.mark = f.nextMark(from)
	}
	other := min(f.escape, f.mark)
	for {
		least := 0
		for i := 1; i < len(set); i++ {
			if f.cursors[i] < f.cursors[least] {
				least = i
			}
		}
		at := f.cursors[least]
		switch {
		case other < at:
			return other
		case at >= len(f.block):
			return -1
		case f.l.isAt(f.block, at-f.l.rare):
			return at
		}
		f.cursors[least] = index(f.block, set[least], at+1)
	}
}

func (l *literal) isAt(block []byte, start int) bool {
	if start < 0 || start+len(l.positions) > len(block) {
		return false
	}
	for i, set := range l.positions {
		c := block[start+i]
		if c != set[0] && (len(set) == 1 || !slices.Contains(set[1:], c)) {
			return false
		}
	}
	return true
}

func (f *finder) nextMark(from int) int {
	least := len(f.block)
	for _, mark := range f.marks {
		if i := bytes.Index(f.block[from:least], mark); i >= 0 {
			least = from + i
		}
	}
	return least
}

// nextEscape returns the place of the next escape of one of the literal's characters.
func (f *finder) nextEscape(from int) int {
	if len(f.l.escapes) == 0 {
		return len(f.block)
	}
	for from < len(f.block) {
		at := indexEscape(f.block, from)
		if at < 0 {
			break
		}
		if unit, ok := hex4(f.block[at+2:]); ok && slices.Contains(f.l.escapes, unit) {
			return at
		}
		from = at + 2
	}
	return len(f.block)
}

// If the gaps between backslashes are shorter than closely bytes, comparing eight bytes at once is faster than
// searching for each next backslash. After inARow such gaps in a row it is done for the next aStretch bytes.
const (
	closely  = 24
	inARow   = 8
	aStretch = 1 << 10
)

// indexEscape returns the index of the next backslash followed by a u, or -1.
func indexEscape(b []byte, from int) int {
	row := 0
	for i := from; i+1 < len(b); {
		next := bytes.IndexByte(b[i:len(b)-1], '\\')
		if next < 0 {
			return -1
		}
		at := i + next
		if b[at+1] == 'u' {
			return at
		}
		i = at + 1
		if row++; next >= closely {
			row = 0
		}
		if row == inARow {
			row = 0
			end := min(i+aStretch, len(b))
			if at := indexEscapeDense(b[:end], i); at >= 0 {
				return at
			}
			i = end - 1 // the last byte may be a backslash
		}
	}
	return -1
}

// indexEscapeDense does the same as indexEscape, for a stretch with many backslashes.
func indexEscapeDense(b []byte, from int) int {
	const (
		ones  = 0x0101010101010101
		highs = 0x8080808080808080
		slash = '\\' * ones
		mark  = 'u' * ones
	)
	i := from
	for ; i+9 <= len(b); i += 8 {
		x := binary.LittleEndian.Uint64(b[i:]) ^ slash
		y := binary.LittleEndian.Uint64(b[i+1:]) ^ mark
		// The highest bit of each zero byte is set. It may also be set in a higher byte that is not zero, so the bytes are compared one by one below.
		if (x-ones)&^x&(y-ones)&^y&highs == 0 {
			continue
		}
		for j := i; j < i+8; j++ {
			if b[j] == '\\' && b[j+1] == 'u' {
				return j
			}
		}
	}
	for ; i+1 < len(b); i++ {
		if b[i] == '\\' && b[i+1] == 'u' {
			return i
		}
	}
	return -1
}

// hex4 returns the number of the four hex digits at the beginning of b.
func hex4(b []byte) (r rune, ok bool) {
	if len(b) < 4 {
		return 0, false
	}
	var unit [2]byte
	_, err := hex.Decode(unit[:], b[:4])
	return rune(binary.BigEndian.Uint16(unit[:])), err == nil
}
