package harness

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"time"

	"golang.org/x/sys/unix"

	"rollcall/adapters"
	"rollcall/internal/adaptertest/scene"
	"rollcall/internal/agentname"
	"rollcall/internal/agents"
	"rollcall/internal/eventually"
	"rollcall/internal/harness/screen"
	"rollcall/internal/must"
	"rollcall/proc"
)

// sharedAgent plays an agent whose process holds several sessions, each in a folder of its own: an editor asks it over the Agent Client Protocol, or, of
// Codex's app-server, over that one's own.
type sharedAgent struct {
	*realAgent // the same in a terminal
	machine    *machine
	args       []string
	speaks     speech
	newest     *conversation
	of         map[*scene.Session]*conversation
}

// mostShared is how many sessions a process holds.
const mostShared = 3

// speech is what differs between the protocols.
type speech struct {
	begin, open, prompt, cancel, asks string // methods
	name                              string // of the member with a session's id in parameters
	opened                            func(result json.RawMessage) (id string)
	input                             string // of the member with a prompt
	permit                            func(params json.RawMessage) any
}

var acpSpeech = speech{begin: "initialize", open: "session/new", prompt: "session/prompt", cancel: "session/cancel", asks: "session/request_permission",
	name: "sessionId", input: "prompt",
	opened: func(result json.RawMessage) string {
		var r struct{ SessionID string }
		_ = json.Unmarshal(result, &r)
		return r.SessionID
	},
	permit: func(params json.RawMessage) any {
		var p struct {
			Options []struct{ OptionID, Kind string }
		}
		_ = json.Unmarshal(params, &p)
		for _, option := range p.Options {
			if option.Kind == "allow_once" {
				return map[string]any{"outcome": map[string]string{"outcome": "selected", "optionId": option.OptionID}}
			}
		}
		return nil
	}}

var codexSpeech = speech{begin: "initialize", open: "thread/start", prompt: "turn/start", cancel: "turn/interrupt", asks: "item/commandExecution/requestApproval",
	name: "threadId", input: "input",
	opened: func(result json.RawMessage) string {
		var r struct{ Thread struct{ ID string } }
		_ = json.Unmarshal(result, &r)
		return r.Thread.ID
	},
	permit: func(json.RawMessage) any { return map[string]string{"decision": "accept"} }}

// sharedAgents returns those whose process can hold several sessions.
func sharedAgents(list []*realAgent, t *harness) (all []scene.Agent) {
	for _, r := range list {
		one := &sharedAgent{realAgent: r, machine: t.machine, args: []string{"--acp"}, speaks: acpSpeech, of: map[*scene.Session]*conversation{}}
		switch {
		case r.argv != nil, r.hidden: // another way to start it
			continue
		case r.name == agentname.Codex:
			one.args = []string{"app-server"}
			one.speaks = codexSpeech
		case r.name == copilot, r.name == gemini, r.name == qwen:
		default:
			continue
		}
		all = append(all, one)
	}
	return all
}

// conversation is the side of the editor.
type conversation struct {
	h      *sharedAgent
	editor *played
	cwd    string        // in which the agent was started
	own    proc.Identity // the agent's process
	in     *os.File      // what the agent reads
	out    string        // the file with what it has written
	sent   int
	held   int // sessions
	over   bool
}

// message is one that the agent has written.
type message struct {
	ID             json.RawMessage
	Method         string
	Params, Result json.RawMessage
	Error          json.RawMessage
}

func (c *conversation) messages() (all []message) {
	text := must.Get(os.ReadFile(c.out))(c.h.world)
	for line := range bytes.Lines(text) {
		var m message
		if bytes.HasSuffix(line, []byte("\n")) && json.Unmarshal(line, &m) == nil {
			all = append(all, m)
		}
	}
	return all
}

func (c *conversation) send(members map[string]any) {
	members["jsonrpc"] = "2.0"
	must.Do(c.h.world, json.NewEncoder(c.in).Encode(members))
}

// call sends a request, and returns the result that the agent replies.
func (c *conversation) call(method string, params map[string]any) (result json.RawMessage) {
	c.sent++
	id := fmt.Sprint(c.sent)
	c.send(map[string]any{"id": c.sent, "method": method, "params": params})
	eventually.True(c.h.world, "the reply to "+method, func() bool {
		for _, m := range c.messages() {
			if m.Method == "" && string(m.ID) == id {
				if len(m.Error) > 0 {
					c.h.world.Fatalf("%s: %s", method, m.Error)
				}
				result = m.Result
				return true
			}
		}
		return false
	})
	return result
}

// asked returns the requests for a permission in a session so far.
func (c *conversation) asked(s *scene.Session) (all []message) {
	for _, m := range c.messages() {
		var params map[string]any
		if m.Method == c.h.speaks.asks && json.Unmarshal(m.Params, &params) == nil && params[c.h.speaks.name] == s.ID {
			all = append(all, m)
		}
	}
	return all
}

// talk starts an editor and the agent in it.
func (h *sharedAgent) talk(cwd string) *conversation {
	env := append(h.box.Env(), "ROLLCALL_SHARED=1")
	editor := h.machine.start(scene.Spec{Exe: editorProgram, Args: []string{"zed-editor"}, CWD: cwd, Env: env})
	in := h.machine.pipe(fmt.Sprintf("%d.agent", editor.PID))
	c := &conversation{h: h, editor: editor, cwd: cwd, out: in + ".out"}
	must.Do(h.world, os.WriteFile(c.out, nil, 0o600))
	c.in = h.machine.fifo(in)
	argv := h.box.Argv(h.release, h.args...)
	h.machine.order(editor, map[string]any{"Path": argv[0], "Run": argv, "In": in, "Out": c.out})
	c.call(h.speaks.begin, map[string]any{"protocolVersion": 1, "clientCapabilities": map[string]any{}, "clientInfo": map[string]string{"name": "zed", "version": "1"}})
	if h.name == agentname.Codex {
		c.send(map[string]any{"method": "initialized"})
	}
	c.own = h.process(editor.PID)
	h.machine.records(c.own.PID, "Zed")
	return c
}

func (h *sharedAgent) Start(cwd, prompt string) *scene.Session {
	if h.newest == nil || h.newest.over || h.newest.held == mostShared {
		h.newest = h.talk(cwd)
	}
	c := h.newest
	c.held++
	id := h.speaks.opened(c.call(h.speaks.open, map[string]any{"cwd": cwd, "mcpServers": []string{}}))
	s := scene.Played(h.name, id, cwd, h)
	s.Process = c.own
	h.of[s] = c
	h.witnesses[s] = h
	h.Prompt(s, prompt)
	return s
}

func (h *sharedAgent) Prompt(s *scene.Session, text string) {
	c := h.of[s]
	if asked := c.asked(s); s.Before().Status == adapters.Waiting {
		last := asked[len(asked)-1]
		c.send(map[string]any{"id": last.ID, "result": h.speaks.permit(last.Params)})
		return
	}
	text = fmt.Sprintf("%s [[hold %s]]", text, held(s))
	c.sent++
	c.send(map[string]any{"id": c.sent, "method": h.speaks.prompt,
		"params": map[string]any{h.speaks.name: s.ID, h.speaks.input: []any{map[string]string{"type": "text", "text": text}}}})
	h.box.Asked(text)
	time.Sleep(storesWithin)
}

func (h *sharedAgent) Answer(s *scene.Session, text string) {
	h.answerWith(s, "[[say "+text+"]]")
	eventually.True(h.world, "the answer in the editor", func() bool {
		out, err := os.ReadFile(h.of[s].out)
		return err == nil && bytes.Contains(out, []byte(text))
	})
	time.Sleep(storesWithin)
}

func (h *sharedAgent) Ask(s *scene.Session) {
	before := len(h.of[s].asked(s))
	h.asked++
	h.answerWith(s, fmt.Sprintf(h.command, fmt.Sprintf("asked-%d", h.asked)))
	eventually.True(h.world, "a request for permission in the editor", func() bool { return len(h.of[s].asked(s)) > before })
	time.Sleep(storesWithin)
}

// isForeign reports whether a session is in another folder than the process of Gemini CLI that hosts it: no file names that process.
func (h *sharedAgent) isForeign(s *scene.Session) bool {
	return h.name == gemini && h.of[s].cwd != s.CWD
}

// Interrupts reports whether the editor can cancel a turn: the app-server of Codex wants the turn's id for it.
func (h *sharedAgent) Interrupts(*scene.Session) bool { return h.name != agentname.Codex }
func (h *sharedAgent) TakesBack() bool                { return false }

func (h *sharedAgent) Interrupt(s *scene.Session) {
	h.of[s].send(map[string]any{"method": h.speaks.cancel, "params": map[string]string{h.speaks.name: s.ID}})
	eventually.True(h.world, held(s)+" to hang up on the model", func() bool { return h.hungUp(s) })
	time.Sleep(storesWithin)
}

// screen implements witness: an editor has none.
func (h *sharedAgent) screen(*scene.Session) (string, *screen.Signs) { return "", nil }

// Exit has the editor close the agent's input, and so all its sessions.
func (h *sharedAgent) Exit(s *scene.Session) {
	h.of[s].in.Close()
	h.ended(s)
}

func (h *sharedAgent) Kill(s *scene.Session) {
	h.box.Signal(agents.Process{PID: s.Process.PID}, unix.SIGKILL)
	h.ended(s)
	h.of[s].in.Close()
}

func (h *sharedAgent) ended(s *scene.Session) {
	c := h.of[s]
	h.box.Gone(agents.Process{PID: s.Process.PID})
	c.over = true
	h.machine.End(c.editor.PID)
}

func (h *sharedAgent) Resumes(*scene.Session, int) bool { return false }
