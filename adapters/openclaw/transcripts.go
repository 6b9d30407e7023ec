package openclaw

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"rollcall/adapters"
)

// 2026.2.26 doesn't say over its protocol whether a run is active. It holds
// SESSION.jsonl.lock beside the transcript from a run's begin to its end, also while
// a tool runs; where the gateway's state folder is here, that tells.

// maybeWaits ends the evidence where approvals can't be asked for.
const maybeWaits = "; whether it waits for a permission can't be seen"

// writeLock is the content of such a lock.
type writeLock struct {
	PID     int       `json:"pid"`
	Created time.Time `json:"createdAt"`
}

// judgeLock judges by the lock; ok is false where it can't be told.
func (v *view) judgeLock(r *row) (d verdict, ok bool) {
	transcript, ok := v.transcript(r)
	if !ok {
		return verdict{}, false
	}
	path := transcript + ".lock"
	b, err := readSmall(path, 1<<16)
	switch {
	case os.IsNotExist(err):
		fi, err := os.Stat(transcript)
		if err != nil || !fi.Mode().IsRegular() {
			return verdict{}, false // its transcript may lie elsewhere
		}
		d := verdict{status: adapters.Idle, outcome: r.outcome(), evidence: v.says("no run holds " + path)}
		if d.outcome == "" && r.Status != "timeout" && v.ends != nil {
			d.outcome = v.ends.of(transcript, fi)
		}
		return d, true
	case err != nil:
		return verdict{}, false
	}
	var l writeLock
	if json.Unmarshal(b, &l) != nil || l.PID <= 0 {
		return verdict{status: adapters.Working, evidence: v.says("a run just took " + path + maybeWaits)}, true
	}
	if v.alive != nil && !v.alive(l) {
		return verdict{status: adapters.Idle, outcome: r.outcome(),
			evidence: v.says(fmt.Sprintf("process %d that held %s is gone; the run was cut off", l.PID, path))}, true
	}
	return verdict{status: adapters.Working, evidence: v.says(fmt.Sprintf("a run of process %d holds %s%s", l.PID, path, maybeWaits))}, true
}

// transcript is where a session's transcript lies, if its gateway's folder is here.
func (v *view) transcript(r *row) (path string, ok bool) {
	name := r.SessionID + ".jsonl"
	if r.File != "" { // a topic of a chat has one of its own
		name = filepath.Base(r.File)
	}
	if v.target.stateDir == "" || r.SessionID == "" || !plainName(r.agent()) || !plainName(name) {
		return "", false
	}
	return filepath.Join(v.target.stateDir, "agents", r.agent(), "sessions", name), true
}

// plainName says whether a name is no way out of a folder.
func plainName(s string) bool {
	return s != "" && s != "." && s != ".." && !strings.ContainsAny(s, `/\`+"\x00") && len(s) < 200
}

// judgeStatus judges by the status of a row that lacks hasActiveRun.
func (v *view) judgeStatus(r *row) (d verdict, ok bool) {
	switch r.Status {
	case "done", "failed", "killed", "timeout":
		return verdict{status: adapters.Idle, outcome: r.outcome(), evidence: v.says("the last run: " + r.Status)}, true
	case "running":
		return verdict{status: adapters.Working, evidence: v.says("its row says running")}, true
	}
	return verdict{}, false
}
