//go:build !unix

package cli

import (
	"context"
	"io"
)

// readerGone is ctx: that nobody reads shows with the next line.
func readerGone(ctx context.Context, _ io.Writer) context.Context { return ctx }
