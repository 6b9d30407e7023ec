package cleanup

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"rollcall/proc"
)

// record is a session record. All versions write sessionId, pid and launchedAt. They write startTime if ps printed it,
// and older versions write wrapperPid.
type record struct {
	SessionID  string `json:"sessionId"`
	PID        int    `json:"pid"`
	StartTime  string `json:"startTime"`
	LaunchedAt string `json:"launchedAt"`
	WrapperPID int    `json:"wrapperPid"`

	started  time.Time // from StartTime; zero if unknown
	launched time.Time
}

func parseRecord(data []byte) (record, error) {
	var r record
	if err := json.Unmarshal(data, &r); err != nil {
		return r, err
	}
	if r.SessionID == "" || r.PID <= 0 || r.WrapperPID < 0 {
		return r, errors.New("the session id or the pid is missing")
	}
	var err error
	if r.launched, err = time.Parse(time.RFC3339, r.LaunchedAt); err != nil {
		return r, errors.New("launchedAt is missing or not a time")
	}
	r.started = parseStart(r.StartTime)
	return r, nil
}

// startForms lists the formats of ps -o lstart=: that of ctime, and that of macOS with a language that puts the day first.
var startForms = []string{"Mon Jan 2 15:04:05 2006", "Mon 2 Jan 15:04:05 2006"}

// parseStart parses a start time of ps, which is local time without a zone. It returns the zero time for other text.
func parseStart(text string) time.Time {
	text = strings.Join(strings.Fields(text), " ")
	for _, form := range startForms {
		if t, err := time.ParseInLocation(form, text, time.Local); err == nil {
			return t
		}
	}
	return time.Time{}
}

const (
	// sameStart is the largest difference between a start time of ps and ours. ps counts whole seconds from an estimated
	// boot time.
	sameStart = time.Minute
	// zoneStep is the smallest difference between two time zones.
	zoneStep = 15 * time.Minute
	// soon is the time after the start of a process within which agentctl recorded it.
	soon = 5 * time.Minute
)

// alive reports whether the process of a record is running, and the reason for that answer. If no start time was
// recorded, any running process with that pid counts.
func (a *Agentctl) alive(pid int, started, launched time.Time) (bool, string) {
	p, err := a.Table.Find(pid)
	switch {
	case errors.Is(err, proc.ErrGone):
		return false, fmt.Sprintf("process %d has ended", pid)
	case err != nil:
		return true, fmt.Sprintf("process %d may be running: %v", pid, err)
	case started.IsZero():
		return true, fmt.Sprintf("process %d is running, and its start time was not recorded", pid)
	}
	apart := p.Started.Sub(started).Abs()
	if apart <= sameStart {
		return true, fmt.Sprintf("process %d is running", pid)
	}
	if after := launched.Sub(p.Started); after > -sameStart && after < soon && zones(apart) {
		return true, fmt.Sprintf("process %d is running, and may have been recorded in another time zone", pid)
	}
	return false, fmt.Sprintf("process %d has ended (another one has had this pid since %s)", pid, p.Started.Format("2006-01-02 15:04:05"))
}

// zones reports whether a difference can be that of two time zones.
func zones(apart time.Duration) bool {
	rest := apart % zoneStep
	return apart <= 26*time.Hour+sameStart && (rest <= sameStart || zoneStep-rest <= sameStart)
}
