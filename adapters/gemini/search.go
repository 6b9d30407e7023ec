package gemini

import (
	"cmp"
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
	d.list()
	var list []adapters.Conversation
	for _, f := range d.files {
		if f.parent == "" && !f.Info.ModTime().Before(since) {
			list = append(list, d.conversation(f))
		}
	}
	if len(d.processes) > 0 {
		d.query.Since = d.now // of the others nothing has to be read
		d.read()
		d.match()
	}
	for _, s := range d.subs {
		if d.isOpen(s) && s.doubt == "" && !s.Info.ModTime().Before(since) {
			list = append(list, d.conversation(s.file))
		}
	}
	_, err := d.answer.Result(ctx, string(Name))
	return list, err
}

func (d *discovery) conversation(f *file) adapters.Conversation {
	changed := f.Info.ModTime()
	return adapters.Conversation{Changed: changed, Search: func(ctx context.Context, q *adapters.SearchQuery, found func(adapters.Hit) error) (map[string]int, error) {
		n := &finder{Finder: kit.Finder{Query: q, Found: found, Hit: adapters.Hit{Changed: changed, CWD: f.project.cwd}}}
		skipped, err := n.file(ctx, d, f)
		return skipped, kit.SearchProblem(ctx, f.Path, err, n.FoundErr)
	}}
}

// finder finds hits in the messages of one session.
type finder struct {
	kit.Finder
	rewriting bool // the history is being written again
}

// The lines between which 0.61.0 writes the history again.
var marks = [][]byte{[]byte(`"Request cancelled."`), []byte(`{"$set":{"messages"`)}

func (n *finder) file(ctx context.Context, d *discovery, f *file) (map[string]int, error) {
	if isObject(f.Path) {
		data, _, err := agentfile.ReadSmall(f.Path, agentfile.MaxLine)
		if err != nil || !n.Query.Pattern.MayContain(data) {
			return nil, err
		}
		return nil, n.line(data)
	}
	file, _, err := agentfile.OpenUntouched(f.Path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	return kit.SearchLines(ctx, file, n.Query, marks, func(line []byte, _ int64) error {
		if n.Hit.Session == "" {
			read, err := d.transcripts.Read(ctx, f.Path, f.Info, false)
			if err != nil || !read.known {
				return err
			}
			n.Hit.Session = cmp.Or(read.id, d.idOf(f))
		}
		return n.line(line)
	})
}

func (n *finder) line(line []byte) (err error) {
	_, _ = records(line, func(r *record) { // what is no record has no message
		n.Hit.Session = cmp.Or(n.Hit.Session, short(r.session))
		if n.rewriting = r.rewrites() || n.rewriting && (r.set == nil || r.messages == nil); !n.rewriting && n.Hit.Session != "" && err == nil {
			err = n.message(r)
		}
	})
	return err
}

// message searches one message, and the calls in it with what they answered.
func (n *finder) message(r *record) error {
	p := &peek{limit: kit.Whole, n: math.MaxInt, seen: map[string]bool{}}
	p.message(r, func(call []byte) string {
		if !n.Query.Tools {
			return ""
		}
		args := agentfile.Get(call, "args")
		return argument(args) + "\n" + kit.Strings(args) + "\n" + kit.Strings(agentfile.Get(call, "result"))
	})
	for _, one := range slices.Backward(p.messages) {
		if _, err := n.Add(&one); err != nil {
			return err
		}
	}
	return nil
}
