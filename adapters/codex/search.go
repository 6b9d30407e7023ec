package codex

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"io"
	"math"
	"os"
	"slices"
	"time"

	"rollcall/adapters"
	"rollcall/adapters/internal/agentfile"
	"rollcall/adapters/internal/kit"
)

// Conversations implements adapters.Searcher. A message is a text that Peek shows as one
// message. A message that the rollout holds both as an event and as an item is found once. Of a
// sub-agent's rollout only its own records are searched. A hit has the folder in which the
// thread began.
func (a *Adapter) Conversations(ctx context.Context, since time.Time) ([]adapters.Conversation, error) {
	answer := kit.NewAnswer()
	_, roots, absent := a.inUse(ctx, answer)
	if absent {
		return nil, adapters.ErrAbsent
	}
	var list []adapters.Conversation
	for _, r := range roots {
		rollouts, _, problems := a.walk(ctx, r.path, nil, func(string) bool { return false }, true)
		answer.Problem(problems...)
		for i := range rollouts {
			if !rollouts[i].info.ModTime().Before(since) {
				list = append(list, rollouts[i].conversation())
			}
		}
	}
	_, err := answer.Result(ctx, "Codex")
	return list, err
}

func (r *rollout) conversation() adapters.Conversation {
	id := r.id
	path := r.path
	changed := r.info.ModTime()
	return adapters.Conversation{Changed: changed, Search: func(ctx context.Context, q *adapters.SearchQuery, found func(adapters.Hit) error) (map[string]int, error) {
		s := &finder{Finder: kit.Finder{Query: q, Found: found, Hit: adapters.Hit{Session: id, Changed: changed}}}
		skipped, err := s.file(ctx, path)
		if errors.Is(err, errForm) { // it has the text, in a form that is not known
			err = formProblem(path, err)
		}
		return skipped, kit.SearchProblem(ctx, path, err, s.FoundErr)
	}}
}

// finder finds hits in the records of one rollout.
type finder struct {
	kit.Finder
	peek peek        // has the facts from the head of the rollout
	last peekMessage // the last message with the pattern
}

func (s *finder) file(ctx context.Context, path string) (map[string]int, error) {
	f, _, err := agentfile.OpenRegular(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	if compressed(path) {
		return s.unpacked(ctx, f)
	}
	headed := false
	return kit.SearchLines(ctx, f, s.Query, nil, func(line []byte, offset int64) error {
		if !headed {
			headed = true
			var err error
			s.Hit.CWD, err = s.peek.head(f)
			if err != nil {
				return err
			}
		}
		return s.line(line, offset)
	})
}

// unpacked searches a .jsonl.zst.
func (s *finder) unpacked(ctx context.Context, f *os.File) (map[string]int, error) {
	decoder, err := newDecoder(f)
	if err != nil {
		return nil, err
	}
	defer decoder.Close()
	limited := &io.LimitedReader{R: decoder, N: compressedLimit}
	beginning := make([]byte, headLine)
	n, err := io.ReadFull(limited, beginning)
	if err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
		return nil, err
	}
	beginning = beginning[:n]
	s.Hit.CWD, err = s.peek.head(bytes.NewReader(beginning))
	if err != nil {
		return nil, err
	}
	skipped, err := kit.SearchLines(ctx, io.MultiReader(bytes.NewReader(beginning), limited), s.Query, nil, s.line)
	if err == nil && limited.N <= 0 {
		skipped = map[string]int{"rollout too large to be unpacked whole": 1}
	}
	return skipped, err
}

// line searches one record.
func (s *finder) line(line []byte, offset int64) error {
	for _, m := range s.messages(line, offset) {
		if s.last.Text == m.Text && s.repeats(&m) {
			s.last.merged = true
			continue
		}
		has, err := s.Add(&m.Message)
		if err != nil {
			return err
		}
		if has {
			s.last = m
		}
	}
	return nil
}

// repeats reports whether a record has the same message as the record before it, as an item
// instead of an event or the other way round.
func (s *finder) repeats(m *peekMessage) bool {
	return m.Role != adapters.FromTool && m.Role == s.last.Role && !s.last.merged && m.item != s.last.item
}

// messages returns the messages in a record.
func (s *finder) messages(line []byte, offset int64) []peekMessage {
	p := &peek{limit: kit.Whole, session: &adapters.Session{}, n: math.MaxInt, inherited: s.peek.inherited,
		states: map[string]adapters.ToolState{}, seen: map[string]bool{}}
	if !p.line(line, offset) {
		return nil
	}
	list := slices.DeleteFunc(p.messages, func(m peekMessage) bool { return m.Role == adapters.FromTool })
	if !s.Query.Tools || len(list) > 0 {
		return list
	}
	if m, ok := toolText(line); ok {
		list = append(list, peekMessage{Message: m})
	}
	return list
}

// toolText returns the tool call or tool output in a record, with its whole text.
func toolText(line []byte) (m adapters.Message, ok bool) {
	if string(agentfile.Text(agentfile.Get(line, "type"))) != "response_item" {
		return m, false
	}
	payload := agentfile.Get(line, "payload")
	m = adapters.Message{Role: adapters.FromTool, At: agentfile.Time(agentfile.Get(line, "timestamp")),
		Key: cmp.Or(agentfile.String(agentfile.Get(payload, "call_id")), agentfile.String(agentfile.Get(payload, "id")))}
	switch string(agentfile.Text(agentfile.Get(payload, "type"))) {
	case "function_call", "custom_tool_call", "local_shell_call", "tool_search_call", "web_search_call", "image_generation_call":
		m.Tool, _ = agentfile.Head(agentfile.Get(payload, "name"), 200)
		for _, name := range []string{"input", "arguments", "action"} {
			m.Text += "\n" + nestedStrings(agentfile.Get(payload, name))
		}
	case "function_call_output", "custom_tool_call_output", "tool_search_output":
		m.Text = nestedStrings(agentfile.Get(payload, "output"))
	default:
		return m, false
	}
	return m, m.Key != ""
}

// nestedStrings returns the texts of a value, which may be JSON within a string.
func nestedStrings(raw []byte) string {
	if inner := agentfile.Text(raw); len(inner) > 0 && (inner[0] == '{' || inner[0] == '[') {
		if text := kit.Strings(inner); text != "" {
			return text
		}
	}
	return kit.Strings(raw)
}
