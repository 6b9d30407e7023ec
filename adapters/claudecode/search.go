package claudecode

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"maps"
	"math"
	"slices"
	"time"

	"rollcall/adapters"
	"rollcall/adapters/internal/agentfile"
	"rollcall/adapters/internal/kit"
)

// Conversations implements adapters.Searcher. A message is a text that Peek shows as one
// message. A hit has the folder that its record names.
func (a *Adapter) Conversations(ctx context.Context, since time.Time) ([]adapters.Conversation, error) {
	answer := kit.NewAnswer()
	t, err := a.readTable(ctx)
	answer.Problem(err)
	_, roots, absent := a.homes(t, answer, a.now())
	if absent {
		return nil, adapters.ErrAbsent
	}
	var dirs []string
	for _, root := range roots {
		folders, problem := projectFolders(ctx, root)
		answer.Problem(problem)
		dirs = append(dirs, folders...)
	}
	found := make([]listing, len(dirs))
	agentfile.Parallel(len(dirs), func(i int) {
		if ctx.Err() != nil {
			return
		}
		found[i] = a.listProject(ctx, ctx, dirs[i], allSessions, nil)
		answer.Problem(found[i].err)
	})
	newest := map[string]*file{} // of several transcripts of a session the one written last
	for i := range found {
		for j := range found[i].files {
			f := &found[i].files[j]
			if known := newest[f.id]; known == nil || f.info.ModTime().After(known.info.ModTime()) {
				newest[f.id] = f
			}
		}
	}
	var list []adapters.Conversation
	for f := range maps.Values(newest) {
		if !f.info.ModTime().Before(since) {
			list = append(list, f.conversation())
		}
	}
	_, err = answer.Result(ctx, "Claude Code")
	return list, err
}

func (f *file) conversation() adapters.Conversation {
	id := f.id
	path := f.path
	changed := f.info.ModTime()
	return adapters.Conversation{Changed: changed, Search: func(ctx context.Context, q *adapters.SearchQuery, found func(adapters.Hit) error) (map[string]int, error) {
		return searchFile(ctx, path, &kit.Finder{Query: q, Found: found, Hit: adapters.Hit{Session: id, Changed: changed}})
	}}
}

// joined holds the marks of records whose message is composed of several texts: slash commands
// and shell commands.
var joined = [][]byte{[]byte("<command-args>"), []byte("<bash-input>")}

func searchFile(ctx context.Context, path string, s *kit.Finder) (map[string]int, error) {
	f, _, err := agentfile.OpenRegular(path)
	if err != nil {
		return nil, kit.SearchProblem(ctx, path, err, nil)
	}
	defer f.Close()
	var marks [][]byte
	if s.Query.Pattern.CanSpan() {
		marks = joined
	}
	skipped, err := kit.SearchLines(ctx, f, s.Query, marks, func(line []byte, offset int64) error {
		for _, m := range messages(s, line, offset) {
			if _, err := s.Add(&m); err != nil {
				return err
			}
		}
		return nil
	})
	return skipped, kit.SearchProblem(ctx, path, err, s.FoundErr)
}

// messages returns the messages of a record, in its order, and sets the folder of the hits.
func messages(s *kit.Finder, line []byte, offset int64) []adapters.Message {
	line = bytes.TrimLeft(line, "\x00")
	var r raws
	if err := r.read(line); err != nil || agentfile.True(r.sidechain) {
		return nil
	}
	s.Hit.CWD, _ = agentfile.Head(r.cwd, textLimit)
	p := &peek{limit: kit.Whole, session: &adapters.Session{}, n: math.MaxInt, seen: map[string]bool{}, results: map[string]adapters.ToolState{}}
	p.line(line, offset)
	slices.Reverse(p.messages)
	list := slices.DeleteFunc(p.messages, func(m adapters.Message) bool { return m.Role == adapters.FromTool })
	if s.Query.Tools {
		list = append(list, toolTexts(&r, offset)...)
	}
	return list
}

// toolTexts returns the tool calls and tool results in a record, with their whole texts.
func toolTexts(r *raws, offset int64) (list []adapters.Message) {
	kit.Each(agentfile.Get(r.message, "content"), func(block []byte) {
		m := adapters.Message{Role: adapters.FromTool, At: agentfile.Time(r.at)}
		switch string(agentfile.Text(agentfile.Get(block, "type"))) {
		case "text", "thinking", "redacted_thinking", "image", "document":
			return
		case "tool_use", "server_tool_use", "mcp_tool_use":
			m.Key = agentfile.String(agentfile.Get(block, "id"))
			m.Tool, _ = agentfile.Head(agentfile.Get(block, "name"), 200)
			m.Text = kit.Strings(agentfile.Get(block, "input"))
		default:
			m.Key = agentfile.String(agentfile.Get(block, "tool_use_id"))
			m.Text = kit.Strings(agentfile.Get(block, "content"))
		}
		m.Key = cmp.Or(m.Key, agentfile.String(r.id), fmt.Sprintf("@%d", offset))
		list = append(list, m)
	})
	return list
}
