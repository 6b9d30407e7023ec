package worktree

import (
	"crypto/rand"
	"encoding/hex"
	"fmt"
	"regexp"
	"strings"

	"rollcall/adapters"
)

// prefix begins the branches of launches: try/<group>/<suffix>.
const prefix = "try/"

// Slot is one agent of a group, with the model that it is launched with.
type Slot struct {
	Agent adapters.Name
	Model string // empty: the agent's own choice
}

// NewGroup makes the name of a launch group: "g-" and six random hex digits.
func NewGroup() string {
	var b [3]byte
	_, _ = rand.Read(b[:]) // never fails
	return "g-" + hex.EncodeToString(b[:])
}

// Suffixes names the slots of one group: cc, codex, oc, claw, pi, pi-rs. Where
// an agent stands there several times with a model each, the model's short name
// follows (cc-opus), and duplicates are counted (cc-2, cc-3).
func Suffixes(slots []Slot) []string {
	times := map[adapters.Name]int{}
	for _, s := range slots {
		times[s.Agent]++
	}
	taken := map[string]bool{}
	out := make([]string, len(slots))
	for i, s := range slots {
		name := shortAgent(s.Agent)
		if times[s.Agent] > 1 && s.Model != "" {
			name += "-" + shortModel(s.Model)
		}
		out[i] = name
		for n := 2; taken[out[i]]; n++ {
			out[i] = fmt.Sprintf("%s-%d", name, n)
		}
		taken[out[i]] = true
	}
	return out
}

func shortAgent(name adapters.Name) string {
	switch name {
	case adapters.ClaudeCode:
		return "cc"
	case adapters.OpenCode:
		return "oc"
	case adapters.OpenClaw:
		return "claw"
	case adapters.PiRust:
		return "pi-rs"
	}
	return plain(string(name))
}

var (
	families = regexp.MustCompile(`(?i)opus|sonnet|haiku|fable`)
	gpt      = regexp.MustCompile(`(?i)gpt[- ]?(\d+)[.\d]*[- .]*(.*)`)
	unwanted = regexp.MustCompile(`[^a-z0-9-]+`)
)

// shortModel is what tells a model from others in a folder's name: "opus" for
// claude-opus-4-6, "gpt5-codex" for gpt-5.2-codex, else the last part.
func shortModel(model string) string {
	if family := families.FindString(model); family != "" {
		return strings.ToLower(family)
	}
	if m := gpt.FindStringSubmatch(model); m != nil {
		if m[2] == "" {
			return "gpt" + m[1]
		}
		return "gpt" + m[1] + "-" + plain(m[2])
	}
	parts := strings.FieldsFunc(model, func(r rune) bool { return strings.ContainsRune("/:-", r) })
	if len(parts) == 0 {
		return "default"
	}
	return plain(parts[len(parts)-1])
}

// plain leaves what is safe in a path and in a branch on every system.
func plain(s string) string {
	s = strings.Trim(unwanted.ReplaceAllString(strings.ToLower(s), ""), "-")
	if s == "" {
		return "default"
	}
	return s
}

// Branch is the branch of one try.
func Branch(group, suffix string) string { return prefix + group + "/" + suffix }

// Folder is where its worktree lies: beside the repository, never in it.
func Folder(main, group, suffix string) string {
	return strings.TrimSuffix(main, ".git") + "-try-" + group + "-" + suffix
}

var safeName = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9-]*$`)

// checkName refuses what would not be one part of a path and of a branch.
func checkName(what, name string) error {
	if !safeName.MatchString(name) || len(name) > 100 {
		return fmt.Errorf("%s %q: only letters, digits and hyphens", what, name)
	}
	return nil
}

// groupFolder finds the group in a folder's name behind "<repo>-try-". It knows
// a worktree again whose agent has left the branch.
var groupFolder = regexp.MustCompile(`^(g-[0-9a-f]{6})-(.+)$`)

// groupOf returns group and suffix of a worktree: by its branch, else by its
// folder; empty for a worktree that isn't a try.
func groupOf(main, branch, folder string) (group, suffix string) {
	if rest, ok := strings.CutPrefix(branch, prefix); ok {
		if g, s, found := strings.Cut(rest, "/"); found && g != "" && s != "" {
			return g, s
		}
	}
	if m := groupFolder.FindStringSubmatch(ofTry(main, folder)); m != nil {
		return m[1], m[2]
	}
	return "", ""
}

// ofTry is what follows "<repo>-try-" in the name of a folder; empty: it isn't
// that of a try.
func ofTry(main, folder string) string {
	rest, ok := strings.CutPrefix(base(folder), strings.TrimSuffix(base(main), ".git")+"-try-")
	if !ok {
		return ""
	}
	return rest
}

// groupAmong is groupOf by the folder and the branches (refs) that launches have
// made: where the name of a group that the user chose ends, the folder's name
// does not tell.
func groupAmong(tries []string, main, folder string) (group, suffix string) {
	for _, ref := range tries {
		g, s, ok := strings.Cut(strings.TrimPrefix(ref, "refs/heads/"+prefix), "/")
		if ok && ofTry(main, folder) == g+"-"+s {
			return g, s
		}
	}
	return "", ""
}
