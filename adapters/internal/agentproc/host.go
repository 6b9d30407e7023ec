package agentproc

import (
	"slices"
	"strings"

	"rollcall/adapters"
	"rollcall/proc"
)

// hosts has the names of programs that run agents without a terminal, by the beginning of their processes' names. The programs of
// VS Code, Zed, JetBrains and Claude Desktop were not run: their names are those of their packages for Linux, macOS and Windows.
var hosts = []struct{ process, name string }{
	{"zed", "Zed"}, {"code-insiders", "VS Code"}, {"code-oss", "VS Code"}, {"code", "VS Code"}, {"codium", "VSCodium"}, {"vscodium", "VSCodium"}, {"cursor", "Cursor"},
	{"windsurf", "Windsurf"}, {"positron", "Positron"}, {"kiro", "Kiro"}, {"antigravity", "Antigravity"}, {"claude-desktop", "Claude Desktop"}, {"conductor", "Conductor"},
	{"idea", "IntelliJ IDEA"}, {"pycharm", "PyCharm"}, {"goland", "GoLand"}, {"webstorm", "WebStorm"}, {"clion", "CLion"}, {"phpstorm", "PhpStorm"},
	{"rubymine", "RubyMine"}, {"rustrover", "RustRover"}, {"rider", "Rider"}, {"studio", "Android Studio"}, {"emacs", "Emacs"}, {"nvim", "Neovim"},
}

// separators follow the name of a program in the names of its processes: zed-editor, idea64, "Code Helper".
const separators = "-_. 0123456789"

// hostNamed returns the program to which a process with that name belongs, and "" if it is not known.
func hostNamed(comm string) string {
	comm = strings.ToLower(comm)
	for _, h := range hosts {
		if rest, ok := strings.CutPrefix(comm, h.process); ok && (rest == "" || strings.ContainsRune(separators, rune(rest[0]))) {
			return h.name
		}
	}
	return ""
}

// maxAncestors is how far the host of an agent is looked for.
const maxAncestors = 16

// nameHosts sets Host of the sessions whose process has such a program as its nearest ancestor. It replaces what the agent recorded, since an agent records
// only what started it: an adapter or an SDK. An agent that has a terminal, other than the program's own, is in a terminal that the program shows: it has
// no host.
func nameHosts(table proc.Lister, sessions []adapters.Session) {
	known := map[proc.Identity]string{}
	for i := range sessions {
		s := &sessions[i]
		if s.Process.IsZero() || s.Remote != "" || !s.Live() {
			continue
		}
		host, asked := known[s.Process]
		if !asked {
			host = hostOf(table, s.Process)
			known[s.Process] = host
		}
		if host != "" {
			s.Host, s.Headless = host, false
		}
	}
}

func hostOf(table proc.Lister, id proc.Identity) string {
	terminal, err := table.Terminal(id)
	p, findErr := table.Find(id.PID)
	if err != nil || findErr != nil || p.Identity != id {
		return ""
	}
	seen := []int{p.PID}
	for range maxAncestors {
		parent, err := table.Find(p.PPID)
		if err != nil || slices.Contains(seen, parent.PID) {
			return ""
		}
		if name := hostNamed(parent.Comm); name != "" {
			if its, err := table.Terminal(parent.Identity); err != nil || terminal != "" && its != terminal {
				return ""
			}
			return name
		}
		p, seen = parent, append(seen, parent.PID)
	}
	return ""
}
