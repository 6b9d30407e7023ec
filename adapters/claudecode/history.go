package claudecode

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"rollcall/adapters"
	"rollcall/adapters/internal/agentfile"
	"rollcall/adapters/internal/jsonl"
	"rollcall/adapters/internal/uuid"
)

// history is the end of a root's history.jsonl: the inputs that users typed into
// sessions in terminals. Claude Code writes an input up to half a second after it was
// typed. A value is not changed after it was returned.
type history struct {
	info  fs.FileInfo
	since time.Time // earlier inputs may be missing
	next  int64     // all complete lines up to this offset are included

	clears []typedClear            // oldest first
	last   map[string]historyEntry // the newest input into each session
	prompt map[string]historyEntry // the newest input that is not a command
	first  map[string]historyEntry // oldest of those
}

// historyEntry is one input that the user typed into a session.
type historyEntry struct {
	at   time.Time
	text string
}

// typedClear is a /clear that was typed: with it the process leaves the session from.
type typedClear struct {
	at            time.Time
	from, project string
}

const (
	historyLimit = 4 << 20 // bytes that are read from its end
	historyLine  = 1 << 20
	historyLag   = time.Minute // entries are out of order by less than this
)

// history returns the inputs that were typed since a given time, or within a limit. It
// reads only the new part of the file.
func (d *discovery) history(root string, since time.Time) *history {
	if h := d.histories[root]; h != nil && !since.Before(h.since) {
		return h
	}
	path := filepath.Join(root, "history.jsonl")
	d.adapter.mu.Lock()
	known := d.adapter.history[root]
	d.adapter.mu.Unlock()
	h, err := readHistory(d.ctx, path, since, known)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		d.answer.Problem(adapters.AsProblem(path, err))
	}
	d.histories[root] = h
	d.adapter.mu.Lock()
	defer d.adapter.mu.Unlock()
	if d.adapter.history[root] = h; err != nil {
		delete(d.adapter.history, root)
	}
	return h
}

// readHistory reads the file's end, or the part that was appended to the known part.
// With an error it returns the entries that could be read.
func readHistory(ctx context.Context, path string, since time.Time, known *history) (*history, error) {
	h := &history{since: since, last: map[string]historyEntry{}, prompt: map[string]historyEntry{}, first: map[string]historyEntry{}}
	info, err := os.Stat(path)
	if err != nil {
		return h, err
	}
	fits := known != nil && !since.Before(known.since) && os.SameFile(known.info, info)
	if fits && agentfile.Unchanged(known.info, info) {
		return known, nil
	}
	f, info, err := agentfile.OpenRegular(path)
	if err != nil {
		return h, err
	}
	defer f.Close()
	if fits = fits && os.SameFile(known.info, info) && info.Size() > known.info.Size(); fits {
		h.since, h.next = known.since, known.next
	}
	h.info = info
	err = h.readBack(ctx, f)
	if fits {
		h.append(known)
	}
	slices.SortStableFunc(h.clears, func(a, b typedClear) int { return a.at.Compare(b.at) })
	return h, err
}

// readBack reads the lines from the file's end back to next, or the limit.
func (h *history) readBack(ctx context.Context, f io.ReaderAt) error {
	size, floor := h.info.Size(), h.next
	base := max(floor, size-historyLimit)
	h.next = size
	b := jsonl.Backward(io.NewSectionReader(f, base, size-base), size-base, historyLine).WithContext(ctx)
	for {
		line, offset, err := b.Prev()
		switch {
		case errors.Is(err, io.EOF):
			return nil
		case err != nil && !errors.Is(err, jsonl.ErrTooLong):
			return err
		case offset == 0 && base > floor:
			return nil // the limit cut the first line off
		case err != nil:
			continue
		case b.Partial():
			h.next = base + offset
			continue
		}
		if at, ok := h.line(line); ok && at.Before(h.since.Add(-historyLag)) {
			return nil
		}
	}
}

// line adds one line, which is older than the lines added before.
func (h *history) line(line []byte) (at time.Time, ok bool) {
	var id, display, project []byte
	err := jsonl.Top(line, func(key, raw []byte) bool {
		switch string(key) {
		case "display":
			display = raw
		case "timestamp":
			n, _ := jsonl.Int(raw)
			at = millis(n)
		case "project":
			project = raw
		case "sessionId":
			id = raw
		}
		return true
	})
	if err != nil || at.IsZero() {
		return at, false
	}
	session, t := jsonl.String(id), historyEntry{at, text(display)}
	if !uuid.Is(session) { // before 2.0
		return at, true
	}
	if clears(t.text) {
		h.clears = append(h.clears, typedClear{at: at, from: session, project: jsonl.String(project)})
	}
	if _, newer := h.last[session]; !newer {
		h.last[session] = t
	}
	if strings.HasPrefix(t.text, "/") || t.text == "" {
		return at, true
	}
	if _, newer := h.prompt[session]; !newer {
		h.prompt[session] = t
	}
	h.first[session] = t
	return at, true
}

// append adds the older lines that were read earlier.
func (h *history) append(older *history) {
	h.clears = append(h.clears, older.clears...)
	join := func(newer, older map[string]historyEntry) map[string]historyEntry {
		all := maps.Clone(older)
		maps.Copy(all, newer)
		return all
	}
	h.last, h.prompt = join(h.last, older.last), join(h.prompt, older.prompt)
	h.first = join(older.first, h.first)
}

// leftAt returns when the user ended the session by /exit or /quit after its last
// record, and the zero time if the user did not, or if that is not known. A prompt that
// was taken back before its answer began stays in the transcript as an open turn.
func (d *discovery) leftAt(s *session) time.Time {
	if s.file == nil {
		return time.Time{}
	}
	said := d.history(filepath.Dir(filepath.Dir(s.file.dir)), time.Time{}).last[s.id]
	if said.text != "/exit" && said.text != "/quit" || !said.at.After(s.facts.turn.at) {
		return time.Time{}
	}
	return said.at
}

// root returns the configuration folder that the entry is in.
func (e *entry) root() string { return filepath.Dir(filepath.Dir(e.path)) }

// interactive reports whether the user can type into the session.
func (e *entry) interactive() bool { return !strings.HasPrefix(e.entrypoint, "sdk") }

// addPromptsFromHistory adds prompts from the history to a session that begins its
// first turn. The transcript has no prompt for its first moments.
func (d *discovery) addPromptsFromHistory(s *session, out *adapters.Session) {
	if out.FirstPrompt != "" || out.LastPrompt != "" || len(s.live) == 0 || !s.live[0].interactive() ||
		out.Status != adapters.Working && out.Status != adapters.Waiting {
		return
	}
	h := d.history(s.live[0].root(), s.live[0].started)
	out.FirstPrompt, out.LastPrompt = h.first[s.id].text, h.prompt[s.id].text
}
