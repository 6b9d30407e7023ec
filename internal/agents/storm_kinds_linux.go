package agents

// stormKind says how an agent is driven, and what of it can't be known from
// outside.
type stormKind struct {
	comm       string   // name of its process
	ready      []string // shown by a terminal that takes prompts
	homeKey    string   // environment variable of its folder; empty: it has none
	folder     string   // its default folder, below the home folder
	choosesID  bool     // its sessions have ids of our choice, and exist before the first prompt
	escapes    int      // how often Escape is pressed to interrupt
	takesBack  bool     // Escape before the first answer takes the prompt back
	exit       string   // command that ends it
	ctrlD      bool     // it ends on Ctrl-D
	newCommand string   // begins another session in the same process
	dialog     string   // command that opens a dialog of the user's own
	dialogText string   // what that dialog shows
	silent     bool     // the first turn is in no file before its first answer
	// resumeHidden: a resumed session without a prompt can't be told from a new one.
	resumeHidden bool

	permission, question *stormDialog
	tool                 bool // it runs a command that takes long

	// vague are states that Rollcall may show as well, by the truth's turn, since
	// the agent's files and process say no more.
	vague map[turn][]string

	// storesEmpty: a thread that is left before its first prompt is stored.
	storesEmpty bool

	open   func(x *stormSession) []string // arguments for a new session in a terminal
	resume func(x *stormSession, prompt string) []string
	run    func(x *stormSession, prompt string, again bool) []string // without a terminal
}

// stormDialog is how an agent is brought to wait for the user.
type stormDialog struct {
	directive string // %s is replaced by the session's mark
	shows     string
	gone      string // no longer shown once it is refused
	answer    string // key
	turn      turn
}

// kindOf returns how to drive a release.
func kindOf(r Release) *stormKind {
	switch r {
	case ClaudeNewest:
		return claudeKind()
	case CodexNewest, CodexOlder:
		return codexKind(r)
	case OpenCodeNewest, OpenCodeOlder:
		return openCodeKind(r)
	case PiNewest, PiOlder:
		return piKind(r)
	}
	return &stormKind{}
}

func claudeKind() *stormKind {
	mode := []string{"--permission-mode", "default"}
	return &stormKind{
		comm: "claude", ready: []string{"? for shortcuts"}, homeKey: "CLAUDE_CONFIG_DIR", folder: ".claude",
		choosesID: true, escapes: 1, takesBack: true, exit: "/exit", ctrlD: true, tool: true,
		dialog: "/model", dialogText: "Select model",
		permission: &stormDialog{"[[bash touch asked-%s.txt]]", "Do you want to proceed?", "Do you want to proceed?", "1", waitsPermission},
		question:   &stormDialog{"[[ask]]", "Which colour?", "Enter to select", "Enter", waitsQuestion},
		open:       func(x *stormSession) []string { return append([]string{"--session-id", x.id}, mode...) },
		resume: func(x *stormSession, prompt string) []string {
			return withPrompt(append([]string{"--resume", x.id}, mode...), prompt)
		},
		run: func(x *stormSession, prompt string, again bool) []string {
			if again {
				return []string{"-p", "--resume", x.id, prompt}
			}
			return []string{"-p", "--session-id", x.id, prompt}
		},
	}
}

func codexKind(r Release) *stormKind {
	k := &stormKind{
		comm: "codex", ready: []string{"? for shortcuts"}, homeKey: "CODEX_HOME", folder: ".codex",
		escapes: 1, exit: "/quit", ctrlD: true,
		permission: &stormDialog{"[[bash touch ../asked-%s.txt]][[esc]]", "Would you like to run the following command?", "Would you like to run the following command?", "y", waitsPermission},
		open: func(x *stormSession) []string {
			if x.alone {
				return []string{"--no-daemon"}
			}
			return nil
		},
		resume: func(x *stormSession, prompt string) []string {
			args := []string{"resume", x.id}
			if x.alone {
				args = []string{"--no-daemon", "resume", x.id}
			}
			return withPrompt(args, prompt)
		},
		run: func(x *stormSession, prompt string, again bool) []string {
			switch {
			case again:
				return []string{"exec", "resume", x.id, prompt}
			case x.ephemeral:
				return []string{"exec", "--ephemeral", prompt}
			}
			return []string{"exec", prompt}
		},
	}
	k.storesEmpty = r == CodexOlder
	if r == CodexOlder { // no records of turns, approvals and failures
		k.vague = map[turn][]string{waitsPermission: {"working"}, failed: {"working", "idle", "stopped", "stopped/died"},
			interrupted: {"idle", "stopped", "stopped/died"}}
	}
	return k
}

func openCodeKind(Release) *stormKind {
	return &stormKind{
		comm: "opencode", ready: []string{"Ask anything", "ctrl+p commands"}, homeKey: "XDG_DATA_HOME", folder: ".local/share/opencode",
		escapes: 2, exit: "/exit", ctrlD: true, tool: true,
		permission: &stormDialog{"[[bash touch asked-%s.txt]]", "Permission required", "Permission required", "Enter", waitsPermission},
		question:   &stormDialog{"[[ask]]", "Which colour?", "esc dismiss", "Enter", waitsQuestion},
		open:       func(*stormSession) []string { return nil },
		resume: func(x *stormSession, prompt string) []string {
			args := []string{"-s", x.id}
			if prompt != "" {
				args = append(args, "--prompt", prompt)
			}
			return args
		},
		run: func(x *stormSession, prompt string, again bool) []string {
			if again {
				return []string{"run", "-s", x.id, prompt}
			}
			return []string{"run", prompt}
		},
	}
}

func piKind(r Release) *stormKind {
	return &stormKind{
		comm: "pi", ready: []string{"/128k"}, homeKey: "PI_CODING_AGENT_DIR", folder: ".pi/agent",
		escapes: 1, exit: "/quit", ctrlD: true, tool: true, newCommand: "/new", silent: r == PiOlder, resumeHidden: true,
		open: func(*stormSession) []string { return nil },
		resume: func(x *stormSession, prompt string) []string {
			return withPrompt([]string{"--session", x.id}, prompt)
		},
		run: func(x *stormSession, prompt string, again bool) []string {
			if again {
				return []string{"-p", "--session", x.id, prompt}
			}
			return []string{"-p", prompt}
		},
	}
}

func withPrompt(args []string, prompt string) []string {
	if prompt == "" {
		return args
	}
	return append(args, prompt)
}
