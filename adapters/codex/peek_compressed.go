package codex

import (
	"bytes"
	"context"
	"errors"
	"io"

	"github.com/klauspost/compress/zstd"

	"rollcall/adapters"
)

// packedTail is the number of bytes at the end of a compressed rollout that are kept to read
// messages from: a compressed file cannot be read backwards.
const packedTail = 32 << 20

// unpack reads the end of a .jsonl.zst.
func (p *peek) unpack(ctx context.Context, r io.Reader, path string) error {
	decoder, err := zstd.NewReader(r, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxWindow(64<<20))
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
			p.head(bytes.NewReader(tail))
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
