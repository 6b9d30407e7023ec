package grok

import (
	"bytes"
	"maps"
	"path/filepath"
	"time"

	"rollcall/adapters/internal/agentfile"
	"rollcall/adapters/internal/kit"
)

// journal holds what the log of all processes says of prompts that the user took back before the first word of the answer: the turn stays open in the events
// then, and no other file says so (1.0.41).
type journal struct {
	kit.OneRecord                      // a line that is missing says nothing
	since         time.Time            // of its first line
	back          map[string]time.Time // by session: when a prompt was taken back last
}

// maxBack is the largest number of sessions that a journal keeps.
const maxBack = 4096

// Line implements kit.Gatherer.
func (j *journal) Line(line []byte) error {
	if j.since.IsZero() {
		j.since = agentfile.Time(agentfile.Get(line, "ts"))
	}
	if bytes.Contains(line, []byte(`"rewound"`)) && string(agentfile.Text(agentfile.Get(line, "msg"))) == "shell.cancel.rewind_decision" && len(j.back) < maxBack {
		j.back[string(agentfile.Text(agentfile.Get(line, "sid")))] = agentfile.Time(agentfile.Get(line, "ts"))
	}
	return nil
}

// Clone implements kit.Gatherer.
func (j *journal) Clone() journal {
	c := journal{since: j.since, back: map[string]time.Time{}}
	maps.Copy(c.back, j.back)
	return c
}

// takenBack reports whether the user took the prompt of a session's open turn back. known is false where the log does not reach back to the turn.
func (d *discovery) takenBack(s *session) (is, known bool) {
	j, read := d.journals[s.Home]
	if !read {
		path := filepath.Join(s.Home, "logs", "unified.jsonl")
		switch chat, ok, hidden := d.Report.Stat(s.Home, path); {
		case ok:
			var err error
			j, err = d.logs.Read(d.Ctx, path, chat.Info, d.Query.Once)
			d.Report.Failed(path, err)
		case !hidden:
			j.since = time.Unix(1, 0) // each process writes the log: nothing was taken back where there is none
		}
		d.journals[s.Home] = j
	}
	at := s.events.turn.at
	return j.back[s.id].After(at), !j.since.IsZero() && !j.since.After(at)
}
