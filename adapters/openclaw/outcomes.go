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
	// endLine bounds a line of a transcript that is read for how its run ended.
	endLine = 4 << 20
	// endLines is how far back that is looked for.
	endLines = 50
)

// runOutcomes keeps by path how the last run in a transcript ended, as long as the
// file stays as it is.
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

// lastOutcome looks for the last message: an answer says how it ended, and after
// anything else the run was cut off.
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
