package gemini

import (
	"cmp"
	"strings"

	"rollcall/adapters"
	"rollcall/adapters/internal/agentfile"
	"rollcall/adapters/internal/kit"
)

// record has the members of one line of a session's file, as written, or of what its `$set` changes, or of one message in a list.
type record struct {
	set, session, rewind, id, at, updated, typ, content, shown []byte
	calls, tokens, model, messages, summary, start, raw        []byte
	listed                                                     bool // in a list of messages
}

func parse(line []byte) (r record, err error) {
	read := func(raw []byte) error {
		return agentfile.Members(raw,
			agentfile.Into("sessionId", &r.session), agentfile.Into("$set", &r.set), agentfile.Into("$rewindTo", &r.rewind),
			agentfile.Into("id", &r.id), agentfile.Into("timestamp", &r.at), agentfile.Into("lastUpdated", &r.updated),
			agentfile.Into("type", &r.typ), agentfile.Into("content", &r.content), agentfile.Into("displayContent", &r.shown),
			agentfile.Into("toolCalls", &r.calls), agentfile.Into("tokens", &r.tokens), agentfile.Into("model", &r.model),
			agentfile.Into("messages", &r.messages), agentfile.Into("summary", &r.summary), agentfile.Into("startTime", &r.start))
	}
	r.raw = line
	err = read(line)
	if err == nil && r.set != nil {
		err = read(r.set)
	}
	return r, err
}

// isKnown reports whether a record is of a form that sessions have.
func (r *record) isKnown() bool {
	return r.set != nil || r.rewind != nil || r.typ != nil || r.session != nil
}

// records calls do with the records on a line, usually one, or in a file that is one object (0.29.0).
func records(line []byte, do func(*record)) (n int, err error) {
	return agentfile.RecordsOf(line, parse, (*record).isKnown, func(r *record) {
		if do(r); r.set == nil && r.session != nil {
			for _, m := range listed(r.messages) {
				do(&m)
			}
		}
	})
}

// isObject reports whether a file is one object, as before Gemini CLI wrote lines (0.29.0).
func isObject(path string) bool { return strings.HasSuffix(path, ".json") }

// listed returns the messages of a list.
func listed(raw []byte) (list []record) {
	kit.Each(raw, func(one []byte) {
		if r, err := parse(one); err == nil {
			r.listed = true
			list = append(list, r)
		}
	})
	return list
}

// isCancelled reports whether a message says that the user interrupted the turn.
func (r *record) isCancelled() bool {
	return string(agentfile.Text(r.typ)) == "info" && string(agentfile.Text(r.content)) == "Request cancelled."
}

// used returns what an answer used; nil where the record does not say it.
func (r *record) used() (t *adapters.Tokens, total int64) {
	if agentfile.Null(r.tokens) {
		return nil, 0
	}
	count := func(name string) int64 { return kit.Count(r.tokens, name) }
	cached := count("cached")
	return &adapters.Tokens{Input: max(count("input")-cached, 0) + count("tool"), Output: count("output"), CacheRead: cached, Reasoning: count("thoughts")}, count("total")
}

// contextMark begins the text with which 0.61.0 tells the model about the folder. The user did not write it.
const contextMark = "<session_context>"

// text returns the text of a message, and whether it has the results of tools. The content is a string or a list of parts.
func (r *record) text(limit int) (text string, results bool) {
	text, results = textOf(r.content, limit)
	shown, _ := textOf(r.shown, limit)
	return cmp.Or(shown, text), results
}

// isResumed reports whether Gemini CLI resumes a session for the sake of this message (isResumableMessageRecord in 0.61.0).
func (r *record) isResumed() bool {
	text, results := textOf(r.content, textLimit)
	text = strings.TrimSpace(text)
	switch kit.Short(r.typ) {
	case "user":
		isCommand := strings.HasPrefix(text, "/") || strings.HasPrefix(text, "?") || strings.HasPrefix(text, contextMark) || strings.HasPrefix(text, "<hook_context>")
		return results || text != "" && !isCommand
	case "gemini":
		return text != "" || hasItems(r.calls) || hasItems(agentfile.Get(r.raw, "thoughts"))
	}
	return false
}

func hasItems(list []byte) (has bool) {
	kit.Each(list, func([]byte) { has = true })
	return has
}

// rewrites reports whether the history follows, written again as far as the next list of messages (0.61.0).
func (r *record) rewrites() bool { return r.isCancelled() && !r.listed }

func textOf(raw []byte, limit int) (text string, results bool) {
	if len(raw) > 0 && raw[0] == '"' {
		text, _ = agentfile.Head(raw, limit)
		return text, false
	}
	kit.Each(raw, func(part []byte) { results = results || agentfile.Get(part, "functionResponse") != nil })
	return kit.PartsText(raw, limit, func(_ []byte, text string) bool { return !strings.HasPrefix(text, contextMark) }), results
}

// argument returns the most descriptive argument of a call.
func argument(raw []byte) string {
	return cmp.Or(kit.Argument(raw, []string{"command", "file_path", "path", "pattern", "query", "url", "prompt"}, kit.Shown.Text), kit.AnyArgument(raw))
}
