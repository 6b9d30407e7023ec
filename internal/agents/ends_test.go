//go:build agents && linux

package agents

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"rollcall/app"
	"rollcall/internal/must"
)

// talker is the side of an editor that speaks JSON-RPC, line by line, with an agent that hosts sessions.
type talker struct {
	s     *Sandbox
	host  *exec.Cmd // the agent is below it
	in    io.WriteCloser
	mu    sync.Mutex
	last  int
	heard map[int]json.RawMessage // the replies, by id
}

// startTalker starts an agent below a host.
func startTalker(s *Sandbox, argv []string) *talker {
	s.t.Helper()
	s.terminals++
	log := must.Get(os.Create(filepath.Join(s.dir, fmt.Sprintf("talk%d", s.terminals))))(s.t)
	defer log.Close()
	h := &talker{s: s, host: s.Command("sh", append([]string{"-c", `"$@"; :`, "host"}, argv...)...), heard: map[int]json.RawMessage{}}
	h.in = must.Get(h.host.StdinPipe())(s.t)
	out := must.Get(h.host.StdoutPipe())(s.t)
	h.host.Stderr = log
	must.Do(s.t, h.host.Start())
	go h.listen(out)
	s.t.Cleanup(func() {
		text, _ := os.ReadFile(log.Name())
		if s.t.Failed() {
			s.t.Logf("%v: %.4000s", argv, text)
		}
	})
	return h
}

func (h *talker) listen(out io.Reader) {
	lines := bufio.NewScanner(out)
	lines.Buffer(nil, 1<<24)
	for lines.Scan() {
		var m struct {
			ID     *int
			Method string
			Result json.RawMessage
			Error  json.RawMessage
		}
		if json.Unmarshal(lines.Bytes(), &m) != nil || m.ID == nil || m.Method != "" {
			continue
		}
		h.mu.Lock()
		h.heard[*m.ID] = m.Result
		if len(m.Error) > 0 {
			h.heard[*m.ID] = m.Error
		}
		h.mu.Unlock()
	}
}

func (h *talker) send(message map[string]any) {
	h.s.t.Helper()
	message["jsonrpc"] = "2.0"
	must.Do(h.s.t, json.NewEncoder(h.in).Encode(message))
}

// begin sends a request, whose reply comes later.
func (h *talker) begin(method string, params any) (id int) {
	h.s.t.Helper()
	h.last++
	h.send(map[string]any{"id": h.last, "method": method, "params": params})
	return h.last
}

// call sends a request, and returns the member of its result.
func (h *talker) call(method string, params any, member ...string) string {
	h.s.t.Helper()
	id := h.begin(method, params)
	var reply json.RawMessage
	err := poll(60*time.Second, func() (is bool) {
		h.mu.Lock()
		defer h.mu.Unlock()
		reply, is = h.heard[id]
		return is
	})
	if err != nil {
		h.s.t.Fatalf("%s is not replied to: %v", method, err)
	}
	for _, name := range member {
		var object map[string]json.RawMessage
		if json.Unmarshal(reply, &object) != nil || object[name] == nil {
			h.s.t.Fatalf("%s: no %q in %s", method, name, reply)
		}
		reply = object[name]
	}
	return strings.Trim(string(reply), `"`)
}

// hosting is how an agent hosts several sessions in one process.
type hosting struct {
	release Release
	args    []string
	byName  string // the program on the PATH, where it shows in its command line what it does; empty: its path
	begin   func(*talker)
	open    func(*talker) (id string)
	prompt  func(h *talker, id, text string)
	close   func(h *talker, id string)
	stays   bool // a turn goes on when the input is closed
}

var acp = hosting{
	begin: func(h *talker) {
		h.call("initialize", map[string]any{"protocolVersion": 1, "clientCapabilities": map[string]any{}}, "protocolVersion")
	},
	open: func(h *talker) string {
		return h.call("session/new", map[string]any{"cwd": h.s.Project, "mcpServers": []string{}}, "sessionId")
	},
	prompt: func(h *talker, id, text string) {
		h.begin("session/prompt", map[string]any{"sessionId": id, "prompt": []any{map[string]string{"type": "text", "text": text}}})
	},
	close: func(h *talker, id string) { h.call("session/close", map[string]string{"sessionId": id}) }, // an agent may not know it
}

func acpOf(r Release, args ...string) hosting {
	a := acp
	a.release, a.args = r, args
	return a
}

// kimiHosting starts Kimi Code as an editor does: only the length of an erased command line tells what it does.
var kimiHosting = func() hosting {
	h := acpOf(KimiNewest, "acp")
	h.byName = "kimi"
	return h
}()

var codexHosting = hosting{
	release: CodexNewest, args: []string{"app-server"},
	begin: func(h *talker) {
		h.call("initialize", map[string]any{"clientInfo": map[string]string{"name": "zed", "version": "1"}})
		h.send(map[string]any{"method": "initialized"})
	},
	open: func(h *talker) string {
		return h.call("thread/start", map[string]any{"cwd": h.s.Project}, "thread", "id")
	},
	prompt: func(h *talker, id, text string) {
		h.call("turn/start", map[string]any{"threadId": id, "input": []any{map[string]string{"type": "text", "text": text}}}, "turn")
	},
	close: func(h *talker, id string) { h.call("thread/unsubscribe", map[string]string{"threadId": id}) },
}

// waysToClose are how a process with sessions ends.
var waysToClose = map[string]func(h *talker, how *hosting, ids []string){
	"stdin closed": func(h *talker, _ *hosting, _ []string) { h.in.Close() },
	"host killed": func(h *talker, _ *hosting, _ []string) {
		_ = h.host.Process.Kill()
		h.in.Close()
	},
	"closed in order": func(h *talker, how *hosting, ids []string) {
		for _, id := range ids {
			how.close(h, id)
			time.Sleep(500 * time.Millisecond) // the user goes from one to the next
		}
		h.in.Close()
	},
	"SIGTERM": func(h *talker, _ *hosting, _ []string) {
		for _, p := range h.processes() {
			_ = unix.Kill(p.PID, unix.SIGTERM)
		}
	},
	"SIGKILL": func(h *talker, _ *hosting, _ []string) {
		for _, p := range h.processes() {
			p.kill()
		}
	},
}

// processes returns the agent's processes below the host.
func (h *talker) processes() (found []Process) {
	all := h.s.Processes()
	for _, p := range all {
		if p.PID != h.host.Process.Pid && below(all, p.PID, h.host.Process.Pid) {
			found = append(found, p)
		}
	}
	return found
}

// Each session of a process that ends has one end, however many it hosts and however it ends.
func TestEndsOfOneProcess(t *testing.T) {
	gemini := acpOf(GeminiNewest, "--acp")
	gemini.stays = true // 0.61.0
	for name, how := range map[string]hosting{
		"gemini": gemini,
		"qwen":   acpOf(QwenNewest, "--acp"), "copilot": acpOf(CopilotNewest, "--acp"), "codex": codexHosting, "omp": acpOf(OmpNewest, "acp"),
		"kimi": kimiHosting, "grok": acpOf(GrokNewest, "agent", "stdio")} {
		t.Run(name, func(t *testing.T) {
			if slices.Contains([]string{"omp", "kimi", "grok"}, name) {
				nightly(t)
			}
			each(t, []Release{how.release}, func(t *testing.T, s *Sandbox, r Release) {
				f := follow(s)
				for way, end := range waysToClose {
					for _, n := range []int{1, 2, 5} {
						if n != 2 && way != "stdin closed" || how.stays && !strings.HasPrefix(way, "SIG") {
							continue
						}
						endsOnce(t, s, f, &how, fmt.Sprint(n, " ", way), n, end)
					}
				}
			})
		})
	}
}

// live returns how many of the sessions that began with these prompts are shown live. It asks nobody.
func (f *follower) live(prompts []string) (n int) {
	for _, x := range f.core.Snapshot().Sessions() {
		if x.Live() && slices.ContainsFunc(prompts, func(prompt string) bool { return strings.HasPrefix(x.FirstPrompt, prompt) }) {
			n++
		}
	}
	return n
}

// endsOnce has an agent host n sessions, the last of them in a turn, and end.
func endsOnce(t *testing.T, s *Sandbox, f *follower, how *hosting, name string, n int, end func(*talker, *hosting, []string)) {
	argv := s.Argv(how.release, how.args...)
	if how.byName != "" {
		argv = s.ByName(how.release, how.byName, how.args...)
	}
	h := startTalker(s, argv)
	how.begin(h)
	var ids, prompts []string
	for i := range n {
		id, prompt := how.open(h), fmt.Sprintf("job %d of %s", i, name)
		ids, prompts = append(ids, id), append(prompts, prompt)
		if i == n-1 {
			how.prompt(h, id, prompt+" [[delay 300]]")
			s.Asked(prompt)
			continue
		}
		how.prompt(h, id, prompt)
		s.Becomes(byPrompt(prompt), s.Asked(prompt), soon, "idle/completed", "idle")
	}
	if err := poll(soon, func() bool { return f.live(prompts) == n }); err != nil {
		shown := ""
		for _, x := range f.core.Snapshot().Sessions() {
			shown += fmt.Sprintf("\n   %s %s pid=%d %q: %s", x.ID, x.Status, x.Process.PID, x.FirstPrompt, x.Evidence)
		}
		t.Fatalf("%d of %d sessions are live: %v%s", f.live(prompts), n, err, shown)
	}
	time.Sleep(time.Second) // what is stored of the last turn is a matter of chance until then
	processes := h.processes()
	end(h, how, ids)
	for _, p := range processes {
		s.Gone(p)
	}
	for _, prompt := range prompts {
		f.tells(app.Ended, prompt)
	}
	for _, prompt := range prompts {
		if n := f.count(app.Ended, prompt); n != 1 {
			t.Errorf("the end of %q is told %d times", prompt, n)
		}
	}
}
