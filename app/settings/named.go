package settings

import (
	"errors"
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"rollcall/adapters"
)

// NamedAgent is an agent that the user named: Rollcall shows its processes and starts it, and reads none of its files.
type NamedAgent struct {
	Name string `toml:"name"`
	// Program is the name of its program, or several; the first one is started. Without one it is the name.
	Program Names `toml:"program"`
	// Launch are the arguments with which it is started, with {prompt} in the place of the prompt; without {prompt} the prompt goes to standard input.
	Launch []string `toml:"launch"`
	// Resume are the arguments with which it continues its last conversation in a folder.
	Resume []string `toml:"resume"`
	// TitleWorking and TitleWaiting are regular expressions of the terminal's title in tmux and kitty.
	TitleWorking string `toml:"title_working"`
	TitleWaiting string `toml:"title_waiting"`
	// Rows is the command of a program that lists its sessions: an absolute path and arguments.
	Rows []string `toml:"rows"`
	// Requests is that of a program that lists what its sessions ask, and Answer that of one that takes the answers.
	Requests []string `toml:"requests"`
	Answer   []string `toml:"answer"`
}

// Names is a name, or a list of names.
type Names []string

// UnmarshalTOML implements toml.Unmarshaler.
func (n *Names) UnmarshalTOML(value any) error {
	list, ok := value.([]any)
	if !ok {
		list = []any{value}
	}
	*n = nil
	for _, v := range list {
		text, ok := v.(string)
		if !ok {
			return errors.New(`program is a name, such as "aider", or a list of names`)
		}
		*n = append(*n, text)
	}
	return nil
}

const (
	maxNamed   = 50  // more agents than a person uses
	maxPattern = 500 // bytes of a pattern
)

var (
	namedName   = regexp.MustCompile(`^[a-z0-9][a-z0-9-]{0,39}$`)
	placeholder = regexp.MustCompile(`\{[a-z_]+\}`)
)

// unread returns the agent in the adapters' form. The error says what is wrong with it.
func (n *NamedAgent) unread() (adapters.Unread, error) {
	u := adapters.Unread{Name: adapters.Name(n.Name), Programs: n.Program, Launch: n.Launch, Resume: n.Resume, Rows: slices.Clone(n.Rows),
		Requests: slices.Clone(n.Requests), Answer: slices.Clone(n.Answer)}
	own, known := adapters.Describe(u.Name)
	switch {
	case n.Name == "":
		return u, errors.New(`name is missing, such as name = "aider"`)
	case !namedName.MatchString(n.Name):
		return u, errors.New("name must be 1 to 40 lower-case letters, digits and hyphens, and begin with a letter or digit")
	case n.Name == "agent" || n.Name == "process":
		return u, fmt.Errorf("name must not be %q, which session ids begin with", n.Name)
	case known && !own.Unread:
		return u, fmt.Errorf("it is %s, which Rollcall reads itself: remove the entry, or give it another name", own.Title)
	}
	for _, program := range append(slices.Clone(n.Program), n.Name) {
		if err := checkProgram(program); err != nil {
			return u, err
		}
	}
	for _, arg := range slices.Concat(n.Launch, n.Resume) {
		if strings.ContainsRune(arg, 0) {
			return u, errors.New("an argument of launch or resume has a character that no argument can have")
		}
		if found := placeholder.FindString(arg); found != "" && found != adapters.PromptPlaceholder {
			return u, fmt.Errorf("launch and resume have no placeholder %s; there is %s", found, adapters.PromptPlaceholder)
		}
	}
	if err := checkPrograms(&u); err != nil {
		return u, err
	}
	var err error
	u.Working, err = pattern("title_working", n.TitleWorking)
	if err != nil {
		return u, err
	}
	u.Waiting, err = pattern("title_waiting", n.TitleWaiting)
	return u, err
}

// checkProgram returns an error for the name of a program that is no file name, or that other programs have.
func checkProgram(name string) error {
	if name == "" || len(name) > 100 || strings.ContainsAny(name, "/\\\x00\n") || strings.TrimSpace(name) != name {
		return fmt.Errorf("program %q must be the name of a file, without its folder, such as \"aider\"", name)
	}
	if adapters.IsShell(name) || adapters.IsNode(name) {
		return fmt.Errorf("program %q runs scripts of all kinds: use the name of the agent's script, such as \"aider\"", name)
	}
	for _, d := range adapters.Described() {
		if d.Program == name || slices.ContainsFunc(d.Processes, func(p string) bool { return adapters.IsNamed(name, p) }) {
			return fmt.Errorf("program %q is that of %s, which Rollcall reads itself", name, d.Title)
		}
	}
	return nil
}

// checkPrograms returns an error for the programs that speak for an agent.
func checkPrograms(u *adapters.Unread) error {
	switch {
	case u.Requests != nil && u.Rows == nil:
		return errors.New("requests needs rows: only a session that the program of rows lists asks something")
	case u.Answer != nil && u.Requests == nil:
		return errors.New("answer needs requests, the program that lists what can be answered")
	}
	for _, c := range []struct {
		key     string
		command []string
	}{{"rows", u.Rows}, {"requests", u.Requests}, {"answer", u.Answer}} {
		if err := checkCommand(c.key, c.command); err != nil {
			return err
		}
	}
	return nil
}

// checkCommand returns an error for a command that is not run: it must be what the user entered, and nothing that an agent can write. It replaces a leading ~.
func checkCommand(key string, command []string) error {
	for i, arg := range command {
		command[i] = ExpandHome(arg)
		if i == 0 && !filepath.IsAbs(command[0]) {
			return fmt.Errorf("%s must begin with the absolute path of a program, not %q", key, arg)
		}
		for _, d := range adapters.Described() {
			for _, folder := range d.Folders {
				if isBelow(command[i], ExpandHome("~/"+folder)) {
					return fmt.Errorf("%s must name no file in %s, which %s writes: move the program to a folder of yours", key, folder, d.Title)
				}
			}
		}
	}
	return nil
}

// isBelow reports whether a path is in a folder, also through links.
func isBelow(path, folder string) bool {
	if !filepath.IsAbs(path) {
		return false
	}
	target, err := filepath.EvalSymlinks(path)
	if err != nil {
		target = path
	}
	for _, p := range []string{filepath.Clean(path), target} {
		if rest, err := filepath.Rel(folder, p); err == nil && rest != ".." && !strings.HasPrefix(rest, ".."+string(filepath.Separator)) {
			return true
		}
	}
	return false
}

// pattern returns a regular expression of the settings; nil: there is none.
func pattern(key, text string) (*regexp.Regexp, error) {
	switch {
	case text == "":
		return nil, nil
	case len(text) > maxPattern:
		return nil, fmt.Errorf("%s is longer than %d bytes", key, maxPattern)
	}
	re, err := regexp.Compile(text)
	if err != nil {
		return nil, fmt.Errorf("%s is no regular expression: %s; write a special character with a backslash before it", key, strings.TrimPrefix(err.Error(), "error parsing regexp: "))
	}
	return re, nil
}

// checkNamed returns what is wrong with the agents that the user named, and removes those that cannot be used.
func (s *Settings) checkNamed(path string, text []byte) (bad []error) {
	found := map[string]adapters.Unread{}
	s.Named, bad = usable(s.Named, path, text, "agent", maxNamed, func(n *NamedAgent) (string, error) {
		u, err := n.unread()
		if _, twice := found[n.Name]; err == nil && !twice {
			found[n.Name] = u
		}
		return n.Name, err
	})
	for _, n := range s.Named {
		s.Unread = append(s.Unread, found[n.Name])
	}
	return bad
}

// knows reports whether there is an agent with this name, of Rollcall or of the settings.
func (s *Settings) knows(name adapters.Name) bool {
	_, ok := adapters.Describe(name)
	return ok || slices.ContainsFunc(s.Unread, func(u adapters.Unread) bool { return u.Name == name })
}

// canLaunch reports whether an agent exists and can be launched.
func (s *Settings) canLaunch(name adapters.Name) bool {
	if i := slices.IndexFunc(s.Unread, func(u adapters.Unread) bool { return u.Name == name }); i >= 0 {
		return s.Unread[i].CanLaunch()
	}
	d, ok := adapters.Describe(name)
	return ok && d.Can.Launch
}

// agentNames returns the names of all agents, or of those that can be launched.
func (s *Settings) agentNames(launchable bool) string {
	var names []string
	for _, d := range adapters.Known() {
		names = append(names, string(d.Name))
	}
	for _, u := range s.Unread {
		names = append(names, string(u.Name))
	}
	slices.Sort(names)
	names = slices.Compact(names)
	if launchable {
		names = slices.DeleteFunc(names, func(name string) bool { return !s.canLaunch(adapters.Name(name)) })
	}
	return strings.Join(names, ", ")
}
