package pistore

import (
	"cmp"
	"context"
	"encoding/json"

	"rollcall/adapters"
	"rollcall/adapters/internal/agentfile"
	"rollcall/adapters/internal/kit"
)

// Peek implements adapters.Peeker.
func (s *Store) Peek(ctx context.Context, session adapters.Session, n int) ([]adapters.Message, error) {
	return Peek(ctx, session, n)
}

// Peek returns the last n messages of a session. It reads the file from
// its end. For a conversation with branches it returns the active branch.
func Peek(ctx context.Context, session adapters.Session, n int) ([]adapters.Message, error) {
	return kit.Peek(ctx, &session, n, func(path string) ([]adapters.Message, error) {
		p := &peek{LastItems: kit.NewLastItems(&session, n)}
		err := kit.LinesFromEnd(ctx, path, func(line []byte) bool {
			p.line(line)
			return !p.IsFull()
		})
		return p.Messages, err
	})
}

// peek collects messages from the last to the first, of the active branch.
type peek struct {
	*kit.LastItems
	want  string // id of the entry that comes before, on the active branch
	begun bool
}

// line adds one entry if it is on the active branch. Nil is a line that is too long: the entry before it is not known.
func (p *peek) line(line []byte) {
	p.begun = p.begun && line != nil
	var f fields
	if f.read(line) != nil {
		return
	}
	id := short(f.id)
	if p.begun && p.want != "" && id != "" && id != p.want || string(agentfile.Text(f.typ)) == "session" {
		return
	}
	if id != "" {
		p.begun, p.want = true, short(f.parent)
	}
	p.Add(f.items(kit.Shown))
}

// items returns the messages of an entry.
func (f *fields) items(limit kit.Limit) (list []kit.Item) {
	of := kit.Item{Message: adapters.Message{Key: short(f.id), At: agentfile.Time(f.at)}}
	switch string(agentfile.Text(f.typ)) {
	case "message":
		list = messageItems(of, f.message, limit)
	case "compaction":
		list = []kit.Item{note(of, "The conversation was summarised.")}
	case "branch_summary":
		list = []kit.Item{note(of, "The user went to another branch of the conversation.")}
	}
	for i := range list {
		list[i].Text = limit.Cut(list[i].Text)
	}
	return list
}

func note(item kit.Item, text string) kit.Item {
	item.Role, item.Text = adapters.FromNote, text
	return item
}

// messageItems returns the messages in an entry of the type message. of has what they have in common.
func messageItems(of kit.Item, raw []byte, limit kit.Limit) []kit.Item {
	get := func(name string) []byte { return agentfile.Get(raw, name) }
	switch string(agentfile.Text(get("role"))) {
	case "user":
		of.Role, of.Text = adapters.FromUser, contentText(get("content"), limit.Bytes()+1)
	case "toolResult":
		of.IsResult = true
		of.Role = adapters.FromTool
		of.Call = short(get("toolCallId"))
		of.Key = cmp.Or("call/"+of.Call, of.Key)
		of.Tool = short(get("toolName"))
		of.State = adapters.ToolDone
		if agentfile.True(get("isError")) {
			of.State = adapters.ToolFailed
		}
		of.Texts = func() string { return kit.Strings(get("content")) }
	case "bashExecution":
		of.Role = adapters.FromTool
		of.Call = "!" + of.Key // no result has it
		of.Tool = "!"
		of.State = adapters.ToolDone
		of.Text, _ = agentfile.Head(get("command"), adapters.MaxText+1)
		of.Texts = func() string { return kit.Strings(get("command")) + "\n" + kit.Strings(get("output")) }
	case "assistant":
		return answerItems(of, raw, limit)
	default:
		return nil
	}
	return []kit.Item{of}
}

// answerItems returns the texts and the calls of an answer, and its error.
func answerItems(of kit.Item, raw []byte, limit kit.Limit) (list []kit.Item) {
	stop := string(agentfile.Text(agentfile.Get(raw, "stopReason")))
	kit.Each(agentfile.Get(raw, "content"), func(block []byte) {
		one := of
		switch string(agentfile.Text(agentfile.Get(block, "type"))) {
		case "text":
			one.Role = adapters.FromAgent
			one.Text, _ = agentfile.Head(agentfile.Get(block, "text"), limit.Bytes()+1)
			if i := len(list); i > 0 {
				one.Key += "/" + string(rune('a'+i%26))
			}
			if one.Text == "" {
				return
			}
		case "toolCall":
			input := agentfile.Get(block, "arguments")
			one.Role = adapters.FromTool
			one.Call = short(agentfile.Get(block, "id"))
			one.Key = "call/" + one.Call
			one.Tool = short(agentfile.Get(block, "name"))
			one.Text = argument(input)
			one.State = adapters.ToolRunning
			if stop == "error" || stop == "aborted" {
				one.State = adapters.ToolFailed
			}
			one.Texts = func() string { return kit.Strings(input) }
		default:
			return
		}
		list = append(list, one)
	})
	if why, _ := agentfile.Head(agentfile.Get(raw, "errorMessage"), textLimit); why != "" {
		of.Key += "/error"
		list = append(list, note(of, why))
	}
	return list
}

// argument returns the most descriptive argument of a call.
func argument(raw []byte) string {
	if text := kit.Argument(raw, []string{"command", "path", "file_path", "pattern", "query", "url"}, kit.Shown.Text); text != "" {
		return text
	}
	task := ""
	kit.Each(agentfile.Get(raw, "tasks"), func(one []byte) { // what oh-my-pi's sub-agents are to do
		task = cmp.Or(task, kit.Argument(one, []string{"assignment", "task", "description"}, kit.Shown.Text))
	})
	if task != "" {
		return task
	}
	if !json.Valid(raw) || string(raw) == "{}" {
		return ""
	}
	return string(raw[:min(len(raw), adapters.MaxText+1)])
}
