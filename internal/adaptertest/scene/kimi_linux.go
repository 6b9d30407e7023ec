package scene

import (
	"crypto/md5"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"rollcall/adapters"
	"rollcall/proc"
)

// kimi plays Kimi Code 2.1.0.
type kimi struct{ *Environment }

// Kimi plays Kimi Code 2.1.0: a folder for each session, whose records show each state, and a process that is found by its folder and its times, or by the
// session that its command line names.
func Kimi(w *Environment) Agent { return kimi{w} }

// kimiState is what the player keeps of a session.
type kimiState struct {
	created     int64
	first, last string // prompts
	turn        int
	asked       string // the request that waits
}

func (k kimi) Name() adapters.Name { return "kimi" }
func (k kimi) Store() string       { return k.Path(".kimi-code") }
func (k kimi) Install()            { k.check(os.MkdirAll(k.Path(".kimi-code", "sessions"), 0o755)) }

func (k kimi) Start(cwd, prompt string) *Session {
	k.Install()
	s := newSession(k.Name(), k, "session_"+k.uuid(4), cwd)
	s.state = &kimiState{turn: -1, first: prompt}
	s.Process = k.run(s)
	s.state.(*kimiState).created = time.Now().UnixMilli() // by the process, which may have begun long after it was asked for
	workspace := fmt.Sprintf("wd_%s_%.6x", filepath.Base(cwd), sha256.Sum256([]byte(cwd)))
	dir := k.Path(".kimi-code", "sessions", workspace, s.ID)
	s.File = filepath.Join(dir, "agents", "main", "wire.jsonl")
	k.check(os.MkdirAll(filepath.Dir(s.File), 0o755))
	index, err := json.Marshal(map[string]string{"sessionId": s.ID, "sessionDir": dir, "workDir": cwd})
	k.check(err)
	k.Append(k.Path(".kimi-code", "session_index.jsonl"), string(index))
	k.add(s, fmt.Sprintf(`{"type":"metadata","protocol_version":"1.5","created_at":%d}`, time.Now().UnixMilli()))
	folder, err := json.Marshal(cwd)
	k.check(err)
	k.record(s, "profile.bind", fmt.Sprintf(`"modelAlias":"mock","profileName":"agent","systemPrompt":"x","environmentDisclosure":{"cwd":%s}`, folder))
	k.record(s, "permission.set_mode", `"mode":"manual"`)
	k.prompt(s, prompt)
	return s
}

func (k kimi) run(s *Session, args ...string) proc.Identity {
	return k.Procs.Start(Spec{Comm: "MainThread", Exe: NodeProgram, CWD: s.CWD, Started: time.Now().Add(-time.Second),
		Args: append([]string{"node", "/opt/kimi/node_modules/.bin/kimi"}, args...), Env: []string{"HOME=" + k.Home}})
}

func (k kimi) add(s *Session, line string) {
	if run := k.Procs.run; run != nil {
		run.Append(s.Process.PID, s.File, line)
		return
	}
	k.Append(s.File, line)
}

func (k kimi) record(s *Session, typ, rest string) {
	k.add(s, fmt.Sprintf(`{"type":%q,"agentId":"main",%s,"time":%d}`, typ, rest, time.Now().UnixMilli()))
}

// event appends a record of an event in a step.
func (k kimi) event(s *Session, typ, rest string) {
	k.record(s, "context.append_loop_event", fmt.Sprintf(`"event":{"type":%q,"uuid":%q,%s}`, typ, k.uuid(4), rest))
}

// save writes the state.json, which has how the last turn ended unless one is open.
func (k kimi) save(s *Session, reason string) {
	state, _ := s.state.(*kimiState)
	doc := map[string]any{"id": s.ID, "version": 2, "cwd": s.CWD, "createdAt": state.created, "updatedAt": time.Now().UnixMilli(), "archived": false,
		"agents": map[string]any{"main": map[string]string{"type": "main"}}, "lastPrompt": state.last, "title": state.first, "titleKind": "replaceable"}
	if reason != "" {
		doc["lastTurnReason"] = reason
	}
	text, err := json.Marshal(doc)
	k.check(err)
	path := filepath.Join(filepath.Dir(filepath.Dir(filepath.Dir(s.File))), "state.json")
	k.Write(path+".tmp", string(text))
	k.check(os.Rename(path+".tmp", path))
}

func (k kimi) prompt(s *Session, text string) {
	state, _ := s.state.(*kimiState)
	if state.asked != "" {
		k.record(s, "interaction.resolved", fmt.Sprintf(`"id":%q,"response":{"decision":"approved"}`, state.asked))
		k.event(s, "tool.call", `"toolCallId":"call_1","name":"Bash","args":{"command":"make test"}`)
		k.event(s, "tool.result", `"toolCallId":"call_1","result":{"output":"ok"}`)
		state.asked = ""
		return
	}
	quoted, err := json.Marshal(text)
	k.check(err)
	k.Append(k.Path(".kimi-code", "user-history", fmt.Sprintf("%x.jsonl", md5.Sum([]byte(s.CWD)))), fmt.Sprintf(`{"content":%s}`, quoted))
	state.turn++
	state.last = text
	k.record(s, "turn.prompt", fmt.Sprintf(`"input":[{"type":"text","text":%s}],"origin":{"kind":"user"},"promptId":%q,"turnId":%d`, quoted, "msg_"+k.uuid(4), state.turn))
	k.save(s, "")
	k.record(s, "llm.request", `"kind":"loop","provider":"openai","model":"mock-1","modelAlias":"mock"`)
}

func (k kimi) answer(s *Session, text string) {
	state, _ := s.state.(*kimiState)
	quoted, err := json.Marshal(text)
	k.check(err)
	k.record(s, "usage.record", `"model":"mock","usage":{"inputOther":230,"output":34,"inputCacheRead":1000,"inputCacheCreation":0},"usageScope":"turn"`)
	k.event(s, "content.part", fmt.Sprintf(`"part":{"type":"text","text":%s}`, quoted))
	k.record(s, "turn.ended", fmt.Sprintf(`"turnId":%d,"reason":"completed","durationMs":393`, state.turn))
	k.save(s, "completed")
}

func (k kimi) waitsFor() adapters.WaitingFor { return adapters.ForPermission }

func (k kimi) ask(s *Session) {
	state, _ := s.state.(*kimiState)
	state.asked = "approval_" + k.uuid(4)
	k.record(s, "interaction.request", fmt.Sprintf(`"id":%q,"kind":"approval","toolCallId":"call_1","request":{"turnId":%d,"toolCallId":"call_1","toolName":"Bash",`+
		`"action":"Running: make test","display":{"kind":"command","command":"make test"}}`, state.asked, state.turn))
}

func (k kimi) exit(s *Session) { k.Procs.End(s.Process.PID) }
func (k kimi) kill(s *Session) { k.Procs.End(s.Process.PID) }

func (k kimi) resume(s *Session, prompt string) {
	state, _ := s.state.(*kimiState)
	state.asked = ""
	s.Process = k.run(s, "-r", s.ID)
	k.prompt(s, prompt)
}

func (k kimi) forget(s *Session) {
	k.check(os.RemoveAll(filepath.Dir(filepath.Dir(filepath.Dir(s.File)))))
}

func (k kimi) strange(s *Session) { k.record(s, "moonshine", `"content":"of the moon"`) }
