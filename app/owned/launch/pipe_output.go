package launch

import (
	"bytes"
	"errors"
	"io"
	"slices"
	"sync"

	"rollcall/adapters"
)

// maxLine bounds a line of the output that is read, in bytes. A longer one is skipped.
const maxLine = 64 << 20

// talks holds the conversations of launches as far as this process has read them, by launch.
type talks struct {
	mu   sync.Mutex
	list map[string]*reading
}

// reading is the part of a process's output that was read.
type reading struct {
	mu   sync.Mutex
	talk adapters.Talk
	read int64  // number of bytes of the output that were read
	part []byte // the beginning of a line that is not finished yet
	skip bool   // the line is too long: the rest of it is skipped
}

func (t *talks) of(id string, agent adapters.Piped) *reading {
	t.mu.Lock()
	defer t.mu.Unlock()
	r := t.list[id]
	if r == nil {
		if t.list == nil {
			t.list = map[string]*reading{}
		}
		r = &reading{talk: agent.Talk()}
		t.list[id] = r
	}
	return r
}

// forget drops the readings of launches that are not in records.
func (t *talks) forget(records []Record) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for id := range t.list {
		if !slices.ContainsFunc(records, func(r Record) bool { return r.ID == id && !r.Ended() }) {
			delete(t.list, id)
		}
	}
}

// advance reads what a process has printed since the last call.
func (r *reading) advance(f io.ReaderAt) error {
	block := make([]byte, 256<<10)
	for {
		n, err := f.ReadAt(block, r.read)
		r.read += int64(n)
		r.take(block[:n])
		switch {
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return err
		}
	}
}

// take processes a block of the output.
func (r *reading) take(block []byte) {
	for len(block) > 0 {
		line, rest, whole := bytes.Cut(block, []byte{'\n'})
		block = rest
		if !r.skip {
			r.part = append(r.part, line...)
		}
		if len(r.part) > maxLine {
			r.part, r.skip = nil, true
		}
		if !whole {
			return
		}
		if !r.skip && len(r.part) > 0 {
			r.talk.Read(r.part)
		}
		r.part, r.skip = r.part[:0], false
	}
}
