package codex

import (
	"cmp"
	"strings"
	"time"

	"rollcall/adapters"
	"rollcall/adapters/internal/agentfile"
	"rollcall/adapters/internal/kit"
)

// head holds the first line of a rollout, which describes the thread.
type head struct {
	id, cwd, branch, version string
	parent                   string
	subagent                 bool
	byTerminal               bool   // a terminal interface began it
	byExec                   bool   // codex exec began it
	byRemote                 bool   // codex exec --remote began it, in the daemon
	guardian                 bool   // a model reviews requests of its parent in it
	client                   string // the program in which the agent runs; empty: a terminal, or not known
	forkedFrom               string // the thread from which it was forked
	continues                string // the thread whose rollout has its first records (0.171); otherwise a fork begins with copies of them
	task                     string // the name that a parent gave to its sub-agent
	started                  time.Time
	written                  time.Time // the first line
	// inherited is the ordinal from which on records are the sub-agent's own;
	// those before are a copy of its parent's.
	inherited int64
}

// parseHead reads a session_meta line, as Codex 0.32 to 0.169 write it.
func parseHead(line []byte) (head, error) {
	l, err := splitLine(line)
	if err != nil {
		return head{}, err
	}
	if string(l.name) != "session_meta" {
		return head{}, errRecord
	}
	h := head{written: l.at}
	var source []byte
	var root, path, nickname, from string
	texts := map[string]*string{"id": &h.id, "cwd": &h.cwd, "parent_thread_id": &h.parent, "forked_from_id": &h.forkedFrom, "session_id": &root,
		"agent_path": &path, "agent_nickname": &nickname}
	err = agentfile.Top(l.payload, func(key, raw []byte) bool {
		switch name := string(key); name {
		case "timestamp":
			h.started = agentfile.Time(raw)
		case "originator":
			h.begunBy(raw)
		case "cli_version":
			h.version, _ = agentfile.Head(raw, 80)
		case "git":
			h.branch = branchName(agentfile.Get(raw, "branch"))
		case "thread_source":
			from = h.begunFor(raw)
		case "history_base":
			h.continues, _ = agentfile.Head(agentfile.Get(raw, "thread_id"), textLimit)
		case "subagent_history_start_ordinal":
			h.inherited, _ = agentfile.Int(raw)
		case "source": // a word; for a sub-agent an object
			source = raw
		default:
			if texts[name] != nil {
				*texts[name], _ = agentfile.Head(raw, textLimit)
			}
		}
		return true
	})
	if err != nil {
		return head{}, err
	}
	if h.id == "" {
		return head{}, errRecord
	}
	h.lineage(source, root, path, nickname)
	h.begunInDaemon(source, from)
	return h, nil
}

// begunBy sets which program began the thread, from its originator: "codex-tui" since the daemon (0.169.0).
func (h *head) begunBy(originator []byte) {
	name, _ := agentfile.Head(originator, 80)
	h.byTerminal = name == "codex-tui"
	h.byExec = name == "codex_exec"
	h.client = clientOf(name)
}

// begunFor sets whether a thread is a sub-agent, and returns its thread_source.
func (h *head) begunFor(threadSource []byte) string {
	from := string(agentfile.Text(threadSource))
	h.guardian = from == "guardian_review"
	h.subagent = h.subagent || h.guardian || from == "subagent"
	return from
}

// begunInDaemon corrects which program began a thread of the daemon. from is its thread_source.
func (h *head) begunInDaemon(source []byte, from string) {
	if string(agentfile.Text(source)) == "vscode" && (h.byTerminal || h.byExec) {
		// A daemon's threads have the originator of its first client (0.171.0). A terminal interface says that its user began the thread (0.169.0, 0.171.0),
		// and a run with --remote says nothing (0.171.0).
		h.byTerminal = from == "user"
		h.byExec = from == ""
		h.byRemote = from == ""
	}
}

// isHeir reports whether the thread may count on from the sum of another one.
func (h *head) isHeir() bool { return h.forkedFrom != "" || h.continues != "" || h.inherited > 0 }

// clients has the programs that originators stand for; empty for Codex's own interfaces.
var clients = map[string]string{"codex-tui": "", "codex_cli_rs": "", "codex_exec": "", "codex_vscode": "VS Code", "codex_sdk_ts": "SDK (TypeScript)",
	"codex_sdk_py": "SDK (Python)", "codex_sdk_python": "SDK (Python)", "zed": "Zed"}

// clientOf returns the program that an originator stands for. A client of the app-server gives its own name.
func clientOf(originator string) string {
	if client, known := clients[originator]; known {
		return client
	}
	return originator
}

// branchName returns the name of a branch; empty for a commit that is checked out without one.
func branchName(raw []byte) string {
	name, _ := agentfile.Head(raw, textLimit)
	if name == adapters.NoBranch {
		return ""
	}
	return name
}

// lineage sets a sub-agent's parent and name from the fields that its version writes:
// 0.169 names the parent, earlier versions name it within source, and some sub-agents
// (a review) only have the thread at the root.
func (h *head) lineage(source []byte, root, path, nickname string) {
	h.subagent = h.subagent || agentfile.Get(source, "subagent") != nil
	h.guardian = h.guardian || string(agentfile.Text(agentfile.Get(source, "subagent", "other"))) == "guardian"
	if h.subagent {
		spawn := func(name string) string {
			text, _ := agentfile.Head(agentfile.Get(source, "subagent", "thread_spawn", name), textLimit)
			return text
		}
		h.parent = cmp.Or(h.parent, spawn("parent_thread_id"), root)
		path = cmp.Or(path, spawn("agent_path"))
		h.task = cmp.Or(path[strings.LastIndexByte(path, '/')+1:], nickname, spawn("agent_nickname"))
	}
	if h.parent == h.id {
		h.parent = ""
	}
}

// floor is the first version that records approvals and failed turns in a form that was examined.
var floor = kit.Floor{Title: "Codex", Version: "0.137"}
