package claudecode

import (
	"errors"
	"io/fs"
	"path/filepath"
	"strings"
	"time"

	"rollcall/adapters"
	"rollcall/adapters/internal/agentfile"
)

// historyEntry is one input that a user typed into a session.
type historyEntry struct {
	at   time.Time
	text string
}

// typed holds the inputs that the user typed into a session since its process began.
type typed struct {
	last   historyEntry // the newest
	prompt historyEntry // the newest that is not a command
	first  historyEntry // the oldest of these
}

const (
	historyLines = 2000        // that are read, from the end
	historyLag   = time.Minute // entries are out of order by less than this
)

// typed reads the inputs that were typed into the session of an entry from history.jsonl. Claude Code writes an input there up
// to half a second after it was typed.
func (d *discovery) typed(e *liveEntry, id string) (t typed) {
	path, left := filepath.Join(e.root(), "history.jsonl"), historyLines
	err := agentfile.LastLines(d.ctx, path, func(line []byte) bool {
		left--
		h, session := parseInput(line)
		if session == id && !h.at.Before(e.started) {
			t.add(h)
		}
		return left > 0 && (h.at.IsZero() || !h.at.Before(e.started.Add(-historyLag)))
	})
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		d.answer.Problem(adapters.AsProblem(path, err))
	}
	return t
}

// add adds an input that is older than those added before.
func (t *typed) add(h historyEntry) {
	if t.last.at.IsZero() {
		t.last = h
	}
	if strings.HasPrefix(h.text, "/") || h.text == "" {
		return
	}
	if t.prompt.at.IsZero() {
		t.prompt = h
	}
	t.first = h
}

func parseInput(line []byte) (h historyEntry, session string) {
	var shown, at, id []byte
	_ = agentfile.Members(line, agentfile.Into("display", &shown), agentfile.Into("timestamp", &at), agentfile.Into("sessionId", &id))
	n, _ := agentfile.Int(at)
	return historyEntry{at: millis(n), text: text(shown)}, agentfile.String(id)
}

// interactive reports whether the user can type into the session.
func (e *entry) interactive() bool { return !isHeadless(e.entrypoint) }

// addPromptsFromHistory adds prompts from the history to a session that begins its
// first turn. The transcript has no prompt for its first moments.
func (d *discovery) addPromptsFromHistory(s *session, out *adapters.Session) {
	if out.FirstPrompt != "" || out.LastPrompt != "" || len(s.live) == 0 || !s.live[0].interactive() ||
		out.Status != adapters.Working && out.Status != adapters.Waiting {
		return
	}
	t := d.typed(&s.live[0], s.id)
	out.FirstPrompt, out.LastPrompt = t.first.text, t.prompt.text
}
