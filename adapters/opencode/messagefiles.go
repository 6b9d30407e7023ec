package opencode

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
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
	info, err := readRecord(path, &msg)
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
	for _, p := range readParts(m.storage, id, 20) {
		if p.Type == "text" && !p.Synthetic {
			return unquotePrompt(p.Text)
		}
	}
	return ""
}

// readParts reads the parts of a message, in order, at most the given number of them.
// It leaves out parts that can't be read.
func readParts(storage, message string, most int) []part {
	folder := filepath.Join(storage, "part", message)
	ids := partNames(storage, message)
	var parts []part
	for _, id := range ids[:min(len(ids), most)] {
		var p part
		info, err := readRecord(filepath.Join(folder, id+".json"), &p)
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
	for _, p := range readParts(m.storage, m.facts.assistant.ID, maxParts) {
		if !m.facts.assistant.ended() {
			m.facts.activity = max(m.facts.activity, p.updated)
		}
		m.facts.add(&p, false)
	}
}

// sum adds up tokens and cost. Messages that are complete are read once.
func (m *messageFiles) sum(s, was *fileSession, totals bool) {
	if len(m.names) > sumSession && !totals && (was == nil || was.facts.tokens == nil) {
		return
	}
	var all sum
	for _, id := range m.names {
		if was != nil {
			if known, ok := was.sums[id]; ok {
				s.sums[id] = known
				all.add(known)
				continue
			}
		}
		msg, ok := m.read(id)
		if !ok {
			continue
		}
		var one sum
		if msg.Role == "assistant" && msg.Tokens != nil {
			one.tokens = msg.Tokens.counts()
		}
		if msg.Role == "assistant" && msg.Cost != nil {
			one.cost = *msg.Cost
		}
		if msg.Role == "user" || msg.ended() {
			s.sums[id] = one
		}
		all.add(one)
	}
	m.facts.tokens, m.facts.cost = &all.tokens, all.cost
}

func (s *sum) add(o sum) {
	s.tokens.Add(o.tokens)
	s.cost += o.cost
}
