package corpus

import (
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"rollcall/adapters"
	"rollcall/internal/agentname"
)

// pi writes a session in the form of Pi 1.5.2, or, a quarter of them, in that of
// pi_agent_rust: both keep them in one place.
func (w *writer) pi(s *session) error {
	s.Agent = agentname.Pi
	s.Model = "mock/mock-1"
	s.Branch = ""
	rust := s.index/10%4 == 3
	s.ID = s.uuid(s.start)
	name := s.ID
	if rust {
		s.Agent, s.ID = agentname.PiRust, s.uuid(time.Time{})
		name = s.ID[:8]
	}
	if s.index%4 == 1 {
		s.Title = fmt.Sprintf("Pi task %d", s.index)
	}
	folder := "--" + strings.ReplaceAll(strings.TrimPrefix(s.CWD, "/"), "/", "-") + "--"
	when := strings.NewReplacer(":", "-", ".", "-").Replace(s.start.Format(stamp))
	path := filepath.Join(w.home, ".pi", "agent", "sessions", folder, when+"_"+name+".jsonl")
	if s.live {
		p := process{comm: "pi", exe: "/usr/bin/node", args: []string{"pi"}}
		if rust {
			p = process{comm: "pi", exe: "/usr/local/bin/pi", args: []string{"pi"}}
		}
		w.process(s, p)
	}
	return w.transcript(path, s, func(l *lines) { piLines(l, s, rust) })
}

func piLines(l *lines, s *session, rust bool) {
	header := fmt.Sprintf(`"type":"session","version":3,"id":%q,"timestamp":%q,"cwd":%q`, s.ID, s.start.Format(stamp), s.CWD)
	if rust {
		header += `,"provider":"mock","modelId":"mock-1","thinkingLevel":"off"`
	}
	l.put("{%s}", header)
	n, parent := 0, "null"
	entry := func(at time.Time, kind, rest string, args ...any) {
		n++
		id := fmt.Sprintf("%08x", n)
		l.put(`{"type":%q,"id":%q,"parentId":%s,"timestamp":"%s",%s}`, kind, id, parent, at.Format(stamp), fmt.Sprintf(rest, args...))
		parent = `"` + id + `"`
	}
	if s.Title != "" {
		entry(s.start, "session_info", `"name":%q`, s.Title)
	}
	entry(s.start, "model_change", `"provider":"mock","modelId":"mock-1"`)
	entry(s.start, "thinking_level_change", `"thinkingLevel":"off"`)
	if !rust {
		entry(s.start, "message", `"message":{"role":"system","content":"","sections":{"preamble":"%s"}}`, filler(4000))
	}
	prompt := func(at time.Time, text string) {
		entry(at, "message", `"message":{"role":"user","content":[{"type":"text","text":%q}],"timestamp":%d}`, text, at.UnixMilli())
	}
	prompt(s.start.Add(time.Second), s.Prompt)
	answer := func(at time.Time, content, stop string, t adapters.Tokens) {
		s.count(t)
		entry(at, "message", `"message":{"role":"assistant","content":[%s],"api":"openai-completions","provider":"mock","model":"mock-1",`+
			`"usage":{"input":%d,"output":%d,"cacheRead":%d,"cacheWrite":%d,"totalTokens":%d,"cost":{"input":0,"output":0,"cacheRead":0,"cacheWrite":0,"total":0}},"stopReason":%q,"timestamp":%d%s}`,
			content, t.Input, t.Output, t.CacheRead, t.CacheWrite, t.Input+t.Output+t.CacheRead+t.CacheWrite, stop, at.UnixMilli(), errorOf(stop))
	}
	at := s.turns(4500)
	for turn := 0; turn == 0 || l.n < s.size; turn++ {
		when := at(turn)
		answer(when, fmt.Sprintf(`{"type":"toolCall","id":"call_%d","name":"bash","arguments":{"command":"go test ./..."}}`, turn), "toolUse",
			adapters.Tokens{Input: int64(220 + turn%9), Output: 34, CacheRead: 1000})
		entry(when, "message", `"message":{"role":"toolResult","toolCallId":"call_%d","toolName":"bash","content":[{"type":"text","text":"%s"}],"isError":false,"timestamp":%d}`,
			turn, filler(300+s.rng.IntN(7000)), when.UnixMilli())
	}
	switch {
	case s.Status == adapters.Working, s.Outcome == adapters.Died:
		prompt(s.end, "and now the next step")
	case s.Outcome == adapters.Interrupted:
		answer(s.end, "", "aborted", adapters.Tokens{})
	case s.Outcome == adapters.Failed:
		answer(s.end, "", "error", adapters.Tokens{})
	default:
		answer(s.end, `{"type":"text","text":"Done."}`, "stop", adapters.Tokens{Input: 7, Output: 3})
	}
}

func errorOf(stop string) string {
	if stop == "error" {
		return `,"errorMessage":"500 Internal Server Error"`
	}
	return ""
}
