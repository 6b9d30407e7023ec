package claudecode

import (
	"context"
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
	isListed := len(s.Files) > 0
	s.Files = slices.DeleteFunc(slices.Clone(s.Files), func(path string) bool { return filepath.Ext(path) != ".jsonl" })
	if isListed && len(s.Files) == 0 { // it has a registry entry alone
		return nil, nil
	}
	return kit.Peek(ctx, &s, n, func(path string) ([]adapters.Message, error) { return peekFile(ctx, path, &s, n) })
}

func peekFile(ctx context.Context, path string, s *adapters.Session, n int) ([]adapters.Message, error) {
	f, info, err := agentfile.OpenRegular(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	last := kit.NewLastItems(s, n+1) // the oldest may have its key from the record before it
	last.Once = true
	err = last.ReadLines(ctx, f, info.Size(), func(line []byte, offset int64) ([]kit.Item, bool) {
		return readItems(line, offset, kit.Shown).items, true
	})
	return last.Messages[:min(n, len(last.Messages))], err
}
