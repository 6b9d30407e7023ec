package claudecode

import (
	"context"
	"errors"
	"path/filepath"
	"slices"

	"rollcall/adapters"
	"rollcall/adapters/internal/agentfile"
	"rollcall/adapters/internal/kit"
)

// Peek implements adapters.Peeker. Messages come in the order of the transcript
// (2.1.329 and earlier alike); a conversation that was rewound and continued
// differently shows both versions. Prompts are the inputs that a person typed,
// including slash commands and !commands; texts that hooks, reminders and other
// programs sent to the model are left out, as are sub-agents' records. Keys are the
// records' uuids and the ids of calls.
//
// A call without a result is running, unless the conversation continued without it or
// the session has no process: then it has failed. A session without a transcript has no
// messages yet, which is not an error.
func (a *Adapter) Peek(ctx context.Context, s adapters.Session, n int) ([]adapters.Message, error) {
	path := transcriptOf(&s)
	switch {
	case n <= 0 || path == "" && len(s.Files) > 0:
		return nil, nil
	case path == "":
		return nil, &adapters.Problem{Kind: adapters.ErrUnreadable, Path: "session " + s.ID, Err: errors.New("it has no transcript")}
	}
	return kit.Read(ctx, path, func() ([]adapters.Message, error) { return peekFile(ctx, path, &s, n) })
}

// transcriptOf returns the path of the session's transcript, and "" where there is none
// yet.
func transcriptOf(s *adapters.Session) string {
	for _, path := range s.Files {
		if filepath.Ext(path) == ".jsonl" {
			return path
		}
	}
	return ""
}

func peekFile(ctx context.Context, path string, s *adapters.Session, n int) ([]adapters.Message, error) {
	f, info, err := agentfile.OpenRegular(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	last := kit.NewLastItems(s, n+1) // the oldest may have its key from the record before it
	last.Once = true
	err = last.ReadLines(ctx, f, info.Size(), 0, func(line []byte, offset int64) ([]kit.Item, bool) {
		return readItems(line, offset, kit.Shown).items, true
	})
	if err != nil {
		return nil, err
	}
	messages := last.Messages[:min(n, len(last.Messages))]
	slices.Reverse(messages)
	return messages, nil
}
