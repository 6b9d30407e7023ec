package scene

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"rollcall/adapters"
	"rollcall/proc"
)

// gemini plays Gemini CLI 0.61.0.
type gemini struct{ *Environment }

// Gemini plays Gemini CLI 0.61.0: a file of lines for each session, and a process that is found by the time at which
// it began, or by the session that its command line names.
func Gemini(w *Environment) Agent { return gemini{w} }

func (g gemini) Name() adapters.Name { return "gemini" }
func (g gemini) Store() string       { return g.Path(".gemini") }
func (g gemini) Install()            { g.check(os.MkdirAll(g.Path(".gemini", "tmp"), 0o755)) }

func (g gemini) Start(cwd, prompt string) *Session {
	g.Install()
	s := newSession(g.Name(), g, g.uuid(4), cwd)
	s.Process = g.run(s)
	slug := strings.ReplaceAll(strings.TrimPrefix(cwd, "/"), "/", "-")
	g.Write(g.Path(".gemini", "tmp", slug, ".project_root"), cwd)
	g.register(cwd, slug)
	now := time.Now().UTC()
	s.File = g.Path(".gemini", "tmp", slug, "chats", "session-"+now.Format("2006-01-02T15-04")+"-"+s.ID[:8]+".jsonl")
	g.check(os.MkdirAll(filepath.Dir(s.File), 0o755))
	g.add(s, fmt.Sprintf(`{"sessionId":%q,"projectHash":"bb97","startTime":%q,"lastUpdated":%q,"kind":"main"}`, s.ID, stamp(), stamp()))
	g.add(s, fmt.Sprintf(`{"$set":{"messages":[{"id":"d049","timestamp":%q,"type":"user","content":[{"text":"<session_context>\nThis is the Gemini CLI."}]}],"lastUpdated":%q}}`, stamp(), stamp()))
	g.prompt(s, prompt)
	return s
}

// register adds a working folder to those that the home knows.
func (g gemini) register(cwd, slug string) {
	known := map[string]map[string]string{"projects": {}}
	path := g.Path(".gemini", "projects.json")
	text, _ := os.ReadFile(path)
	_ = json.Unmarshal(text, &known) // missing at first
	known["projects"][cwd] = slug
	text, err := json.MarshalIndent(known, "", "  ")
	g.check(err)
	g.Write(path, string(text))
}

func (g gemini) run(s *Session, args ...string) proc.Identity {
	return g.Procs.Start(Spec{Comm: "MainThread", Exe: NodeProgram, CWD: s.CWD, Started: time.Now().Add(-time.Second),
		Args: append([]string{"/opt/node/bin/node", "--max-old-space-size=12052", "/opt/gemini/node_modules/.bin/gemini"}, args...),
		Env:  []string{"HOME=" + g.Home, "GEMINI_CLI_NO_RELAUNCH=true"}})
}

func (g gemini) add(s *Session, line string) {
	if run := g.Procs.run; run != nil {
		run.Append(s.Process.PID, s.File, line)
		return
	}
	g.Append(s.File, line)
}

// message appends a message, and after it the time.
func (g gemini) message(s *Session, typ, rest string) {
	g.add(s, fmt.Sprintf(`{"id":%q,"timestamp":%q,"type":%q,%s}`, g.uuid(4), stamp(), typ, rest))
	g.add(s, fmt.Sprintf(`{"$set":{"lastUpdated":%q}}`, stamp()))
}

func (g gemini) prompt(s *Session, text string) {
	quoted, _ := json.Marshal(text)
	g.log(s, string(quoted))
	g.message(s, "user", fmt.Sprintf(`"content":[{"text":%s}]`, quoted))
}

// log adds a prompt, as JSON, to those that were typed in the folder's terminals.
func (g gemini) log(s *Session, quoted string) {
	path := filepath.Join(filepath.Dir(filepath.Dir(s.File)), "logs.json")
	var typed []json.RawMessage
	text, _ := os.ReadFile(path)
	_ = json.Unmarshal(text, &typed) // missing at first
	typed = append(typed, json.RawMessage(fmt.Sprintf(`{"sessionId":%q,"messageId":0,"type":"user","message":%s,"timestamp":%q}`, s.ID, quoted, stamp())))
	text, err := json.MarshalIndent(typed, "", "  ")
	g.check(err)
	g.Write(path, string(text))
}

func (g gemini) answer(s *Session, text string) {
	quoted, _ := json.Marshal(text)
	g.message(s, "gemini", fmt.Sprintf(`"content":%s,"thoughts":[],"tokens":{"input":1220,"output":34,"cached":1000,"thoughts":5,"tool":0,"total":1259},"model":"gemini-3.8-flash"`, quoted))
}

// exit types /quit in a terminal, which logs it; a process that the stand-in plays has one.
func (g gemini) exit(s *Session) {
	g.log(s, `"/quit"`)
	g.Procs.End(s.Process.PID)
}

func (g gemini) kill(s *Session) { g.Procs.End(s.Process.PID) }

func (g gemini) resume(s *Session, prompt string) {
	s.Process = g.run(s, "--resume", s.ID)
	g.add(s, fmt.Sprintf(`{"$set":{"sessionId":%q}}`, s.ID))
	g.prompt(s, prompt)
}

func (g gemini) forget(s *Session)  { g.check(os.Remove(s.File)) }
func (g gemini) strange(s *Session) { g.message(s, "moonshine", `"content":"of the moon"`) }
