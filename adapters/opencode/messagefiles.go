package opencode

import (
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/cespare/xxhash/v2"

	"rollcall/adapters/internal/agentfile"
	"rollcall/adapters/internal/jsonl"
)

// read reads one message. A file that is being written is read as empty, and counts as
// missing.
func (m *messageFiles) read(id string) (message, bool) {
	if msg, ok := m.known[id]; ok {
		return msg, msg.Role != ""
	}
	if m.known == nil {
		m.known = map[string]message{}
	}
	m.known[id] = message{}
	path := filepath.Join(m.folder, id+".json")
	var msg message
	info, stamp, err := readRecord(path, &msg)
	m.sources.note(m.storage, path, stamp)
	if err != nil {
		if !errors.Is(err, fs.ErrNotExist) {
			m.facts.skip("message file that could not be read")
		}
		return message{}, false
	}
	msg.ID, msg.updated = id, millis(info.ModTime().UnixMilli())
	m.known[id] = msg
	return msg, msg.Role != ""
}

// ends finds the last message, the last one of the assistant, and the last one that
// states the used context.
func (m *messageFiles) ends() {
	for i := len(m.names) - 1; i >= max(0, len(m.names)-20); i-- {
		msg, ok := m.read(m.names[i])
		if !ok {
			continue
		}
		if m.facts.last.ID == "" {
			m.facts.last = msg
		}
		if msg.Role != "assistant" {
			continue
		}
		if m.facts.assistant.ID == "" {
			m.facts.assistant = msg
		}
		if msg.Tokens != nil && msg.Tokens.used() > 0 {
			m.facts.context = msg.Tokens.used()
			return
		}
	}
}

// prompts finds the first and the last prompt of the user.
func (m *messageFiles) prompts() {
	for _, id := range m.names {
		if text := m.words(id); text != "" {
			m.facts.firstPrompt = text
			break
		}
	}
	for _, id := range slices.Backward(m.names) {
		if text := m.words(id); text != "" {
			m.facts.lastPrompt = text
			if msg, ok := m.read(id); ok {
				m.facts.prompted = msg.Time.Created
			}
			break
		}
	}
}

// words returns the text of a message of the user, and "" for any other message.
func (m *messageFiles) words(id string) string {
	if msg, ok := m.read(id); !ok || msg.Role != "user" {
		return ""
	}
	for _, p := range readParts(m.storage, id, 20, m.sources) {
		if p.Type == "text" && !p.Synthetic {
			return unquotePrompt(p.Text)
		}
	}
	return ""
}

// readParts reads the parts of a message, in order, at most the given number of them.
// It leaves out parts that can't be read. It adds the files to from, which may be nil.
func readParts(storage, message string, most int, from *sources) []part {
	folder := filepath.Join(storage, "part", message)
	from.noteFolder(storage, folder)
	ids := partNames(storage, message)
	var parts []part
	for _, id := range ids[:min(len(ids), most)] {
		var p part
		path := filepath.Join(folder, id+".json")
		info, stamp, err := readRecord(path, &p)
		from.note(storage, path, stamp)
		if err != nil {
			continue
		}
		p.ID, p.updated = id, millis(info.ModTime().UnixMilli())
		parts = append(parts, p)
	}
	return parts
}

// partNames returns the ids of the parts of a message, in order.
func partNames(storage, message string) (ids []string) {
	entries, err := os.ReadDir(filepath.Join(storage, "part", message))
	if err != nil {
		return nil
	}
	for _, e := range entries {
		if id, ok := strings.CutSuffix(e.Name(), ".json"); ok {
			ids = append(ids, id)
		}
	}
	slices.SortFunc(ids, compareIDs)
	return ids
}

// maxParts bounds how many parts of one message are read.
const maxParts = 2000

// calls reads the tool parts of the assistant's last message.
func (m *messageFiles) calls() {
	if m.facts.assistant.ID == "" {
		return
	}
	for _, p := range readParts(m.storage, m.facts.assistant.ID, maxParts, m.sources) {
		if !m.facts.assistant.ended() {
			m.facts.activity = max(m.facts.activity, p.updated)
		}
		m.facts.add(&p, false)
	}
}

// messageSums holds what the first messages of a session used. A message is read only once if it is complete, so that
// OpenCode does not change it any more, and if no other fact follows from it.
type messageSums struct {
	messages int    // the first ones, in the order of their ids
	names    uint64 // hash of these ids
	each     []sum  // what each of them used
	open     []int  // messages that may change, by their index: they are read at every change of the session

	read int `facts:"-"` // message files that were read for it
}

// hashNames returns the hash of ids.
func hashNames(ids []string) uint64 {
	h := xxhash.New()
	for _, id := range ids {
		_, _ = h.WriteString(id)
		_, _ = h.WriteString("\n")
	}
	return h.Sum64()
}

// sumUnasked is the number of messages that are read to sum up tokens without Query.Totals, beyond
// those that are read for other facts.
const sumUnasked = 4

// sum adds up tokens and cost, if they are asked for, were known before, or need few messages. Messages that are
// complete are read once. If ctx ends first, nothing is known yet, but what was read is kept.
func (m *messageFiles) sum(ctx context.Context, s, was *fileSession, totals bool) {
	if was != nil && was.sums.messages <= len(m.names) && was.sums.names == hashNames(m.names[:was.sums.messages]) {
		s.sums = was.sums
		s.sums.each, s.sums.read = slices.Clone(was.sums.each), 0
	}
	if !totals && (was == nil || was.facts.tokens == nil) && len(m.names)-s.sums.messages > len(m.known)+sumUnasked {
		return
	}
	again := s.sums.open
	s.sums.open = nil
	for _, i := range again {
		m.count(i, s)
	}
	from := s.sums.messages
	for ; from < len(m.names) && ctx.Err() == nil; from++ {
		m.count(from, s)
	}
	s.sums.messages, s.sums.names = from, hashNames(m.names[:from])
	if from < len(m.names) {
		return
	}
	var all sum
	for _, one := range s.sums.each {
		all.add(one)
		m.log(one)
	}
	m.facts.logged = true
	m.facts.tokens, m.facts.cost = &all.tokens, all.cost
}

// count reads what the message with the index i used, and notes it if it may change.
func (m *messageFiles) count(i int, s *fileSession) {
	for len(s.sums.each) <= i {
		s.sums.each = append(s.sums.each, sum{})
	}
	id := m.names[i]
	if _, known := m.known[id]; !known {
		s.sums.read++
		if one, ok := readTokens(filepath.Join(m.folder, id+".json")); ok {
			s.sums.each[i] = one
			return
		}
	}
	s.sums.open = append(s.sums.open, i)
	msg, _ := m.read(id) // read also adds the file to the sources, since the message may change
	one := sum{at: msg.Time.Created, asks: msg.Role == "user"}
	if msg.Role == "assistant" {
		if msg.Tokens != nil {
			one.tokens = msg.Tokens.counts()
		}
		if msg.Cost != nil {
			one.cost = *msg.Cost
		}
		one.answers = msg.Time.Completed > 0 && msg.Error == nil || one.tokens.Output > 0
	}
	s.sums.each[i] = one
}

// readTokens reads the tokens, the cost and the time of a complete message, and nothing else of its file: a
// store has hundreds of thousands of them. ok is false for a message that must be read whole.
func readTokens(path string) (one sum, ok bool) {
	data, _, err := agentfile.ReadSmall(path, maxFile)
	if err != nil {
		return sum{}, false
	}
	var role, used, cost, times, problem []byte
	into := jsonl.Into
	err = jsonl.Members(data, into("role", &role), into("tokens", &used), into("cost", &cost), into("time", &times), into("error", &problem))
	if err != nil {
		return sum{}, false
	}
	failed := !jsonl.Null(problem)
	created, _ := jsonl.Float(jsonl.Get(times, "created"))
	one.at = millis(created)
	role = jsonl.Text(role)
	if string(role) == "user" {
		one.asks = true
		return one, true
	}
	completed, _ := jsonl.Float(jsonl.Get(times, "completed"))
	if string(role) != "assistant" || completed <= 0 && !failed {
		return sum{}, false
	}
	var t tokens
	if !jsonl.Null(used) && json.Unmarshal(used, &t) != nil {
		return sum{}, false
	}
	if !jsonl.Null(cost) {
		if one.cost, ok = jsonl.Float(cost); !ok {
			return sum{}, false
		}
	}
	one.tokens = t.counts()
	one.answers = completed > 0 && !failed || one.tokens.Output > 0
	return one, true
}

// log adds what a message used to the log of the session's usage.
func (m *messageFiles) log(one sum) {
	m.facts.log.Add(one.at.time(), one.tokens, one.cost)
	switch {
	case one.asks:
		m.facts.log.Prompt()
	case one.answers:
		m.facts.log.Answer(one.at.time())
	}
}

func (s *sum) add(o sum) {
	s.tokens.Add(o.tokens)
	s.cost += o.cost
}
