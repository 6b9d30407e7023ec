package pistore

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"slices"
	"strings"
	"time"

	"rollcall/adapters"
	"rollcall/adapters/internal/agentfile"
	"rollcall/adapters/internal/kit"
	"rollcall/adapters/internal/sqlitero"
)

// Peek returns the last n messages of a session that Discover returned. It reads the file from
// its end. For a conversation with branches it returns the active branch.
func (s *Store) Peek(ctx context.Context, session adapters.Session, n int) ([]adapters.Message, error) {
	if n <= 0 || adapters.IsProcessID(session.ID) { // a process that has stored nothing
		return nil, nil
	}
	if len(session.Files) == 0 {
		return nil, &adapters.Problem{Kind: adapters.ErrUnreadable, Path: "session " + session.ID, Err: errors.New("it has no file")}
	}
	p := &peek{limit: kit.Shown, n: n, results: map[string]adapters.ToolState{}}
	path := session.Files[0]
	var err error
	if strings.HasSuffix(path, ".sqlite") {
		err = p.database(ctx, path)
	} else {
		err = p.file(ctx, path)
	}
	slices.Reverse(p.messages)
	for i := range p.messages {
		if m := &p.messages[i]; m.State == adapters.ToolRunning {
			m.State = kit.StateWithoutResult(&session, m, false)
		}
	}
	if err != nil {
		return p.messages, adapters.AsProblem(path, err)
	}
	return p.messages, nil
}

// peek collects messages from the last to the first.
type peek struct {
	limit    kit.Limit
	n        int
	messages []adapters.Message
	results  map[string]adapters.ToolState // of the calls with a result
	want     string                        // id of the entry that comes before, on the active branch
	begun    bool
}

func (p *peek) full() bool { return len(p.messages) >= p.n }

func (p *peek) file(ctx context.Context, path string) error {
	f, info, err := agentfile.OpenUntouched(path)
	if err != nil {
		return err
	}
	defer f.Close()
	b := agentfile.Backward(f, info.Size(), 0).WithContext(ctx)
	for !p.full() {
		line, _, err := b.Prev()
		var long *agentfile.LongLine
		switch {
		case errors.Is(err, io.EOF):
			return nil
		case errors.As(err, &long):
			p.begun = false // the entry before it is not known
			continue
		case err != nil:
			return err
		}
		p.line(line)
	}
	return nil
}

func (p *peek) database(ctx context.Context, path string) error {
	var lines [][]byte
	_, err := sqlitero.Read(ctx, path, func(ctx context.Context, db *sqlitero.DB) error {
		lines = nil
		const newest = "SELECT json FROM pi_session_entries ORDER BY seq DESC LIMIT ?"
		return db.Each(ctx, newest, []any{4*p.n + 100}, func(scan func(...any) error) error {
			var line []byte
			err := scan(&line)
			lines = append(lines, line)
			return err
		})
	})
	for _, line := range lines {
		p.line(line)
	}
	return err
}

// line adds one entry if it is on the active branch.
func (p *peek) line(line []byte) {
	var f fields
	if f.read(line) != nil {
		return
	}
	id := short(f.id)
	if p.begun && p.want != "" && id != "" && id != p.want {
		return
	}
	if string(agentfile.Text(f.typ)) == "session" {
		return
	}
	if id != "" {
		p.begun, p.want = true, short(f.parent)
	}
	at := agentfile.Time(f.at)
	switch string(agentfile.Text(f.typ)) {
	case "message":
		p.message(id, at, f.message)
	case "compaction":
		p.note(id, at, "The conversation was summarised.")
	case "branch_summary":
		p.note(id, at, "The user went to another branch of the conversation.")
	}
}

func (p *peek) note(id string, at time.Time, text string) {
	p.add(adapters.Message{Key: id, Role: adapters.FromNote, Text: text, At: at})
}

func (p *peek) add(m adapters.Message) {
	if !p.full() {
		m.Text = p.limit.Cut(m.Text)
		p.messages = append(p.messages, m)
	}
}

func (p *peek) message(id string, at time.Time, raw []byte) {
	content := agentfile.Get(raw, "content")
	switch string(agentfile.Text(agentfile.Get(raw, "role"))) {
	case "user":
		p.add(adapters.Message{Key: id, Role: adapters.FromUser, Text: contentText(content, p.limit.Bytes()+1), At: at})
	case "toolResult":
		state := adapters.ToolDone
		if agentfile.True(agentfile.Get(raw, "isError")) {
			state = adapters.ToolFailed
		}
		p.results[short(agentfile.Get(raw, "toolCallId"))] = state
	case "assistant":
		p.assistant(id, at, raw, content)
	case "bashExecution":
		text, _ := agentfile.Head(agentfile.Get(raw, "command"), adapters.MaxText+1)
		p.add(adapters.Message{Key: id, Role: adapters.FromTool, Tool: "!", Text: text, State: adapters.ToolDone, At: at})
	}
}

// assistant adds an answer's parts, the last one first.
func (p *peek) assistant(id string, at time.Time, raw, content []byte) {
	if why, _ := agentfile.Head(agentfile.Get(raw, "errorMessage"), textLimit); why != "" {
		p.note(id+"/error", at, why)
	}
	var parts []adapters.Message
	_ = agentfile.Each(content, func(block []byte) bool {
		switch string(agentfile.Text(agentfile.Get(block, "type"))) {
		case "text":
			text, _ := agentfile.Head(agentfile.Get(block, "text"), p.limit.Bytes()+1)
			if text != "" {
				parts = append(parts, adapters.Message{Key: id, Role: adapters.FromAgent, Text: text, At: at})
			}
		case "toolCall":
			parts = append(parts, p.call(block, raw, at))
		}
		return true
	})
	for i, m := range slices.Backward(parts) {
		if m.Role == adapters.FromAgent && i > 0 {
			m.Key += "/" + string(rune('a'+i%26))
		}
		p.add(m)
	}
}

// call returns a tool's call with its result.
func (p *peek) call(block, raw []byte, at time.Time) adapters.Message {
	id := short(agentfile.Get(block, "id"))
	m := adapters.Message{Key: "call/" + id, Role: adapters.FromTool, Tool: short(agentfile.Get(block, "name")),
		Text: argument(agentfile.Get(block, "arguments")), State: adapters.ToolRunning, At: at}
	stop := string(agentfile.Text(agentfile.Get(raw, "stopReason")))
	switch state := p.results[id]; {
	case state != "":
		m.State = state
	case stop == "error", stop == "aborted":
		m.State = adapters.ToolFailed
	}
	return m
}

// argument returns the most descriptive argument of a call.
func argument(raw []byte) string {
	if text := kit.Argument(raw, []string{"command", "path", "file_path", "pattern", "query", "url"}, kit.Shown.Text); text != "" {
		return text
	}
	if !json.Valid(raw) || string(raw) == "{}" {
		return ""
	}
	return string(raw[:min(len(raw), adapters.MaxText+1)])
}
