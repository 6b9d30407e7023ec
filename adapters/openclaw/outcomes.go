package openclaw

import (
	"errors"
	"io/fs"
	"os"

	"rollcall/adapters"
	"rollcall/adapters/internal/agentfile"
	"rollcall/adapters/internal/jsonl"
	"rollcall/adapters/internal/report"
)

const (
	// endLine is the longest line of a transcript that is read for the outcome of its
	// run, in bytes.
	endLine = 4 << 20
	// endLines is the number of lines that are read for it, from the end.
	endLines = 50
)

// runOutcomes caches the outcome of the last run in a transcript, by path, until the
// file changes.
type runOutcomes struct {
	report.Memo[string, runOutcome]
}

type runOutcome struct {
	info    fs.FileInfo
	outcome adapters.Outcome
}

// of returns how the last run ended, from the end of a transcript of 2026.2.26.
func (o *runOutcomes) of(path string, info fs.FileInfo) adapters.Outcome {
	if was, ok := o.Get(path); ok && agentfile.Unchanged(was.info, info) {
		return was.outcome
	}
	f, err := os.Open(path)
	if err != nil {
		return ""
	}
	defer f.Close()
	outcome := lastOutcome(jsonl.Backward(f, info.Size(), endLine))
	o.Put(path, runOutcome{info, outcome})
	return outcome
}

// lastOutcome returns the outcome that the last message shows: the one that is recorded
// in an answer. After any other message the run was interrupted by the end of its
// process.
func lastOutcome(back *jsonl.BackwardReader) adapters.Outcome {
	for range endLines {
		line, _, err := back.Prev()
		var long *jsonl.LongLine
		switch {
		case errors.As(err, &long):
			continue
		case err != nil:
			return ""
		case jsonl.String(jsonl.Get(line, "type")) != "message":
			continue
		case jsonl.String(jsonl.Get(line, "message", "role")) != "assistant":
			return ""
		}
		switch jsonl.String(jsonl.Get(line, "message", "stopReason")) {
		case "stop", "length", "end_turn":
			return adapters.Completed
		case "aborted":
			return adapters.Interrupted
		case "error":
			return adapters.Failed
		}
		return ""
	}
	return ""
}
