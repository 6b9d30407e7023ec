package corpus

import (
	"fmt"
	"path/filepath"
	"time"

	"rollcall/adapters"
)

// add puts a session into the database, with the journal of its events.
func (st *openCodeStore) add(c *chat) {
	if !st.projects[c.project] {
		st.projects[c.project] = true
		st.project(c.project, c.CWD, c.start.UnixMilli(), c.start.UnixMilli())
	}
	t := c.Tokens
	st.session(c.ID, c.project, c.CWD, c.title, c.version, t.Input, t.Output, t.Reasoning, t.CacheRead, t.CacheWrite,
		`{"id":"mock-1","providerID":"mock","variant":"default"}`, c.start.UnixMilli(), c.end.UnixMilli())
	seq := 0
	journal := func(at time.Time, kind, format string, args ...any) {
		st.event(c.id("evt_", at, false), c.ID, seq, kind, fmt.Sprintf(format, args...))
		seq++
	}
	st.sequence(c.ID, 2*len(c.messages))
	for i := range c.messages {
		m := &c.messages[i]
		st.message(m.id, c.ID, m.at.UnixMilli(), m.ended.UnixMilli(), "{"+m.data+"}")
		journal(m.at, "message.updated.1", `{"sessionID":%q,"info":{"id":%q,"sessionID":%q,%s}}`, c.ID, m.id, c.ID, m.data)
		for _, p := range m.parts {
			st.part(p.id, m.id, c.ID, p.at.UnixMilli(), p.at.UnixMilli(), "{"+p.data+"}")
			journal(p.at, "message.part.updated.1", `{"sessionID":%q,"part":{"id":%q,"sessionID":%q,"messageID":%q,%s},"time":%d}`,
				c.ID, p.id, c.ID, m.id, p.data, p.at.UnixMilli())
		}
	}
}

// openCodeProcess adds the process of a live session: every second one was
// started with the session's id, of the others the log tells.
func (w *writer) openCodeProcess(c *chat) {
	p := process{comm: "opencode", exe: "/usr/lib/node_modules/opencode-ai/bin/opencode.exe", args: []string{"/usr/local/bin/opencode"}}
	if c.index%2 == 0 {
		p.args = append(p.args, "-s", c.ID)
	}
	p = w.process(c.session, p)
	if c.Status == adapters.Working {
		w.addProcess(process{pid: p.pid + 5000, ppid: p.pid, comm: "sleep", cwd: c.CWD, args: []string{"sleep", "600"}, ticks: p.ticks + 300,
			env: []string{"OPENCODE=1", "AGENT=1", fmt.Sprintf("OPENCODE_PID=%d", p.pid)}})
	}
	run := fmt.Sprintf("%08x", 0x9000_0000+c.index)
	line := func(after time.Duration, format string, args ...any) {
		fmt.Fprintf(&w.store.log, "timestamp=%s level=INFO run=%s %s\n", c.start.Add(after).Format(stamp), run, fmt.Sprintf(format, args...))
	}
	line(2*time.Second, `message="creating instance" directory=%s`, c.CWD)
	line(2*time.Second, `message=fromDirectory directory=%s`, c.CWD)
	line(3*time.Second, `message=bootstrapping directory=%s`, c.CWD)
	line(4*time.Second, `message=created id=%s slug=misty-otter version=1.18.33 projectID=%s directory=%s path="" workspaceID=undefined`, c.ID, c.project, c.CWD)
	line(5*time.Second, `message=loop session.id=%s step=0`, c.ID)
	line(6*time.Second, `message=process session.id=%s messageID=%s`, c.ID, c.messages[0].id)
	if c.Status == adapters.Idle {
		line(7*time.Second, `message="exiting loop" session.id=%s`, c.ID)
	}
}

// finish leaves the database and the log behind.
func (st *openCodeStore) finish(w *writer) error {
	if st.db == nil {
		return nil
	}
	if err := w.file(filepath.Join(st.dir, "log", "opencode.log"), w.Now, "%s", st.log.String()); err != nil {
		return err
	}
	return st.db.leave(w)
}
