package corpus

import (
	"crypto/sha1" //nolint:gosec // names a project, as OpenCode does
	_ "embed"
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"rollcall/adapters"
	"rollcall/internal/agentname"
)

//go:embed opencode.sql
var openCodeSchema string

// openCodeStore is OpenCode's data folder: the database of 1.18.33 and its log. One goroutine writes it.
type openCodeStore struct {
	dir string
	db  *database
	log strings.Builder

	project, session, message, part, event, sequence func(args ...any)

	projects map[string]bool
	written  int
	before   int // the checkpoint after which everything stays in the log
}

func newOpenCodeStore(w *writer) (*openCodeStore, error) {
	st := &openCodeStore{dir: filepath.Join(w.home, ".local", "share", "opencode"), projects: map[string]bool{}}
	for i := range w.Sessions {
		if isOpenCode(i) {
			st.before++
		}
	}
	if st.before == 0 {
		return st, nil
	}
	st.before = st.before * 49 / 50
	var err error
	st.db, err = createDatabase(filepath.Join(st.dir, "opencode.db"), openCodeSchema)
	if err != nil {
		return nil, err
	}
	st.project = st.db.prepare("INSERT INTO project (id, worktree, vcs, time_created, time_updated, sandboxes) VALUES (?, ?, 'git', ?, ?, '[]')")
	st.session = st.db.prepare(`INSERT INTO session (id, project_id, slug, directory, path, title, version, summary_additions, summary_deletions, summary_files,
		cost, tokens_input, tokens_output, tokens_reasoning, tokens_cache_read, tokens_cache_write, agent, model, time_created, time_updated)
		VALUES (?, ?, 'misty-otter', ?, '', ?, ?, 0, 0, 0, 0, ?, ?, ?, ?, ?, 'build', ?, ?, ?)`)
	st.message = st.db.prepare("INSERT INTO message VALUES (?, ?, ?, ?, ?)")
	st.part = st.db.prepare("INSERT INTO part VALUES (?, ?, ?, ?, ?, ?)")
	st.event = st.db.prepare("INSERT INTO event VALUES (?, ?, ?, ?, ?)")
	st.sequence = st.db.prepare("INSERT INTO event_sequence VALUES (?, ?, NULL)")
	return st, nil
}

// chat is an OpenCode session with what was said in it.
type chat struct {
	*session
	project, version string
	title            string // as it is stored
	ids              int
	messages         []chatMessage
}

type chatMessage struct {
	id        string
	at, ended time.Time
	data      string // without what is a column of its own
	parts     []chatPart
}

type chatPart struct {
	id   string
	at   time.Time
	data string
}

const openCodeModel = `"providerID":"mock","modelID":"mock-1"`

// openCode writes a session of OpenCode.
func (w *writer) openCode(s *session) error {
	s.Agent = agentname.OpenCode
	s.Model = "mock/mock-1"
	s.Branch = ""
	c := &chat{session: s, version: "1.18.33", project: fmt.Sprintf("%x", sha1.Sum([]byte(s.CWD)))} //nolint:gosec // as above
	s.ID = c.id("ses_", s.start, true)
	c.title = "New session - " + s.start.Format(stamp)
	if s.index%3 > 0 {
		s.Title = fmt.Sprintf("OpenCode task %d", s.index)
		c.title = s.Title
	}
	c.size /= 2 // what is said is kept twice: in the rows and in their journal
	c.converse()
	if s.live {
		w.openCodeProcess(c)
	}
	w.store.add(c)
	if w.store.written++; w.store.written == w.store.before {
		w.store.db.checkpoint()
	}
	return w.store.db.err
}

// id makes one of OpenCode's ids: the time, ascending, or of sessions
// descending, and then chance.
func (c *chat) id(prefix string, at time.Time, descending bool) string {
	c.ids++
	n := uint64(at.UnixMilli())*0x1000 + uint64(c.ids%0x1000)
	if descending {
		n = ^n
	}
	const letters = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
	tail := make([]byte, 14)
	for i := range tail {
		tail[i] = letters[c.rng.IntN(len(letters))]
	}
	return fmt.Sprintf("%s%012x%s", prefix, n&0xffffffffffff, tail)
}

// converse makes up the messages: one prompt, steps that call a tool, and how
// the last one stands or ended.
func (c *chat) converse() {
	at := c.turns(6000)
	prompt := chatMessage{id: c.id("msg_", c.start, false), at: c.start, ended: c.start}
	prompt.data = fmt.Sprintf(`"role":"user","time":{"created":%d},"agent":"build","model":{%s},"summary":{"diffs":[]}`, c.start.UnixMilli(), openCodeModel)
	c.part(&prompt, c.start, fmt.Sprintf(`"type":"text","text":%q`, c.Prompt))
	c.messages = append(c.messages, prompt)
	for said, turn := 0, 0; turn == 0 || said < c.size; turn++ {
		n := 300 + c.rng.IntN(9000)
		said += n + 1500
		when := at(turn)
		m := c.answer(when, when.Add(time.Millisecond), "tool-calls", "")
		c.part(m, when, fmt.Sprintf(`"type":"tool","tool":"bash","callID":"call_%d","state":{"status":"completed","input":{"command":"go test ./..."},"output":"%s","metadata":{"exit":0},"time":{"start":%d,"end":%d}}`,
			turn, filler(n), when.UnixMilli(), when.UnixMilli()))
	}
	switch {
	case c.Status == adapters.Working, c.Outcome == adapters.Died:
		c.answer(c.end, time.Time{}, "", "")
	case c.Outcome == adapters.Interrupted:
		c.answer(c.end, c.end, "", `"error":{"name":"MessageAbortedError","data":{"message":"Aborted"}},`)
	case c.Outcome == adapters.Failed:
		c.answer(c.end, c.end, "", `"error":{"name":"APIError","data":{"message":"Internal Server Error","statusCode":500,"isRetryable":false}},`)
	default:
		m := c.answer(c.end, c.end, "stop", "")
		c.part(m, c.end, fmt.Sprintf(`"type":"text","text":"Done.","time":{"start":%d,"end":%d}`, c.end.UnixMilli(), c.end.UnixMilli()))
	}
}

// answer adds a step of the model. One that was not finished has no tokens yet.
func (c *chat) answer(at, ended time.Time, finish, failure string) *chatMessage {
	m := chatMessage{id: c.id("msg_", at, false), at: at, ended: at}
	tokens := `"tokens":{"input":0,"output":0,"reasoning":0,"cache":{"read":0,"write":0}}`
	times := ""
	end := ""
	if !ended.IsZero() {
		m.ended = ended
		times = fmt.Sprintf(`,"completed":%d`, ended.UnixMilli())
	}
	if finish != "" {
		t := adapters.Tokens{Input: int64(200 + len(c.messages)%50), Output: 34, Reasoning: 3, CacheRead: 1000, CacheWrite: 2}
		c.count(t)
		tokens = fmt.Sprintf(`"tokens":{"total":%d,"input":%d,"output":%d,"reasoning":%d,"cache":{"write":%d,"read":%d}}`,
			t.Input+t.Output+t.CacheRead+t.CacheWrite, t.Input, t.Output, t.Reasoning, t.CacheWrite, t.CacheRead)
		end = fmt.Sprintf(`,"finish":%q`, finish)
	}
	m.data = fmt.Sprintf(`"parentID":%q,"role":"assistant","mode":"build","agent":"build","path":{"cwd":%q,"root":%q},"cost":0,%s%s,"modelID":"mock-1","providerID":"mock","time":{"created":%d%s}%s`,
		c.messages[0].id, c.CWD, c.CWD, failure, tokens, at.UnixMilli(), times, end)
	c.part(&m, at, `"type":"step-start","snapshot":"4b825dc642cb6eb9a060e54bf8d69288fbee4904"`)
	if finish != "" {
		c.part(&m, at, fmt.Sprintf(`"type":"step-finish","reason":%q,"snapshot":"4b825dc642cb6eb9a060e54bf8d69288fbee4904","cost":0,%s`, finish, tokens))
	}
	c.messages = append(c.messages, m)
	return &c.messages[len(c.messages)-1]
}

func (c *chat) part(m *chatMessage, at time.Time, data string) {
	m.parts = append(m.parts, chatPart{id: c.id("prt_", at, false), at: at, data: data})
}
