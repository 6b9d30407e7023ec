package kit

import (
	"context"
	"errors"
	"io"
	"slices"

	"rollcall/adapters"
	"rollcall/adapters/internal/agentfile"
)

// Peek returns the messages that read finds in the file of a session, from the last to the first: they are turned around. A process that
// has stored nothing has none.
func Peek(ctx context.Context, s *adapters.Session, n int, read func(path string) ([]adapters.Message, error)) ([]adapters.Message, error) {
	if n <= 0 || adapters.IsProcessID(s.ID) {
		return nil, nil
	}
	if len(s.Files) == 0 {
		return nil, &adapters.Problem{Kind: adapters.ErrUnreadable, Path: "session " + s.ID, Err: errors.New("it has no file")}
	}
	return Read(ctx, s.Files[0], func() ([]adapters.Message, error) {
		messages, err := read(s.Files[0])
		slices.Reverse(messages)
		return messages, err
	})
}

// LinesFromEnd calls do with the lines of a file from the last to the first, until it returns false. One that is too long is nil.
// A file whose name ends with .json is one line. do must not keep the line.
func LinesFromEnd(ctx context.Context, path string, do func(line []byte) (more bool)) error {
	if isOneRecord(path) {
		data, err := ReadWhole(ctx, path)
		if err == nil {
			do(data)
		}
		return err
	}
	f, info, err := agentfile.OpenUntouched(path)
	if err != nil {
		return err
	}
	defer f.Close()
	b := agentfile.Backward(f, info.Size(), 0).WithContext(ctx)
	defer b.Close()
	for {
		line, _, err := b.Prev()
		switch {
		case errors.Is(err, io.EOF):
			return nil
		case err != nil && !errors.Is(err, agentfile.ErrTooLong):
			return err
		case !do(line):
			return nil
		}
	}
}
