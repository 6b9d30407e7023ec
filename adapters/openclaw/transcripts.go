package openclaw

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"rollcall/adapters"
	"rollcall/adapters/internal/agentfile"
	"rollcall/adapters/internal/kit"
)

// 2026.2.26 doesn't report over its protocol whether a run is active. It holds
// SESSION.jsonl.lock next to the transcript from the beginning of a run to its end,
// also while a tool runs. If the gateway's state folder is on this machine, that lock
// shows the run.

// maybeWaits is the end of the evidence if approvals can't be listed.
const maybeWaits = "; whether it waits for a permission can't be seen"

// writeLock is the content of such a lock.
type writeLock struct {
	PID     int       `json:"pid"`
	Created time.Time `json:"createdAt"`
}

// decideByLock returns the verdict from the lock of the transcript. ok is false where
// there is no transcript here.
func (v *gatewayView) decideByLock(r *row) (d kit.Verdict, ok bool) {
	transcript, ok := v.transcript(r)
	if !ok {
		return kit.Verdict{}, false
	}
	path := transcript + ".lock"
	b, _, err := agentfile.ReadSmall(path, 1<<16)
	switch {
	case os.IsNotExist(err):
		fi, err := os.Stat(transcript)
		if err != nil || !fi.Mode().IsRegular() {
			return kit.Verdict{}, false // its transcript may be elsewhere
		}
		d := kit.Idle(r.outcome(), v.says("no run holds "+path))
		if d.Outcome == "" && r.Status != "timeout" && v.outcomes != nil {
			d.Outcome = v.outcomes.of(transcript, fi)
		}
		return d, true
	case err != nil:
		return kit.Verdict{}, false
	}
	var l writeLock
	if json.Unmarshal(b, &l) != nil || l.PID <= 0 {
		return kit.Working(v.says("a run just took " + path + maybeWaits)), true
	}
	if v.alive != nil && !v.alive(l) {
		return kit.Idle(r.outcome(), v.says(fmt.Sprintf("process %d that held %s is gone; the run was cut off", l.PID, path))), true
	}
	return kit.Working(v.says(fmt.Sprintf("a run of process %d holds %s%s", l.PID, path, maybeWaits))), true
}

// transcript returns the path of a session's transcript. ok is false if its gateway's
// folder is not on this machine.
func (v *gatewayView) transcript(r *row) (path string, ok bool) {
	name := r.SessionID + ".jsonl"
	if r.File != "" { // a topic of a chat has a separate transcript
		name = filepath.Base(r.File)
	}
	if v.target.stateDir == "" || r.SessionID == "" || !plainName(r.agent()) || !plainName(name) {
		return "", false
	}
	return filepath.Join(v.target.stateDir, "agents", r.agent(), "sessions", name), true
}

// plainName reports whether a name stays within its folder.
func plainName(s string) bool {
	return s != "" && s != "." && s != ".." && !strings.ContainsAny(s, `/\`+"\x00") && len(s) < 200
}

// decideByStatus returns the verdict from the status of a row that lacks hasActiveRun.
func (v *gatewayView) decideByStatus(r *row) (d kit.Verdict, ok bool) {
	switch r.Status {
	case "done", "failed", "killed", "timeout":
		return kit.Idle(r.outcome(), v.says("the last run: "+r.Status)), true
	case "running":
		return kit.Working(v.says("its row says running")), true
	}
	return kit.Verdict{}, false
}

const (
	// endLine is the longest line of a transcript that is read for the outcome of its
	// run, in bytes.
	endLine = 4 << 20
	// endLines is the number of lines that are read for that outcome, from the end.
	endLines = 50
)

// runOutcomes caches the outcome of the last run in a transcript, by path, until the
// file changes.
type runOutcomes struct {
	kit.Memo[string, runOutcome]
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
	f, _, err := agentfile.OpenRegular(path)
	if err != nil {
		return ""
	}
	defer f.Close()
	outcome := lastOutcome(agentfile.Backward(f, info.Size(), endLine))
	o.Put(path, runOutcome{info, outcome})
	return outcome
}

// lastOutcome returns the outcome that the last message shows: the one that is recorded
// in an answer. After any other message the run was interrupted by the end of its
// process.
func lastOutcome(back *agentfile.BackwardReader) adapters.Outcome {
	for range endLines {
		line, _, err := back.Prev()
		var long *agentfile.LongLine
		switch {
		case errors.As(err, &long):
			continue
		case err != nil:
			return ""
		case agentfile.String(agentfile.Get(line, "type")) != "message":
			continue
		case agentfile.String(agentfile.Get(line, "message", "role")) != "assistant":
			return ""
		}
		switch agentfile.String(agentfile.Get(line, "message", "stopReason")) {
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
