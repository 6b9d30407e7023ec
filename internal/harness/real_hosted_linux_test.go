package harness

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"time"

	"rollcall/adapters"
	"rollcall/internal/adaptertest/scene"
	"rollcall/internal/agents"
	"rollcall/internal/eventually"
	"rollcall/internal/harness/screen"
	"rollcall/internal/must"
	"rollcall/proc"
)

// hostedAgent plays Claude Code that an editor has started: it has no terminal, and the editor gives it prompts and answers in the way of the
// Agent SDK.
type hostedAgent struct {
	*realAgent // the same in a terminal
	machine    *machine
	hosts      map[string]*host // by the folder
}

// host is the side of the editor.
type host struct {
	in   *os.File // what the agent reads
	out  string   // the file with what it has written
	sent int
}

func (h *hostedAgent) Start(cwd, prompt string) *scene.Session {
	id := must.Get(os.ReadFile("/proc/sys/kernel/random/uuid"))(h.world)
	s := scene.Played(h.name, strings.TrimSpace(string(id)), cwd, h)
	h.witnesses[s] = h
	s.Process = h.run(s, "--session-id")
	h.Prompt(s, prompt)
	return s
}

// run starts an editor and the agent in it.
func (h *hostedAgent) run(s *scene.Session, option string) proc.Identity {
	editor := h.machine.start(scene.Spec{Exe: editorProgram, Args: []string{"zed-editor"}, CWD: s.CWD, Env: h.box.Env()})
	in := h.machine.pipe(fmt.Sprintf("%d.agent", editor.PID))
	one := &host{out: in + ".out"}
	must.Do(h.world, os.WriteFile(one.out, nil, 0o600))
	one.in = h.machine.fifo(in)
	argv := h.box.Argv(h.release, "--output-format", "stream-json", "--verbose", "--input-format", "stream-json", "--permission-prompt-tool", "stdio",
		"--permission-mode", "default", option, s.ID)
	h.machine.order(editor, map[string]any{"Path": argv[0], "Run": argv, "In": in, "Out": one.out})
	h.hosts[s.CWD] = one
	own := h.process(editor.PID)
	h.machine.hosts(editor, own.PID, "a script") // by its entrypoint, sdk-cli
	return own
}

// send writes one message to the agent.
func (h *hostedAgent) send(s *scene.Session, message map[string]any) {
	must.Do(h.world, json.NewEncoder(h.hosts[s.CWD].in).Encode(message))
}

// request is what the agent asks of the editor.
type request struct {
	Type    string
	ID      string `json:"request_id"`
	Request struct {
		Subtype string
		Input   json.RawMessage
	}
}

// permissions returns the requests for permission so far.
func (h *hostedAgent) permissions(s *scene.Session) (all []request) {
	text := must.Get(os.ReadFile(h.hosts[s.CWD].out))(h.world)
	for line := range bytes.Lines(text) {
		var r request
		if json.Unmarshal(line, &r) == nil && r.Type == "control_request" && r.Request.Subtype == "can_use_tool" {
			all = append(all, r)
		}
	}
	return all
}

func (h *hostedAgent) Prompt(s *scene.Session, text string) {
	if s.Before().Status == adapters.Waiting {
		all := h.permissions(s)
		last := all[len(all)-1]
		h.send(s, map[string]any{"type": "control_response", "response": map[string]any{"subtype": "success", "request_id": last.ID,
			"response": map[string]any{"behavior": "allow", "updatedInput": last.Request.Input}}})
		return
	}
	text = fmt.Sprintf("%s [[hold %s]]", text, held(s))
	h.send(s, map[string]any{"type": "user", "message": map[string]any{"role": "user", "content": text}})
	h.box.Asked(text)
	time.Sleep(storesWithin)
}

func (h *hostedAgent) Answer(s *scene.Session, text string) {
	h.answerWith(s, "[[say "+text+"]]")
	eventually.True(h.world, "the answer in the editor", func() bool {
		out, err := os.ReadFile(h.hosts[s.CWD].out)
		return err == nil && bytes.Contains(out, []byte(fmt.Sprintf(`"text":%q`, text)))
	})
	time.Sleep(storesWithin)
}

func (h *hostedAgent) Ask(s *scene.Session) {
	before := len(h.permissions(s))
	h.asked++
	h.answerWith(s, fmt.Sprintf(h.command, fmt.Sprintf("asked-%d", h.asked)))
	eventually.True(h.world, "a request for permission in the editor", func() bool { return len(h.permissions(s)) > before })
	time.Sleep(storesWithin)
}

func (h *hostedAgent) Interrupts(*scene.Session) bool { return true }

func (h *hostedAgent) Interrupt(s *scene.Session) {
	one := h.hosts[s.CWD]
	one.sent++
	h.send(s, map[string]any{"type": "control_request", "request_id": fmt.Sprint(one.sent), "request": map[string]string{"subtype": "interrupt"}})
	eventually.True(h.world, held(s)+" to hang up on the model", func() bool { return h.hungUp(s) })
	time.Sleep(storesWithin)
}

// screen implements witness: an editor has none.
func (h *hostedAgent) screen(*scene.Session) (string, *screen.Signs) { return "", nil }

// Exit has the editor close the session.
func (h *hostedAgent) Exit(s *scene.Session) {
	h.hosts[s.CWD].in.Close()
	h.box.Gone(agents.Process{PID: s.Process.PID})
	h.machine.unwrap(s.Process.PID)
}

func (h *hostedAgent) Kill(s *scene.Session) {
	h.realAgent.Kill(s)
	h.hosts[s.CWD].in.Close()
	h.machine.unwrap(s.Process.PID)
}

func (h *hostedAgent) Resume(s *scene.Session, prompt string) {
	s.Process = h.run(s, "--resume")
	h.Prompt(s, fmt.Sprintf("%s, %d", prompt, len(h.box.Server.Requests())))
}
