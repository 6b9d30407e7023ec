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

// omp plays oh-my-pi 18.2.3 from the second turn on: a first one is in no file until its answer is whole.
type omp struct{ *Environment }

// Omp plays oh-my-pi 18.2.3: Pi's messages in files of its own form, each held open by its process.
func Omp(w *Environment) Agent { return omp{w} }

func (o omp) Name() adapters.Name { return "omp" }
func (o omp) Store() string       { return o.Path(".omp") }
func (o omp) Install()            { o.check(os.MkdirAll(o.Path(".omp", "agent", "sessions"), 0o755)) }

func (o omp) Start(cwd, prompt string) *Session {
	o.Install()
	s := newSession(o.Name(), o, o.uuid(7), cwd)
	at := stamp()
	s.state = new(string)
	s.File = o.Path(".omp", "agent", "sessions", "--"+strings.ReplaceAll(strings.TrimPrefix(cwd, "/"), "/", "-")+"--",
		strings.NewReplacer(":", "-", ".", "-").Replace(at)+"_"+s.ID+".jsonl")
	o.check(os.MkdirAll(filepath.Dir(s.File), 0o755))
	s.Process = o.run(s)
	o.add(s, fmt.Sprintf(`{"type":"title","v":1,"title":"","updatedAt":%q,"pad":"%s"}`, at, strings.Repeat(" ", 180)))
	o.add(s, fmt.Sprintf(`{"type":"session","version":3,"id":%q,"timestamp":%q,"cwd":%q}`, s.ID, at, cwd))
	o.entry(s, `"type":"model_change","model":"mock/mock-1"`)
	o.Procs.Open(s.Process.PID, s.File)
	o.prompt(s, prompt)
	return s
}

func (o omp) run(s *Session, args ...string) proc.Identity {
	return o.Procs.Start(Spec{Comm: "omp", Exe: OmpProgram, CWD: s.CWD, Args: append([]string{"omp"}, args...), Env: []string{"HOME=" + o.Home},
		Started: time.Now().Add(-time.Second)})
}

func (o omp) add(s *Session, line string) {
	if run := o.Procs.run; run != nil {
		run.Append(s.Process.PID, s.File, line)
		return
	}
	o.Append(s.File, line)
}

// entry adds a record to the branch.
func (o omp) entry(s *Session, more string) {
	last := s.state.(*string)
	parent, _ := json.Marshal(*last)
	if *last == "" {
		parent = []byte("null")
	}
	*last = fmt.Sprintf("%08x", o.rng.Uint32())
	o.add(s, fmt.Sprintf(`{%s,"id":%q,"parentId":%s,"timestamp":%q}`, more, *last, parent, stamp()))
}

func (o omp) prompt(s *Session, text string) {
	quoted, _ := json.Marshal(text)
	o.entry(s, fmt.Sprintf(`"type":"message","message":{"role":"user","content":[{"type":"text","text":%s}],"attribution":"user","timestamp":%d}`,
		quoted, time.Now().UnixMilli()))
}

// model adds an answer of the model.
func (o omp) model(s *Session, content, stop string) {
	o.entry(s, `"type":"message","message":{"role":"assistant","content":[`+content+`],"api":"openai-completions","provider":"mock","model":"mock-1",`+
		`"usage":{"input":220,"output":34,"cacheRead":1000,"cacheWrite":0,"totalTokens":1254,"cost":{"total":0.00147}},"stopReason":"`+stop+`"}`)
}

func (o omp) answer(s *Session, text string) {
	quoted, _ := json.Marshal(text)
	o.model(s, fmt.Sprintf(`{"type":"text","text":%s}`, quoted), "stop")
}

func (o omp) waitsFor() adapters.WaitingFor { return adapters.ForQuestion }

func (o omp) ask(s *Session) {
	id := o.uuid(4)
	o.model(s, fmt.Sprintf(`{"type":"toolCall","id":%q,"name":"ask","arguments":{"questions":[{"id":"q","question":"Which?","options":[{"label":"A"}]}]}}`, id), "toolUse")
	o.entry(s, fmt.Sprintf(`"type":"custom","customType":"tool_execution_start","data":{"toolCallId":%q,"toolName":"ask","startedAt":%q}`, id, stamp()))
}

func (o omp) exit(s *Session) {
	o.entry(s, `"type":"custom","customType":"session_exit","data":{"reason":"dispose","kind":"normal"}`)
	o.Procs.End(s.Process.PID)
}

func (o omp) kill(s *Session) { o.Procs.End(s.Process.PID) }

func (o omp) resume(s *Session, prompt string) {
	o.open(s)
	o.prompt(s, prompt)
}

func (o omp) open(s *Session) adapters.Outcome {
	s.Process = o.run(s, "--resume", s.ID)
	o.Procs.Open(s.Process.PID, s.File)
	return s.Truth().Outcome
}

func (o omp) forget(s *Session)  { o.check(os.Remove(s.File)) }
func (o omp) strange(s *Session) { o.entry(s, `"type":"moonshine","of":["the","moon"]`) }
