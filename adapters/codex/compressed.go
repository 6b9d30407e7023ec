package codex

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"strings"

	"github.com/klauspost/compress/zstd"

	"rollcall/adapters/internal/agentfile"
)

// compressedLimit is the number of bytes of an unpacked rollout that are read. At 300 MB/s
// that fits into an adapter's time limit.
const compressedLimit = 512 << 20

func compressed(path string) bool { return strings.HasSuffix(path, ".zst") }

// newDecoder returns a reader of the decompressed data of r. Its memory is bounded.
func newDecoder(r io.Reader) (*zstd.Decoder, error) {
	return zstd.NewReader(r, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxWindow(64<<20))
}

// readCompressed reads a .jsonl.zst, into which Codex compresses rollouts that have not
// been used for a long time. It can't be read from its end, so all of it is read.
func readCompressed(ctx context.Context, r io.Reader) (progress, *usageScan, error) {
	decoder, err := newDecoder(r)
	if err != nil {
		return progress{}, nil, err
	}
	defer decoder.Close()
	var p progress
	scan, copied := newUsageScan(&head{}), copies{}
	limited := &io.LimitedReader{R: decoder, N: compressedLimit}
	lines := bufio.NewScanner(limited)
	lines.Buffer(nil, agentfile.MaxLine)
	for n := 0; lines.Scan(); n++ {
		if err := ctx.Err(); err != nil {
			return p, nil, err
		}
		line := lines.Bytes()
		p.next += int64(len(line)) + 1
		p.applyLine(n, line, &copied)
		if n == 0 {
			scan, copied = newUsageScan(&p.facts.head), newCopies(&p.facts.head)
		}
		scan.line(line)
		scan.next = p.next
	}
	switch err := lines.Err(); {
	case errors.Is(err, bufio.ErrTooLong):
		p.facts.hide("a line that is too long")
	case err != nil:
		return p, nil, err
	case limited.N <= 0:
		p.facts.skip("rollout too large to be unpacked whole")
		p.facts.turn = turn{}
	}
	return p, scan, nil
}

// applyLine adds line number n of a rollout.
func (p *progress) applyLine(n int, line []byte, copied *copies) {
	f := &p.facts
	switch {
	case n == 0:
		f.applyHead(line)
	case len(line) > 0:
		for rec := range records(line) {
			rec.end = p.next
			if copied.has(&rec) {
				f.base = copied.totals
			} else {
				f.apply(rec)
			}
		}
		if f.firstPrompt == "" && p.next < headLimit {
			f.firstPrompt = f.lastPrompt
		}
	}
}

// wholeLimit is the number of bytes of a rollout that are unpacked to read its messages.
const wholeLimit = 128 << 20

// content is what a rollout holds.
type content interface {
	io.Reader
	io.ReaderAt
}

// contentOf returns the content of a file and its size. That of a .jsonl.zst is unpacked, unless it is larger than wholeLimit.
func contentOf(f *os.File, size int64) (content, int64, error) {
	if !compressed(f.Name()) {
		return f, size, nil
	}
	decoder, err := newDecoder(f)
	if err != nil {
		return nil, 0, err
	}
	defer decoder.Close()
	data, err := io.ReadAll(io.LimitReader(decoder, wholeLimit+1))
	if len(data) > wholeLimit {
		err = errTooLarge
	}
	return bytes.NewReader(data), int64(len(data)), err
}

var errTooLarge = errors.New("it is too large to be unpacked")
