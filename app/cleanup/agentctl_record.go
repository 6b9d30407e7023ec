package cleanup

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"rollcall/proc"
)

// record is a session record: sessionId, pid and launchedAt in all versions,
// startTime where ps knew it, wrapperPid in the older ones.
type record struct {
	SessionID  string `json:"sessionId"`
	PID        int    `json:"pid"`
	StartTime  string `json:"startTime"`
	LaunchedAt string `json:"launchedAt"`
	WrapperPID int    `json:"wrapperPid"`

	started  time.Time // from StartTime; zero where it can't be told
	launched time.Time
}

func parseRecord(data []byte) (record, error) {
	var r record
	if err := json.Unmarshal(data, &r); err != nil {
		return r, err
	}
	if r.SessionID == "" || r.PID <= 0 || r.WrapperPID < 0 {
		return r, errors.New("it has no session id or no pid")
	}
	var err error
	if r.launched, err = time.Parse(time.RFC3339, r.LaunchedAt); err != nil {
		return r, errors.New("it has no time of launch")
	}
	r.started = parseStart(r.StartTime)
	return r, nil
}

// The forms of ps -o lstart=: that of ctime, and of a macOS whose language puts
// the day first.
var startForms = []string{"Mon Jan 2 15:04:05 2006", "Mon 2 Jan 15:04:05 2006"}

// parseStart reads a start time of ps. It is in local time and says no zone.
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
	// sameStart is how far a start time of ps, whole seconds after a boot time
	// that it guessed, may lie from ours.
	sameStart = time.Minute
	// zoneStep divides the difference of any two time zones.
	zoneStep = 15 * time.Minute
	// soon is how long after its start agentctl wrote a process down.
	soon = 5 * time.Minute
)

// alive says whether the process of a record lives, and why that is so. A pid
// alone proves its death, never its life: but where nothing else is recorded, a
// live process of that pid counts as it.
func (a *Agentctl) alive(pid int, started, launched time.Time) (bool, string) {
	p, err := a.Table.Find(pid)
	switch {
	case errors.Is(err, proc.ErrGone):
		return false, fmt.Sprintf("process %d is gone", pid)
	case err != nil:
		return true, fmt.Sprintf("whether process %d lives can't be told: %v", pid, err)
	case started.IsZero():
		return true, fmt.Sprintf("process %d lives, and when it started was not recorded", pid)
	}
	apart := p.Started.Sub(started).Abs()
	if apart <= sameStart {
		return true, fmt.Sprintf("process %d lives", pid)
	}
	if after := launched.Sub(p.Started); after > -sameStart && after < soon && zones(apart) {
		return true, fmt.Sprintf("process %d lives, and may have been recorded in another time zone", pid)
	}
	return false, fmt.Sprintf("process %d is another one now, started %s", pid, p.Started.Format("2006-01-02 15:04:05"))
}

// zones says whether two clocks of different time zones can be that far apart.
func zones(apart time.Duration) bool {
	rest := apart % zoneStep
	return apart <= 26*time.Hour+sameStart && (rest <= sameStart || zoneStep-rest <= sameStart)
}
