package copilot

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"strconv"
	"strings"

	"rollcall/adapters"
	"rollcall/adapters/internal/agentfile"
	"rollcall/adapters/internal/factcache"
)

// restLimit is the most bytes that are read of an unfinished last line.
const restLimit = 1 << 20

// transcript holds what was read of one session's file. Copilot appends to it; a rewound session of 1.0.34 is written again.
type transcript struct {
	agentfile.File
	facts facts // of the complete lines
	now   facts // and of an unfinished last line that is a whole record

	saved  *factcache.Facts[savedTranscript]
	loaded bool // saved was searched for this file
}

// factsFormat is the version of the facts of sessions. It must be raised when the same fields get another meaning.
const (
	factsFormat = 2
	factsName   = "copilot"
)

// savedTranscript is what is kept of a session's file between processes.
type savedTranscript struct {
	state agentfile.State
	facts facts
}

func newTranscript(path string, saved *factcache.Facts[savedTranscript]) *transcript {
	return &transcript{File: agentfile.NewFile(path), saved: saved}
}

// read brings the facts up to date.
func (t *transcript) read(ctx context.Context, info fs.FileInfo) (facts, error) {
	if err := agentfile.Ended(ctx); err != nil {
		return facts{}, err
	}
	if err := t.Acquire(ctx); err != nil {
		return facts{}, err
	}
	defer t.Release()
	if !t.loaded {
		t.loaded = true
		if known, ok := t.saved.Load(t.Path); ok {
			t.State, t.facts, t.now = known.state, known.facts, known.facts
		}
	}
	if t.IsCurrent(info) {
		return t.now, nil
	}
	err := t.update(ctx)
	if errors.Is(err, io.ErrUnexpectedEOF) { // it is being written again
		t.reset()
		err = t.update(ctx)
	}
	if err != nil {
		t.reset()
		return facts{}, err
	}
	return t.now, nil
}

func (t *transcript) reset() {
	t.Reset()
	t.facts, t.now = facts{}, facts{}
}

func (t *transcript) update(ctx context.Context) error {
	f, info, err := agentfile.OpenRegular(t.Path)
	if err != nil {
		return err
	}
	defer f.Close()
	t.Begin(f, info)
	if !t.HasGrown(f) {
		t.reset()
	}
	from := t.Next
	t.facts = t.facts.clone()
	t.Next, _, err = agentfile.ForwardLong(ctx, f, t.Next, 0, func(line []byte, _ int64) error {
		t.facts.line(line)
		return nil
	}, func(long *agentfile.LongLine) error {
		t.facts.lose(long.Words(0))
		return nil
	})
	var long *agentfile.LongLine
	if errors.As(err, &long) { // the lines after it can't be read
		t.facts.lose(long.Words(info.Size() - long.Offset))
		err = nil
	}
	if err != nil {
		return err
	}
	rest, err := t.Finish(f, info, restLimit)
	if err != nil {
		return err
	}
	t.now = t.facts.clone()
	if n, _ := agentfile.Records(rest, parse, t.now.record); n == 0 {
		t.saved.Store(t.Path, &savedTranscript{t.State, t.facts}, t.Next-from)
	}
	return nil
}

// workspace holds what workspace.yaml says of a session.
type workspace struct {
	cwd, branch, name string
	userNamed         bool
}

const maxWorkspace = 64 << 10

// readWorkspace reads a file of lines "key: value". A missing one, and one that is being written, says nothing.
func readWorkspace(path string) (w workspace, err error) {
	data, _, err := agentfile.ReadSmall(path, maxWorkspace)
	if errors.Is(err, fs.ErrNotExist) {
		return w, nil
	}
	if err != nil {
		return w, adapters.AsProblem(path, err)
	}
	lines := strings.Split(string(data), "\n")
	for i, line := range lines {
		key, value, _ := strings.Cut(line, ":")
		value = scalar(strings.TrimSpace(value), lines[i+1:])
		switch key {
		case "cwd":
			w.cwd = value
		case "branch":
			w.branch = value
		case "name", "summary": // the latter in 1.0.34
			w.name = adapters.CutTo(value, textLimit)
		case "user_named":
			w.userNamed = value == "true"
		}
	}
	return w, nil
}

// scalar returns the text of a YAML value: plain, quoted, or in the lines below it.
func scalar(value string, below []string) string {
	switch {
	case strings.HasPrefix(value, "|"), strings.HasPrefix(value, ">"):
		var text []string
		for _, line := range below {
			if !strings.HasPrefix(line, " ") {
				break
			}
			text = append(text, strings.TrimSpace(line))
		}
		value = strings.Join(text, "\n")
	case strings.HasPrefix(value, `"`):
		if text, err := strconv.Unquote(value); err == nil {
			value = text
		}
	case len(value) > 1 && value[0] == '\'' && value[len(value)-1] == '\'':
		value = strings.ReplaceAll(value[1:len(value)-1], "''", "'")
	}
	return strings.ToValidUTF8(value, "\uFFFD")
}
