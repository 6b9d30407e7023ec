package codex

import (
	"cmp"
	"strconv"
	"strings"
	"time"

	"rollcall/adapters/internal/jsonl"
)

// head holds the first line of a rollout, which describes the thread.
type head struct {
	id, cwd, branch, version string
	parent                   string
	subagent                 bool
	byTerminal               bool   // a terminal interface began it
	task                     string // the name that a parent gave to its sub-agent
	started                  time.Time
	// inherited is the ordinal from which on records are the sub-agent's own;
	// those before are a copy of its parent's.
	inherited int64
}

// parseHead reads a session_meta line, as Codex 0.45 to 0.169 write it.
func parseHead(line []byte) (head, error) {
	l, err := splitLine(line)
	if err != nil {
		return head{}, err
	}
	if string(l.name) != "session_meta" {
		return head{}, errRecord
	}
	var h head
	var source []byte
	var root, path, nickname string
	texts := map[string]*string{"id": &h.id, "cwd": &h.cwd, "parent_thread_id": &h.parent, "session_id": &root,
		"agent_path": &path, "agent_nickname": &nickname}
	err = jsonl.Top(l.payload, func(key, raw []byte) bool {
		switch name := string(key); name {
		case "timestamp":
			h.started = jsonl.Time(raw)
		case "originator": // "codex-tui" since the daemon (0.169.0)
			h.byTerminal = string(jsonl.Text(raw)) == "codex-tui"
		case "cli_version":
			h.version, _ = jsonl.Head(raw, 80)
		case "git":
			h.branch, _ = jsonl.Head(jsonl.Get(raw, "branch"), textLimit)
		case "thread_source":
			h.subagent = h.subagent || string(jsonl.Text(raw)) == "subagent"
		case "subagent_history_start_ordinal":
			h.inherited, _ = jsonl.Int(raw)
		case "source": // a word; for a sub-agent an object
			source = raw
		default:
			if texts[name] != nil {
				*texts[name], _ = jsonl.Head(raw, textLimit)
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
	return h, nil
}

// lineage sets a sub-agent's parent and name from the fields that its version writes:
// 0.169 names the parent, earlier versions name it within source, and some sub-agents
// (a review) only have the thread at the root.
func (h *head) lineage(source []byte, root, path, nickname string) {
	h.subagent = h.subagent || jsonl.Get(source, "subagent") != nil
	if h.subagent {
		spawn := func(name string) string {
			text, _ := jsonl.Head(jsonl.Get(source, "subagent", "thread_spawn", name), textLimit)
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

// explicitVersion reports whether a version is known to write task_* records: 0.106.0
// and later do, 0.98.0 and earlier don't. Versions in between are not known.
func explicitVersion(version string) bool {
	rest, ok := strings.CutPrefix(version, "0.")
	if !ok {
		return version != "" && version[0] >= '1' && version[0] <= '9'
	}
	minor, _, _ := strings.Cut(rest, ".")
	n, err := strconv.Atoi(minor)
	return err == nil && n >= 106
}
