package codex

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"io"
	"strings"

	"github.com/klauspost/compress/zstd"

	"rollcall/adapters"
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

// packedTail is the number of bytes at the end of a compressed rollout that are kept to read
// messages from: a compressed file cannot be read backwards.
const packedTail = 32 << 20

// unpack reads the end of a .jsonl.zst.
func (p *peek) unpack(ctx context.Context, r io.Reader, path string) error {
	decoder, err := newDecoder(r)
	if err != nil {
		return err
	}
	defer decoder.Close()
	var tail []byte
	var base int64
	chunk := make([]byte, 256<<10)
	for {
		if err := ctx.Err(); err != nil {
			return err
		}
		n, err := decoder.Read(chunk)
		tail = append(tail, chunk[:n]...)
		if base == 0 && (err != nil || len(tail) > 2*packedTail) {
			var bad error
			p.inherited, _, bad = headOf(bytes.NewReader(tail))
			if bad != nil {
				return bad
			}
		}
		if len(tail) > 2*packedTail {
			drop := len(tail) - packedTail
			tail = append(tail[:0], tail[drop:]...)
			base += int64(drop)
		}
		switch {
		case errors.Is(err, io.EOF):
			return p.read(ctx, bytes.NewReader(tail), int64(len(tail)), base)
		case err != nil:
			return err
		case base+int64(len(tail)) > compressedLimit:
			return &adapters.Problem{Kind: adapters.ErrUnreadable, Path: path,
				Err: errors.New("it is too large to be unpacked"), Fix: "unpack it with zstd -d to read it"}
		}
	}
}
