package opencode

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// fileHead holds what shows the age of a session of the JSON store without its messages.
// It is not changed afterwards.
type fileHead struct {
	size     int64
	changed  time.Time // of the session's file
	messages time.Time // of the folder of its messages
	active   millis    // no record of the session is younger
}

// sameFiles reports whether nothing was added or written since h was read.
func (h *fileHead) sameFiles(o *fileHead) bool {
	return h.size == o.size && h.changed.Equal(o.changed) && h.messages.Equal(o.messages)
}

// longAnswer is the time that an answer may take: its file can have been written
// that long after it was begun, or be a copy.
const longAnswer = 24 * time.Hour

// head returns the head of a session, whose file info describes. No record of a session
// is newer than the times of its file and folder. But in a store that was copied here,
// these are the times of the copy, and the session's file and the names of its messages
// show the real times. They are read only for a session that seems to be wanted.
func (a *Adapter) head(path, folder string, info fs.FileInfo, want scope) *fileHead {
	now := &fileHead{size: info.Size(), changed: info.ModTime()}
	if fi, err := os.Stat(folder); err == nil {
		now.messages = fi.ModTime()
	}
	was, _ := a.fileHeads.Get(path)
	if was != nil && was.sameFiles(now) {
		return was
	}
	changed, messages := millis(now.changed.UnixMilli()), millis(0)
	if !now.messages.IsZero() {
		messages = millis(now.messages.UnixMilli())
	}
	now.active = max(changed, messages)
	if want.since <= 0 || now.active < want.since {
		return now // this head alone decides
	}
	updated := changed
	if changed >= want.since {
		updated = a.storedUpdate(path, changed)
	}
	now.active = max(updated, a.lastMessage(folder, messages, updated))
	a.fileHeads.Put(path, now)
	return now
}

// storedUpdate reads from a session's file when it was last updated, and returns the
// modification time of a file that can't be read or does not contain the time.
func (a *Adapter) storedUpdate(path string, changed millis) millis {
	var row struct {
		Time struct {
			Created millis `json:"created"`
			Updated millis `json:"updated"`
		} `json:"time"`
	}
	if _, _, err := readRecord(path, &row); err != nil || row.Time.Updated <= 0 {
		return changed
	}
	return min(changed, max(row.Time.Created, row.Time.Updated))
}

// lastMessage returns the latest time at which the last message of a folder can have
// been written. The name of a message has the time at which it was begun. changed is
// when the folder changed.
func (a *Adapter) lastMessage(folder string, changed, updated millis) millis {
	entries, err := os.ReadDir(folder)
	if err != nil {
		return changed
	}
	last := ""
	for _, e := range entries {
		if id, ok := strings.CutSuffix(e.Name(), ".json"); ok && strings.HasPrefix(id, "msg_") && (last == "" || compareIDs(id, last) > 0) {
			last = id
		}
	}
	if last == "" {
		return 0
	}
	begun, ok := idMillis(last, updated)
	if !ok {
		return changed
	}
	fi, err := os.Stat(filepath.Join(folder, last+".json"))
	if err != nil {
		return changed
	}
	return max(begun, min(millis(fi.ModTime().UnixMilli()), begun+millis(longAnswer.Milliseconds())))
}

// idMillis returns the time in an id. Ids hold its lower 36 bits, which begin again
// every two years: idMillis returns the possible time that is nearest to another time.
func idMillis(id string, near millis) (millis, bool) {
	n, ok := idTime(id)
	if !ok {
		return 0, false
	}
	const span = 1 << 36
	ahead := (millis(n>>12) - near) & (span - 1)
	if ahead >= span/2 {
		ahead -= span
	}
	return near + ahead, true
}

// messageFolder returns the folder in which a session's messages are kept.
func messageFolder(storage, id string) string { return filepath.Join(storage, "message", id) }
