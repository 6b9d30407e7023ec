package scene

import (
	"database/sql"
	"encoding/json"
	"fmt"
	"os"
	"time"

	_ "modernc.org/sqlite" // the driver

	"rollcall/adapters"
	"rollcall/internal/agentname"
	"rollcall/proc"
)

// opencode plays OpenCode 1.18.33, or Kilo under other names. Its database is in WAL mode and is
// never tidied up, so that rows stay in the log.
type opencode struct {
	*Environment
	name    adapters.Name // also of its folder, its processes and its database
	program string
	db      *sql.DB
	ids     int
}

// OpenCode plays OpenCode 1.18.33: a database that stays open, one log for all
// processes.
func OpenCode(w *Environment) Agent {
	return &opencode{Environment: w, name: agentname.OpenCode, program: OpenCodeProgram}
}

// Kilo plays Kilo 7.7.7, which is OpenCode under other names.
func Kilo(w *Environment) Agent {
	return &opencode{Environment: w, name: agentname.Kilo, program: KiloProgram}
}

// opencodeTables are the tables of 1.18.33 that hold sessions.
const opencodeTables = `
CREATE TABLE project (id text PRIMARY KEY, worktree text NOT NULL, vcs text, name text, time_created integer NOT NULL, time_updated integer NOT NULL, sandboxes text NOT NULL);
CREATE TABLE session (id text PRIMARY KEY, project_id text NOT NULL, workspace_id text, parent_id text, slug text NOT NULL, directory text NOT NULL, path text,
	title text NOT NULL, version text NOT NULL, share_url text, summary_additions integer, summary_deletions integer, summary_files integer, summary_diffs text,
	metadata text, cost real DEFAULT 0 NOT NULL, tokens_input integer DEFAULT 0 NOT NULL, tokens_output integer DEFAULT 0 NOT NULL,
	tokens_reasoning integer DEFAULT 0 NOT NULL, tokens_cache_read integer DEFAULT 0 NOT NULL, tokens_cache_write integer DEFAULT 0 NOT NULL,
	revert text, permission text, agent text, model text, time_created integer NOT NULL, time_updated integer NOT NULL, time_compacting integer, time_archived integer);
CREATE TABLE message (id text PRIMARY KEY, session_id text NOT NULL, time_created integer NOT NULL, time_updated integer NOT NULL, data text NOT NULL);
CREATE TABLE part (id text PRIMARY KEY, message_id text NOT NULL, session_id text NOT NULL, time_created integer NOT NULL, time_updated integer NOT NULL, data text NOT NULL);
CREATE INDEX message_session_time_created_id_idx ON message (session_id, time_created, id);
CREATE INDEX part_message_id_id_idx ON part (message_id, id);
CREATE INDEX part_session_idx ON part (session_id);
CREATE INDEX session_parent_idx ON session (parent_id);`

func (o *opencode) Name() adapters.Name { return o.name }
func (o *opencode) Store() string       { return o.Path(".local", "share", string(o.name)) }

// database is the file of its database.
func (o *opencode) database() string {
	return o.Path(".local", "share", string(o.name), string(o.name)+".db")
}

func (o *opencode) Install() {
	if o.db != nil {
		return
	}
	o.check(os.MkdirAll(o.Path(".local", "share", string(o.name), "log"), 0o755))
	db, err := sql.Open("sqlite", "file:"+o.database()+"?_pragma=journal_mode(WAL)&_pragma=busy_timeout(5000)")
	o.check(err)
	db.SetMaxOpenConns(1)
	o.db = db
	o.Cleanup(func() { db.Close() })
	o.exec(opencodeTables)
}

// opencodeState is what a running process knows.
type opencodeState struct {
	user, assistant, tool string // ids of the last ones
	created               int64
	processes             int
	run                   string
}

func (o *opencode) exec(query string, args ...any) {
	o.Helper()
	_, err := o.db.Exec(query, args...)
	o.check(err)
}

// id is an id of OpenCode's: a kind, and characters that ascend with time.
func (o *opencode) id(kind string) string {
	o.ids++
	return fmt.Sprintf("%s_%012x%04x%010x", kind, time.Now().UnixMilli(), o.ids&0xffff, o.rng.Uint64()&0xffffffffff)
}

func (o *opencode) Start(cwd, prompt string) *Session {
	o.Install()
	s := newSession(o.name, o, o.id("ses"), cwd)
	s.File = o.database()
	s.state = &opencodeState{}
	s.Process = o.run(s, string(o.name))
	now := time.Now()
	o.exec(`INSERT INTO session (id, project_id, slug, directory, path, title, version, agent, model, time_created, time_updated)
		VALUES (?, 'p', 'misty-otter', ?, '', ?, '1.18.33', 'build', '{"id":"mock-1","providerID":"mock","variant":"default"}', ?, ?)`,
		s.ID, cwd, "New session - "+now.UTC().Format("2006-01-02T15:04:05.000Z"), now.UnixMilli(), now.UnixMilli())
	o.log(s, now, fmt.Sprintf("message=created id=%s slug=misty-otter version=1.18.33 projectID=p directory=%q path=\"\" workspaceID=undefined parentID=undefined", s.ID, cwd))
	o.prompt(s, prompt)
	return s
}

// starts are how long ago the first, second … process of a session began: what
// a run logged first is matched with the process by its time.
var starts = []time.Duration{40 * time.Second, 25 * time.Second, 15 * time.Second, 8 * time.Second, 3 * time.Second}

func (o *opencode) resumes(s *Session, times int) bool {
	return s.state.(*opencodeState).processes+times <= len(starts)
}

// run starts a process; it logs first a second later.
func (o *opencode) run(s *Session, args ...string) proc.Identity {
	st := s.state.(*opencodeState)
	ago := starts[st.processes]
	st.processes++
	st.run = fmt.Sprintf("%08x", o.rng.Uint32())
	began := time.Now().Add(-ago)
	if o.Procs.run != nil { // a real process begins now
		began = time.Now()
	}
	id := o.Procs.Start(Spec{Comm: string(o.name), Exe: o.program, CWD: s.CWD,
		Args: args, Env: []string{"HOME=" + o.Home}, Started: began})
	began = began.Add(time.Second)
	if o.Procs.run != nil {
		o.Procs.Open(id.PID, o.database()) // 1.18.33 has it open as long as it runs
		began = time.Now()
	}
	o.log(s, began, fmt.Sprintf(`message="creating instance" directory=%q`, s.CWD))
	return id
}

func (o *opencode) log(s *Session, at time.Time, text string) {
	o.Append(o.Path(".local", "share", string(o.name), "log", "opencode.log"),
		fmt.Sprintf("timestamp=%s level=INFO run=%s %s", at.UTC().Format("2006-01-02T15:04:05.000Z"), s.state.(*opencodeState).run, text))
}

func (o *opencode) message(s *Session, id string, created int64, data string) {
	o.exec(`INSERT INTO message VALUES (?1, ?2, ?3, ?4, ?5) ON CONFLICT (id) DO UPDATE SET data = ?5, time_updated = ?4`,
		id, s.ID, created, time.Now().UnixMilli(), data)
}

func (o *opencode) part(s *Session, id, message, data string) {
	now := time.Now().UnixMilli()
	o.exec(`INSERT INTO part VALUES (?1, ?2, ?3, ?4, ?4, ?5) ON CONFLICT (id) DO UPDATE SET data = ?5, time_updated = ?4`,
		id, message, s.ID, now, data)
}

func (o *opencode) prompt(s *Session, text string) {
	st, now := s.state.(*opencodeState), time.Now().UnixMilli()
	if st.tool != "" { // answered: the tool goes on
		o.part(s, st.tool, st.assistant, fmt.Sprintf(`{"type":"tool","tool":"question","callID":"c","state":{"status":"completed","input":{},"output":"yes","title":"Asked","metadata":{},"time":{"start":%d,"end":%d}}}`, now, now))
		st.tool = ""
		return
	}
	quoted, _ := json.Marshal(text)
	st.user, st.created = o.id("msg"), max(now, st.created+1)
	waitForClock(st.created)
	o.log(s, time.Now(), "message=loop session.id="+s.ID+" step=0")
	o.message(s, st.user, st.created, fmt.Sprintf(`{"role":"user","time":{"created":%d},"agent":"build","model":{"providerID":"mock","modelID":"mock-1"},"summary":{"diffs":[]}}`, st.created))
	o.part(s, o.id("prt"), st.user, `{"type":"text","text":`+string(quoted)+`}`)
	o.begin(s)
}

// begin begins the assistant's message.
func (o *opencode) begin(s *Session) {
	st := s.state.(*opencodeState)
	st.assistant, st.created = o.id("msg"), max(time.Now().UnixMilli(), st.created+1)
	waitForClock(st.created)
	o.message(s, st.assistant, st.created, o.assistant(s, `"cost":0,"tokens":{"input":0,"output":0,"reasoning":0,"cache":{"read":0,"write":0}}`, ""))
	o.part(s, o.id("prt"), st.assistant, `{"snapshot":"4b825d","type":"step-start"}`)
}

// assistant is the data of the assistant's message.
func (o *opencode) assistant(s *Session, usage, completed string) string {
	st := s.state.(*opencodeState)
	return fmt.Sprintf(`{"parentID":%q,"role":"assistant","mode":"build","agent":"build","path":{"cwd":%q,"root":%q},%s,"modelID":"mock-1","providerID":"mock","time":{"created":%d%s}`,
		st.user, s.CWD, s.CWD, usage, st.created, completed) + map[bool]string{true: `,"finish":"stop"}`, false: "}"}[completed != ""]
}

func (o *opencode) answer(s *Session, text string) {
	st, now := s.state.(*opencodeState), time.Now().UnixMilli()
	quoted, _ := json.Marshal(text)
	const usage = `"cost":0.00147,"tokens":{"total":1254,"input":220,"output":34,"reasoning":0,"cache":{"write":0,"read":1000}}`
	o.part(s, o.id("prt"), st.assistant, fmt.Sprintf(`{"type":"text","text":%s,"time":{"start":%d,"end":%d}}`, quoted, now, now))
	o.part(s, o.id("prt"), st.assistant, `{"reason":"stop","snapshot":"4b825d","type":"step-finish",`+usage[len(`"cost":0.00147,`):]+`,"cost":0.00147}`)
	o.exec(`UPDATE session SET cost = cost + 0.00147, tokens_input = tokens_input + 220, tokens_output = tokens_output + 34,
		tokens_cache_read = tokens_cache_read + 1000, time_updated = ? WHERE id = ?`, now, s.ID)
	o.message(s, st.assistant, st.created, o.assistant(s, usage, fmt.Sprintf(`,"completed":%d`, max(now, st.created))))
	o.log(s, time.Now(), `message="exiting loop" session.id=`+s.ID)
}

func (o *opencode) waitsFor() adapters.WaitingFor { return adapters.ForQuestion }

func (o *opencode) ask(s *Session) {
	st, now := s.state.(*opencodeState), time.Now().UnixMilli()
	st.tool = o.id("prt")
	o.part(s, st.tool, st.assistant, fmt.Sprintf(`{"type":"tool","tool":"question","callID":"c","state":{"status":"running","input":{"questions":[{"question":"Which?","header":"Pick","options":[{"label":"a","description":"A"}]}]},"time":{"start":%d}}}`, now))
}

func (o *opencode) exit(s *Session) { o.Procs.End(s.Process.PID) }
func (o *opencode) kill(s *Session) { o.Procs.End(s.Process.PID) }

func (o *opencode) resume(s *Session, prompt string) {
	s.state.(*opencodeState).tool = ""
	s.Process = o.run(s, string(o.name), "-s", s.ID)
	o.prompt(s, prompt)
}

func (o *opencode) forget(s *Session) {
	for _, table := range []string{"part", "message"} {
		o.exec("DELETE FROM "+table+" WHERE session_id = ?", s.ID)
	}
	o.exec("DELETE FROM session WHERE id = ?", s.ID)
}

func (o *opencode) strange(s *Session) {
	o.part(s, o.id("prt"), s.state.(*opencodeState).assistant, `{"type":"moonshine","of":["the","moon"]}`)
}

// waitForClock waits until the clock has reached a time in milliseconds: what is written next is not older.
func waitForClock(milliseconds int64) {
	for time.Now().UnixMilli() < milliseconds {
		time.Sleep(100 * time.Microsecond)
	}
}
