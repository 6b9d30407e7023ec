package pistore

import (
	"encoding/json"
	"fmt"
	"maps"
	"strings"
	"time"

	"rollcall/adapters"
)

const (
	idA = "01a20023-892c-7468-b4c6-0b0c11a75c5c"
	idB = "01a20023-ea91-7468-b4c6-0b0e22a75c5c" // made by the process that made A
	idC = "01a20024-0fbd-758f-89a4-1f3c11a75c5c" // by another one
)

// Ids of versions that do not number them.
const (
	oldA = "c9837d5d-e0a9-42c0-8baf-7d722a528008"
	oldB = "d229aa7e-f6e6-437e-84d9-0ab33e03741b"
	oldC = "01a2020f-b46f-7108-9e2b-646c6268441e"
)

const second = time.Second

func newStore(name adapters.Name, cfg adapters.Config) *Store {
	return New(adapters.Description{Name: name}, cfg)
}

// script writes a session.
type script struct {
	id, label, cwd string
	at             time.Time
	lines          []string
	n              int
	last           string
}

func newScript(id, cwd string, at time.Time, more ...any) *script {
	s := &script{id: id, label: id, cwd: cwd, at: at}
	header := map[string]any{"type": "session", "version": 3, "id": id, "timestamp": stamp(at), "cwd": cwd}
	for i := 0; i+1 < len(more); i += 2 {
		header[more[i].(string)] = more[i+1]
	}
	s.add(header)
	return s
}

func stamp(t time.Time) string { return t.UTC().Format("2006-01-02T15:04:05.000Z") }

func (s *script) add(v map[string]any) {
	b, _ := json.Marshal(v)
	s.lines = append(s.lines, string(b)+"\n")
}

// entry adds an entry, a while after the header.
func (s *script) entry(kind string, after time.Duration, more map[string]any) *script {
	s.n++
	e := map[string]any{"type": kind, "id": fmt.Sprintf("%08x", s.n), "parentId": nil, "timestamp": stamp(s.at.Add(after))}
	if s.last != "" {
		e["parentId"] = s.last
	}
	maps.Copy(e, more)
	s.last = e["id"].(string)
	s.add(e)
	return s
}

// begin adds the first entries; those of a version that numbers its ids have a system message.
func (s *script) begin() *script {
	s.entry("model_change", 100*time.Millisecond, map[string]any{"provider": "mock", "modelId": "mock-1"})
	if s.id == oldA || s.id == oldB || s.id == oldC {
		return s
	}
	return s.sys(100 * time.Millisecond)
}

func (s *script) message(after time.Duration, m map[string]any) *script {
	return s.entry("message", after, map[string]any{"message": m})
}

func (s *script) sys(after time.Duration) *script {
	return s.message(after, map[string]any{"role": "system", "content": "", "sections": map[string]string{"preamble": "x"}})
}

func (s *script) prompt(after time.Duration, text string) *script {
	return s.message(after, map[string]any{"role": "user", "content": []any{map[string]string{"type": "text", "text": text}}})
}

var someUsage = map[string]any{"input": 10, "output": 2, "cacheRead": 3, "cacheWrite": 1, "totalTokens": 16, "cost": map[string]any{"total": 0.5}}

func (s *script) answer(after time.Duration, stop string, blocks ...any) *script {
	if blocks == nil {
		blocks = []any{map[string]string{"type": "text", "text": "answer"}}
	}
	m := map[string]any{"role": "assistant", "content": blocks, "provider": "mock", "model": "mock-1", "stopReason": stop, "usage": someUsage}
	if stop == "error" {
		m["errorMessage"] = "500: mock failure"
	}
	return s.message(after, m)
}

func call(id, command string) map[string]any {
	return map[string]any{"type": "toolCall", "id": id, "name": "bash", "arguments": map[string]string{"command": command}}
}

func (s *script) result(after time.Duration, id string) *script {
	return s.message(after, map[string]any{"role": "toolResult", "toolCallId": id, "toolName": "bash", "content": []any{}, "isError": false})
}

func (s *script) omit(after time.Duration) *script {
	return s.entry("context_edit", after, map[string]any{"targetId": s.last, "replacement": nil})
}

func (s *script) text() string { return strings.Join(s.lines, "") }
