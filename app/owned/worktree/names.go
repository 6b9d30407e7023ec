package worktree

import (
	"fmt"
	"regexp"
	"strings"

	"rollcall/adapters"
	"rollcall/app/store"
)

// prefix is the first part of a try's branch: try/<group>/<suffix>.
const prefix = "try/"

// Slot is one agent of a group and its model.
type Slot struct {
	Agent adapters.Name
	Model string // empty: the agent's default
}

// NewGroup returns a new name for a launch group: "g-" and six random hexadecimal digits.
func NewGroup() string { return store.NewID("g-", 3) }

// Suffixes returns a name for each slot of a group: the agent's short name (cc), with the model's short name if the agent
// occurs more than once (cc-opus). It numbers duplicates (cc-2, cc-3).
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
	if d, ok := adapters.Describe(name); ok {
		return d.Short
	}
	return plain(string(name))
}

var (
	families = regexp.MustCompile(`(?i)opus|sonnet|haiku|fable`)
	gpt      = regexp.MustCompile(`(?i)gpt[- ]?(\d+)[.\d]*[- .]*(.*)`)
	unwanted = regexp.MustCompile(`[^a-z0-9-]+`)
)

// shortModel returns a short name for a model: "opus" for claude-opus-4-6, "gpt5-codex" for gpt-5.2-codex, or else the
// last part of its name.
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

// plain removes the characters that are not safe in paths and branches on every system.
func plain(s string) string {
	s = strings.Trim(unwanted.ReplaceAllString(strings.ToLower(s), ""), "-")
	if s == "" {
		return "default"
	}
	return s
}

// Branch returns the branch of one try.
func Branch(group, suffix string) string { return prefix + group + "/" + suffix }

// Folder returns the path of a try's worktree, next to the repository.
func Folder(main, group, suffix string) string {
	return strings.TrimSuffix(main, ".git") + "-try-" + group + "-" + suffix
}

var safeName = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9-]*$`)

// checkName returns an error for a name that is not valid as one part of a path and of a branch.
func checkName(what, name string) error {
	if !safeName.MatchString(name) || len(name) > 100 {
		return fmt.Errorf("the %s %q must consist of letters, digits and hyphens, and begin with a letter or digit", what, name)
	}
	return nil
}

// groupFolder matches the part of a folder's name after "<repo>-try-". It identifies a worktree whose agent has checked
// out another branch.
var groupFolder = regexp.MustCompile(`^(g-[0-9a-f]{6})-(.+)$`)

// groupOf returns the group and suffix of a worktree from its branch, or else from its folder. Both are empty for a
// worktree that is not a try.
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

// ofTry returns the part of a folder's name after "<repo>-try-", or an empty string for any other folder.
func ofTry(main, folder string) string {
	if rest, ok := strings.CutPrefix(base(folder), strings.TrimSuffix(base(main), ".git")+"-try-"); ok {
		return rest
	}
	return ""
}

// groupAmong returns the group and suffix of a folder whose branch is among the refs of tries. It is needed for groups
// that the user named: the folder's name does not show where such a name ends.
func groupAmong(tries []string, main, folder string) (group, suffix string) {
	for _, ref := range tries {
		g, s, ok := strings.Cut(strings.TrimPrefix(ref, "refs/heads/"+prefix), "/")
		if ok && ofTry(main, folder) == g+"-"+s {
			return g, s
		}
	}
	return "", ""
}
