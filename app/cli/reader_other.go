//go:build !unix

package cli

import (
	"context"
	"io"
)

// readerGone returns ctx: a reader that is gone shows at the next write.
func readerGone(ctx context.Context, _ io.Writer) context.Context { return ctx }
