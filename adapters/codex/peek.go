package codex

import (
	"context"
	"errors"
	"io"

	"rollcall/adapters"
	"rollcall/adapters/internal/agentfile"
	"rollcall/adapters/internal/kit"
)

// Peek implements adapters.Peeker. Messages come in the order of the rollout (0.137 to
// 0.169). A user's message is the text that was typed, without the texts that Codex and
// editors put before it; of a sub-agent's rollout only its own records are read, not
// those copied from its parent. Keys are the ids of items and calls; in versions
// without ids, the position of the record in the rollout.
//
// A call without an output is running, unless its turn is over or no process has the
// thread open: then it has failed. A command that ended with another exit code than 0
// has failed too.
func (a *Adapter) Peek(ctx context.Context, s adapters.Session, n int) ([]adapters.Message, error) {
	return kit.Peek(ctx, &s, n, func(path string) ([]adapters.Message, error) { return peekRollout(ctx, path, &s, n) })
}

// peekRollout returns the messages of a rollout, the last one first.
func peekRollout(ctx context.Context, path string, s *adapters.Session, n int) ([]adapters.Message, error) {
	f, info, err := agentfile.OpenRegular(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	last := kit.NewLastItems(s, n+1) // the oldest may have its key from the record before it
	last.Once = true
	var inherited int64 // records before this ordinal are the parent's
	in, size, err := contentOf(f, info.Size())
	if err == nil {
		inherited, _, err = headOf(in)
	}
	if err == nil {
		err = last.ReadLines(ctx, in, size, func(line []byte, offset int64) ([]kit.Item, bool) {
			return readItems(line, offset, inherited, kit.Shown)
		})
	}
	switch {
	case errors.Is(err, errForm):
		return nil, formProblem(path, err)
	case errors.Is(err, errTooLarge):
		return nil, &adapters.Problem{Kind: adapters.ErrUnreadable, Path: path, Err: err, Fix: "unpack it with zstd -d to read it"}
	}
	return last.Messages[:min(n, len(last.Messages))], err
}

// headOf reads the first line: the ordinal before which records are the parent's, and the folder in which the thread began. The
// error is errForm for a rollout in another format.
func headOf(r io.ReaderAt) (inherited int64, cwd string, err error) {
	limited := io.NewSectionReader(r, 0, headLine)
	_, _, _ = agentfile.Forward(context.Background(), limited, 0, headLine, func(line []byte, _ int64) error {
		var f facts
		if f.applyHead(line); !f.known {
			err = errForm
		}
		inherited, cwd = f.inherited, f.cwd
		return errEnough
	})
	return inherited, cwd, err
}

// errForm reports that the first line of a rollout is not that of a known version.
var errForm = errors.New("its first line is not session_meta, which Codex 0.32 and later write")

func formProblem(path string, err error) error {
	return &adapters.Problem{Kind: adapters.ErrFormat, Path: path, Err: err, Fix: "Rollcall does not read the rollouts of older versions"}
}
