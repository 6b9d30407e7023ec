package gemini

import (
	"context"
	"math"
	"slices"
	"time"

	"rollcall/adapters"
	"rollcall/adapters/internal/agentfile"
	"rollcall/adapters/internal/kit"
)

// Conversations lists the files of sessions to search, and of sub-agents that work: those that are over are no sessions of their own. A hit has the folder of the session.
func (a *Adapter) Conversations(ctx context.Context, since time.Time) ([]adapters.Conversation, error) {
	d := a.begin(ctx, adapters.Query{Since: since})
	if d.absent() {
		return nil, adapters.ErrAbsent
	}
	for _, home := range d.homes {
		d.list(home)
	}
	var list []adapters.Conversation
	for _, f := range d.files {
		if f.parent == "" && !f.info.ModTime().Before(since) {
			list = append(list, d.conversation(f))
		}
	}
	if len(d.processes) > 0 {
		d.query.Since = d.now // of the others nothing has to be read
		d.read()
		d.match()
	}
	for _, s := range d.subs {
		if d.isOpen(s) && s.doubt == "" && !s.info.ModTime().Before(since) {
			list = append(list, d.conversation(s.file))
		}
	}
	_, err := d.answer.Result(ctx, string(Name))
	return list, err
}

func (d *discovery) conversation(f *file) adapters.Conversation {
	changed := f.info.ModTime()
	return adapters.Conversation{Changed: changed, Search: func(ctx context.Context, q *adapters.SearchQuery, found func(adapters.Hit) error) (map[string]int, error) {
		n := &finder{Finder: kit.Finder{Query: q, Found: found, Hit: adapters.Hit{Changed: changed, CWD: f.project.cwd}}}
		var skipped map[string]int
		var err error
		if isObject(f.path) {
			err = n.object(f.path)
		} else {
			skipped, err = n.lines(ctx, d, f)
		}
		return skipped, kit.SearchProblem(ctx, f.path, err, n.FoundErr)
	}}
}

// finder finds hits in the messages of one session.
type finder struct {
	kit.Finder
	rewriting bool // the history is being written again
}

// The lines between which 0.61.0 writes the history again.
var marks = [][]byte{[]byte(`"Request cancelled."`), []byte(`{"$set":{"messages"`)}

func (n *finder) lines(ctx context.Context, d *discovery, f *file) (map[string]int, error) {
	file, _, err := agentfile.OpenUntouched(f.path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	return kit.SearchLines(ctx, file, n.Query, marks, func(line []byte, _ int64) error {
		if n.Hit.Session == "" {
			s := &session{file: f}
			if s.facts, err = d.adapter.transcript(f.path, false).read(ctx, f.info); err != nil || !s.known {
				return err
			}
			if n.Hit.Session = s.id; s.id == "" {
				n.Hit.Session = d.idOf(s)
			}
		}
		var m fields
		switch {
		case n.Hit.Session == "" || m.read(line) != nil:
			return nil
		case m.set != nil:
			n.rewriting = n.rewriting && agentfile.Get(m.set, "messages") == nil
			return nil
		case isCancelled(&m):
			n.rewriting = true
		}
		if n.rewriting {
			return nil
		}
		return n.message(&m)
	})
}

func (n *finder) object(path string) error {
	data, _, err := agentfile.ReadSmall(path, agentfile.MaxLine)
	if err != nil || !n.Query.Pattern.MayContain(data) {
		return err
	}
	n.Hit.Session = short(agentfile.Get(data, "sessionId"))
	_ = agentfile.Each(agentfile.Get(data, "messages"), func(one []byte) bool {
		var m fields
		if m.read(one) == nil {
			err = n.message(&m)
		}
		return err == nil
	})
	return err
}

// message searches one message, and the calls in it with what they answered.
func (n *finder) message(m *fields) error {
	p := &peek{limit: kit.Whole, n: math.MaxInt, seen: map[string]bool{}}
	p.message(m)
	whole := map[string]string{}
	_ = agentfile.Each(m.calls, func(call []byte) bool {
		whole[keyOf(short(m.id), len(whole))] = argument(agentfile.Get(call, "args")) + "\n" + kit.Strings(agentfile.Get(call, "args")) + "\n" + kit.Strings(agentfile.Get(call, "result"))
		return n.Query.Tools
	})
	for _, one := range slices.Backward(p.messages) {
		if one.Role == adapters.FromTool {
			one.Text = whole[one.Key]
		}
		if _, err := n.Add(&one); err != nil {
			return err
		}
	}
	return nil
}
