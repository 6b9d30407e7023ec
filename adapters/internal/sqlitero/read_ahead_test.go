package sqlitero

import (
	"bytes"
	"errors"
	"io"
	"math/rand/v2"
	"testing"
)

// countedReads counts the reads of what it holds.
type countedReads struct {
	*bytes.Reader
	n int
}

func (c *countedReads) ReadAt(b []byte, off int64) (int, error) {
	c.n++
	return c.Reader.ReadAt(b, off)
}

// TestReadAhead: reading a log frame by frame takes one read for each block, and whatever the order of the reads, each has what the file has.
func TestReadAhead(t *testing.T) {
	const frame = frameHeaderSize + 4096
	random := rand.New(rand.NewPCG(1, 2))
	text := make([]byte, walHeaderSize+1000*frame)
	for i := range text {
		text[i] = byte(random.Uint32())
	}
	file := &countedReads{Reader: bytes.NewReader(text)}
	r := &readAhead{file: file}
	same := func(off, n int) {
		t.Helper()
		got, want := make([]byte, n), make([]byte, n)
		g, err := r.ReadAt(got, int64(off))
		w, wanted := bytes.NewReader(text).ReadAt(want, int64(off))
		if g != w || !bytes.Equal(got[:g], want[:w]) || errors.Is(err, io.EOF) != errors.Is(wanted, io.EOF) {
			t.Fatalf("%d bytes at %d: %d, %v; want %d, %v", n, off, g, err, w, wanted)
		}
	}
	same(0, walHeaderSize)
	for i := range 1000 {
		same(walHeaderSize+i*frame, frame)
	}
	if limit := len(text)/(readAheadSize-frame) + 1; file.n > limit {
		t.Errorf("%d reads of 1,000 frames, want at most %d", file.n, limit)
	}
	for range 2_000 {
		off, n := random.IntN(len(text)+frame), random.IntN(3*frame)
		if random.IntN(10) == 0 {
			n = random.IntN(2 * readAheadSize)
		}
		for range random.IntN(5) { // several, one after the other
			same(off, n)
			off += n
		}
	}
}
