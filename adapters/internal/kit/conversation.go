package kit

import (
	"context"
	"errors"
	"io"
	"strings"

	"rollcall/adapters"
	"rollcall/adapters/internal/agentfile"
)

// attempts is how many times a file is read that becomes shorter while it is read.
const attempts = 3

// Read returns the messages that read returns. It calls read again if the file at
// path became shorter meanwhile: the agent is writing it again. Errors are
// *adapters.Problem values.
func Read(ctx context.Context, path string, read func() ([]adapters.Message, error)) ([]adapters.Message, error) {
	for attempt := 1; ; attempt++ {
		messages, err := read()
		switch {
		case err == nil:
			return messages, nil
		case ctx.Err() != nil:
			return nil, &adapters.Problem{Kind: adapters.ErrTimeout, Path: path, Err: ctx.Err()}
		case errors.Is(err, io.ErrUnexpectedEOF) && attempt < attempts:
		default:
			return nil, adapters.AsProblem(path, err)
		}
	}
}

// Argument returns the most descriptive member of a call's input: the first of names
// for which text returns a value, or else the first of the questions that it asks the user.
func Argument(input []byte, names []string, text func(raw []byte) string) (found string) {
	for _, name := range names {
		if value := text(agentfile.Get(input, name)); value != "" {
			return value
		}
	}
	Each(agentfile.Get(input, "questions"), func(one []byte) {
		if found == "" {
			found = text(agentfile.Get(one, "question"))
		}
	})
	return found
}

// AnyArgument returns the first member of a call's input that is a text, or else the
// input as it is.
func AnyArgument(input []byte) string {
	text := ""
	_ = agentfile.Top(input, func(_, raw []byte) bool {
		text = Shown.Text(raw)
		return text == ""
	})
	if text == "" && len(input) > len("{}") {
		text = string(input[:min(len(input), adapters.MaxText+4)])
	}
	return strings.ToValidUTF8(text, "")
}

// StateWithoutResult returns the state of a call that has no result. continued reports that the
// conversation continued without it. The call has then failed. It has also failed if the
// session has no process, unless the message is newer than the session: then a process wrote it
// after the session was read.
func StateWithoutResult(s *adapters.Session, m *adapters.Message, continued bool) adapters.ToolState {
	if continued || s.Status == adapters.Stopped && !m.At.After(s.LastActivityAt) {
		return adapters.ToolFailed
	}
	return adapters.ToolRunning
}
