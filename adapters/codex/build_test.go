package codex

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"rollcall/internal/must"
)

// recordings are of real homes; see package adaptertest.
const recordings = "testdata/recordings"

// Threads of the tests. The time in an id is of no importance here.
const (
	threadA = "01a1fc98-aaaa-7000-8000-00000000000a"
	threadB = "01a1fc98-bbbb-7000-8000-00000000000b"
	threadC = "01a1fc98-cccc-7000-8000-00000000000c"
)

// began is when the synthetic rollouts begin.
var began = time.Date(2026, 11, 21, 5, 0, 0, 0, time.UTC)

// script writes rollout lines as Codex 0.169 does, a second after one another.
type script struct {
	lines []string
	at    time.Time
	step  time.Duration // from one record to the next
}

func newScript(id, version string, more ...string) *script {
	return scriptAt(began, id, version, more...)
}

func scriptAt(at time.Time, id, version string, more ...string) *script {
	s := &script{at: at, step: time.Second}
	extra := ""
	for _, m := range more {
		extra += "," + m
	}
	s.add(`{"timestamp":%q,"ordinal":0,"type":"session_meta","payload":{"id":%q,"timestamp":%q,"cwd":"/home/dev/proj","originator":"codex_exec","cli_version":%q,"git":{"branch":"main"}%s}}`,
		s.now(), id, s.now(), version, extra)
	return s
}

// atOnce lets all records that follow be of this moment.
func (s *script) atOnce() *script {
	s.at, s.step = time.Now().UTC(), 0
	return s
}

func (s *script) now() string { return s.at.Format("2006-01-02T15:04:05.000Z") }

func (s *script) add(format string, args ...any) *script {
	s.lines = append(s.lines, fmt.Sprintf(format, args...))
	s.at = s.at.Add(s.step)
	return s
}

func (s *script) event(payload string) *script {
	return s.add(`{"timestamp":%q,"type":"event_msg","payload":%s}`, s.now(), payload)
}

func (s *script) item(payload string) *script {
	return s.add(`{"timestamp":%q,"type":"response_item","payload":%s}`, s.now(), payload)
}

func (s *script) start(turn string) *script {
	return s.event(fmt.Sprintf(`{"type":"task_started","turn_id":%q,"model_context_window":258400}`, turn))
}

func (s *script) context(model string) *script {
	return s.add(`{"timestamp":%q,"type":"turn_context","payload":{"cwd":"/home/dev/other","approval_policy":"on-request","model":%q}}`, s.now(), model)
}

func (s *script) prompt(text string) *script {
	quoted, _ := json.Marshal(text)
	return s.event(fmt.Sprintf(`{"type":"user_message","message":%s,"images":[]}`, quoted))
}

func (s *script) call(id, arguments string) *script {
	return s.item(fmt.Sprintf(`{"type":"function_call","name":"exec_command","arguments":%q,"call_id":%q}`, arguments, id))
}

func (s *script) result(id, text string) *script {
	return s.item(fmt.Sprintf(`{"type":"function_call_output","call_id":%q,"output":%q}`, id, text))
}

func (s *script) answer(text string) *script {
	s.event(fmt.Sprintf(`{"type":"agent_message","message":%q}`, text))
	return s.item(fmt.Sprintf(`{"type":"message","role":"assistant","content":[{"type":"output_text","text":%q}]}`, text))
}

func (s *script) tokens(input, cached, output int) *script {
	usage := fmt.Sprintf(`{"input_tokens":%d,"cached_input_tokens":%d,"output_tokens":%d,"reasoning_output_tokens":0,"total_tokens":%d}`,
		input, cached, output, input+output)
	return s.event(`{"type":"token_count","info":{"total_token_usage":` + usage + `,"last_token_usage":` + usage + `,"model_context_window":258400}}`)
}

func (s *script) done(turn string) *script {
	return s.event(fmt.Sprintf(`{"type":"task_complete","turn_id":%q,"last_agent_message":"ok"}`, turn))
}

// turn is a whole one.
func (s *script) turn(name, prompt string) *script {
	return s.start(name).context("gpt-5.5").prompt(prompt).answer("fine").tokens(100, 40, 10).done(name)
}

func (s *script) text() string { return strings.Join(s.lines, "\n") + "\n" }

// facts reads the script as a file.
func (s *script) facts(t testing.TB) facts {
	t.Helper()
	text := s.text()
	p, err := readRollout(t.Context(), strings.NewReader(text), int64(len(text)), nil)
	must.Do(t, err)
	return p.facts
}

// home makes an empty Codex home in a temporary HOME.
func home(t testing.TB) string {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	must.Do(t, err)
	must.Do(t, os.MkdirAll(filepath.Join(dir, ".codex", "sessions"), 0o755))
	return dir
}

// rolloutPath is where the thread's rollout belongs.
func rolloutPath(home, id string) string {
	return filepath.Join(home, ".codex", "sessions", "2026", "11", "21", "rollout-2026-11-21T05-00-00-"+id+".jsonl")
}

func write(t testing.TB, path, text string) string {
	t.Helper()
	must.Do(t, os.MkdirAll(filepath.Dir(path), 0o755))
	must.Do(t, os.WriteFile(path, []byte(text), 0o644))
	return path
}
