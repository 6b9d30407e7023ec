package kit

import (
	"cmp"
	"context"
	"errors"
	"io"
	"os"
	"strings"
	"time"

	"rollcall/adapters"
	"rollcall/adapters/internal/agentfile"
	"rollcall/textmatch"
)

// Limit bounds the texts of messages, in bytes; 0 is Shown.
type Limit int

const (
	// Shown is the limit of messages that are shown.
	Shown Limit = adapters.MaxText
	// Whole is the limit of messages that are searched: no line that is read is longer.
	Whole Limit = textmatch.MaxLine
)

// Bytes returns the limit in bytes.
func (l Limit) Bytes() int { return int(cmp.Or(l, Shown)) }

// Text returns the text of the JSON string raw, without white space around it. It is cut a
// little after the limit, so that Cut still marks the cut.
func (l Limit) Text(raw []byte) string {
	text, _ := agentfile.Head(raw, l.Bytes()+4)
	return strings.TrimSpace(text)
}

// Cut shortens a text to the limit.
func (l Limit) Cut(text string) string {
	if len(text) <= l.Bytes() {
		return text
	}
	return adapters.CutTo(text, l.Bytes()-len("…")) + "…"
}

// Finder reports the messages of one session that have the pattern. It is for one
// goroutine.
type Finder struct {
	Query *adapters.SearchQuery
	Hit   adapters.Hit // what the hits have in common
	Found func(adapters.Hit) error

	FoundErr error                       // what Found returned last
	seen     map[string]bool             // keys
	calls    map[string]adapters.Message // by their ids, see AddItems
	last     Item                        // the last one with the pattern
}

// Add reports a message, unless one with its key was reported before. Notes of the agent
// are not searched, and tools only if the query asks for them. It reports whether the
// message has the pattern, also when it was reported before.
func (f *Finder) Add(m *adapters.Message) (has bool, err error) {
	if m.Role == adapters.FromNote || m.Role == adapters.FromTool && !f.Query.Tools {
		return false, nil
	}
	start, end, ok := f.Query.Pattern.Find(m.Text)
	if !ok {
		return false, nil
	}
	if f.seen[m.Key] {
		return true, nil
	}
	if f.seen == nil {
		f.seen = map[string]bool{}
	}
	f.seen[m.Key] = true
	h := f.Hit
	h.Key = m.Key
	h.Role = m.Role
	h.Tool = m.Tool
	h.At = m.At
	h.Part = textmatch.Excerpt(m.Text, start, end, adapters.HitText)
	h.Before = strings.Clone(h.Before)
	h.Match = strings.Clone(h.Match)
	h.After = strings.Clone(h.After)
	f.FoundErr = f.Found(h)
	return true, f.FoundErr
}

// TooLong is the reason for lines that are not searched.
const TooLong = "line over 8 MB with the text, not searched"

// Skipped returns the count of lines that were too long, by reason.
func Skipped(long int) map[string]int {
	if long == 0 {
		return nil
	}
	return map[string]int{TooLong: long}
}

// SearchLines reads r and calls line for each line that can contain the query's pattern,
// and for each with one of marks.
func SearchLines(ctx context.Context, r io.Reader, q *adapters.SearchQuery, marks [][]byte, line func(line []byte, offset int64) error) (map[string]int, error) {
	long, err := q.Pattern.Lines(ctx, r, marks, line)
	return Skipped(long), err
}

// SearchProblem returns the error of a search of the file at path. It returns nil for a file
// that was removed meanwhile, the errors of ctx and of the callback unchanged, and a Problem
// for any other error.
func SearchProblem(ctx context.Context, path string, err, fromFound error) error {
	switch {
	case err == nil || errors.Is(err, os.ErrNotExist):
		return nil
	case ctx.Err() != nil:
		return ctx.Err()
	case fromFound != nil && errors.Is(err, fromFound):
		return fromFound
	}
	return adapters.AsProblem(path, err)
}

// FileSearch returns the search of a session's file of lines, or of one record where the name ends with .json. begin prepares it: it returns
// what is called with each line that can have a message with the pattern, or has one of marks.
func FileSearch(path string, changed time.Time, begin func(context.Context, *Finder) (marks [][]byte, line func([]byte) error)) adapters.Conversation {
	return adapters.Conversation{Changed: changed, Search: func(ctx context.Context, q *adapters.SearchQuery, found func(adapters.Hit) error) (skipped map[string]int, err error) {
		f := &Finder{Query: q, Found: found, Hit: adapters.Hit{Changed: changed}}
		marks, line := begin(ctx, f)
		if isOneRecord(path) {
			data, _, err := agentfile.ReadSmall(path, agentfile.MaxLine)
			if err == nil && q.Pattern.MayContain(data) {
				data, err = ReadWhole(ctx, path)
			}
			if err == nil && q.Pattern.MayContain(data) {
				err = line(data)
			}
			return nil, SearchProblem(ctx, path, err, f.FoundErr)
		}
		file, _, err := agentfile.OpenUntouched(path)
		if err == nil {
			defer file.Close()
			skipped, err = SearchLines(ctx, file, q, marks, func(text []byte, _ int64) error { return line(text) })
		}
		return skipped, SearchProblem(ctx, path, err, f.FoundErr)
	}}
}

// maxDepth is the depth to which values are searched.
const maxDepth = 40

// Strings returns the texts in a JSON value, one per line, in their order. Texts in base64 that
// have a type next to them, such as images, are left out.
func Strings(raw []byte) string {
	var b strings.Builder
	addStrings(&b, raw, 0)
	return b.String()
}

func addStrings(b *strings.Builder, raw []byte, depth int) {
	if len(raw) == 0 || depth > maxDepth {
		return
	}
	switch raw[0] {
	case '"':
		text := agentfile.String(raw)
		if text == "" {
			return
		}
		if b.Len() > 0 {
			b.WriteByte('\n')
		}
		b.WriteString(text)
	case '[':
		_ = agentfile.Each(raw, func(v []byte) bool { addStrings(b, v, depth+1); return true })
	case '{':
		encoded := agentfile.Get(raw, "media_type") != nil || agentfile.Get(raw, "mimeType") != nil
		_ = agentfile.Top(raw, func(key, v []byte) bool {
			if !encoded || string(key) != "data" {
				addStrings(b, v, depth+1)
			}
			return true
		})
	}
}
