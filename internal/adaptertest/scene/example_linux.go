package scene

import (
	"encoding/json"
	"os"
	"time"

	"rollcall/adapters"
	"rollcall/proc"
)

// example plays the agent of docs/adding-an-agent.md, which exists only there. It
// appends one line per step to a file per session.
type example struct{ *Environment }

// Example plays the agent that package example reads.
func Example(w *Environment) Agent { return example{w} }

func (e example) Name() adapters.Name { return "example" }
func (e example) Store() string       { return e.Path(".example") }
func (e example) Install()            { e.check(os.MkdirAll(e.Path(".example", "sessions"), 0o755)) }

func (e example) Start(cwd, prompt string) *Session {
	e.Install()
	s := newSession(e.Name(), e, e.uuid(4), cwd)
	s.File = e.Path(".example", "sessions", s.ID+".jsonl")
	s.Process = e.run(s)
	e.add(s, map[string]any{"type": "session", "id": s.ID, "cwd": cwd})
	e.add(s, map[string]any{"type": "process", "pid": s.Process.PID, "start": s.Process.Start})
	e.prompt(s, prompt)
	return s
}

func (e example) run(s *Session) proc.Identity {
	return e.Procs.Start(Spec{Comm: "example", Exe: "/opt/example/example", CWD: s.CWD, Args: []string{"example"}, Env: []string{"HOME=" + e.Home}})
}

// add appends a record with the present time.
func (e example) add(s *Session, record map[string]any) {
	record["at"] = time.Now().UTC()
	line, err := json.Marshal(record)
	e.check(err)
	e.Append(s.File, string(line))
}

func (e example) prompt(s *Session, text string) {
	e.add(s, map[string]any{"type": "prompt", "text": text})
}

func (e example) answer(s *Session, text string) {
	e.add(s, map[string]any{"type": "answer", "text": text, "input": 220, "output": 34})
}

func (e example) waitsFor() adapters.WaitingFor { return adapters.ForPermission }
func (e example) ask(s *Session)                { e.add(s, map[string]any{"type": "ask", "text": "make install"}) }

func (e example) exit(s *Session) { e.Procs.End(s.Process.PID) }
func (e example) kill(s *Session) { e.Procs.End(s.Process.PID) }

func (e example) resume(s *Session, prompt string) {
	s.Process = e.run(s)
	e.add(s, map[string]any{"type": "process", "pid": s.Process.PID, "start": s.Process.Start})
	e.prompt(s, prompt)
}

func (e example) forget(s *Session)  { e.check(os.Remove(s.File)) }
func (e example) strange(s *Session) { e.add(s, map[string]any{"type": "moonshine"}) }
