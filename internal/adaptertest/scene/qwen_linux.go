package scene

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"time"

	"rollcall/adapters"
	"rollcall/proc"
)

// qwen plays Qwen Code 0.24.4.
type qwen struct{ *Environment }

// Qwen plays Qwen Code 0.24.4: a file of lines for each session, and a registry of its processes.
func Qwen(w *Environment) Agent { return qwen{w} }

func (q qwen) Name() adapters.Name { return "qwen" }
func (q qwen) Store() string       { return q.Path(".qwen") }
func (q qwen) Install()            { q.check(os.MkdirAll(q.Path(".qwen", "projects"), 0o755)) }

var notPlain = regexp.MustCompile(`[^A-Za-z0-9]`)

func (q qwen) Start(cwd, prompt string) *Session {
	q.Install()
	s := newSession(q.Name(), q, q.uuid(4), cwd)
	s.File = q.Path(".qwen", "projects", notPlain.ReplaceAllString(cwd, "-"), "chats", s.ID+".jsonl")
	q.check(os.MkdirAll(filepath.Dir(s.File), 0o755))
	s.Process = q.run(s)
	q.prompt(s, prompt)
	return s
}

func (q qwen) run(s *Session, args ...string) proc.Identity {
	p := q.Procs.Start(Spec{Comm: "MainThread", Exe: NodeProgram, CWD: s.CWD, Started: time.Now().Add(-time.Second),
		Args: append([]string{"/opt/node/bin/node", "--expose-gc", "/opt/qwen/node_modules/@qwen-code/qwen-code/cli.js"}, args...),
		Env:  []string{"HOME=" + q.Home, "QWEN_CODE_NO_RELAUNCH=true"}})
	q.Write(q.entry(p.PID), fmt.Sprintf(`{"schemaVersion":1,"pid":%d,"procStart":"%s:%d","sessionId":%q,"cwd":%q,"startedAt":%d,"qwenVersion":"0.24.4","kind":"tui"}`,
		p.PID, p.Boot, p.Start, s.ID, s.CWD, time.Now().UnixMilli()))
	return p
}

// entry is the registry's file of a process.
func (q qwen) entry(pid int) string { return q.Path(".qwen", "sessions", strconv.Itoa(pid)+".json") }

func (q qwen) add(s *Session, typ, rest string) {
	line := fmt.Sprintf(`{"uuid":%q,"parentUuid":null,"sessionId":%q,"timestamp":%q,"type":%q,"cwd":%q,"version":"0.24.4",%s}`, q.uuid(4), s.ID, stamp(), typ, s.CWD, rest)
	if run := q.Procs.run; run != nil {
		run.Append(s.Process.PID, s.File, line)
		return
	}
	q.Append(s.File, line)
}

func (q qwen) prompt(s *Session, text string) {
	quoted, _ := json.Marshal(text)
	q.add(s, "user", fmt.Sprintf(`"provenance":"real_user","message":{"role":"user","parts":[{"text":%s}]}`, quoted))
}

func (q qwen) model(s *Session, parts string) {
	q.add(s, "assistant", `"model":"mock-1","message":{"role":"model","parts":[`+parts+`]},"usageMetadata":{"promptTokenCount":1220,"candidatesTokenCount":34,`+
		`"thoughtsTokenCount":0,"totalTokenCount":1254,"cachedContentTokenCount":1000}`)
}

func (q qwen) answer(s *Session, text string) {
	quoted, _ := json.Marshal(text)
	q.model(s, fmt.Sprintf(`{"text":%s}`, quoted))
}

func (q qwen) waitsFor() adapters.WaitingFor { return adapters.ForPermission }

func (q qwen) ask(s *Session) {
	q.model(s, fmt.Sprintf(`{"functionCall":{"id":%q,"name":"run_shell_command","args":{"command":"touch q"}}}`, q.uuid(4)))
}

func (q qwen) exit(s *Session) {
	q.Procs.End(s.Process.PID)
	q.drop(s)
}

func (q qwen) drop(s *Session) { _ = os.Remove(q.entry(s.Process.PID)) }

func (q qwen) kill(s *Session) { q.Procs.End(s.Process.PID) }

func (q qwen) resume(s *Session, prompt string) {
	q.open(s)
	q.prompt(s, prompt)
}

func (q qwen) open(s *Session) adapters.Outcome {
	s.Process = q.run(s, "--resume", s.ID)
	return s.Truth().Outcome
}

func (q qwen) forget(s *Session)  { q.check(os.Remove(s.File)) }
func (q qwen) strange(s *Session) { q.add(s, "moonshine", `"message":{}`) }
