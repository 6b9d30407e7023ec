package settings

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"rollcall/adapters"
)

// Home is a home of an agent in the settings: a path, or a table with a path and the name of the account.
type Home struct{ Path, Name string }

// UnmarshalTOML implements toml.Unmarshaler.
func (h *Home) UnmarshalTOML(value any) error {
	switch v := value.(type) {
	case string:
		*h = Home{Path: v}
		return nil
	case map[string]any:
		path, isPath := v["path"].(string)
		name, isName := v["name"].(string)
		if isPath && isName && len(v) == 2 {
			*h = Home{path, name}
			return nil
		}
	}
	return errors.New(`a home is a path, or a path with a name: {path = "~/.claude-work", name = "work"}`)
}

// MarshalTOML implements toml.Marshaler.
func (h Home) MarshalTOML() ([]byte, error) {
	path, err := literal(h.Path)
	if err != nil || h.Name == "" {
		return []byte(path), err
	}
	name, err := literal(h.Name)
	return []byte("{path = " + path + ", name = " + name + "}"), err
}

// Homes are the homes of one agent in the settings.
type Homes []Home

// check returns what is wrong with a home; empty: nothing.
func (h Home) check() string {
	switch {
	case !filepath.IsAbs(ExpandHome(h.Path)) || strings.ContainsRune(h.Path, 0):
		return fmt.Sprintf(": %q is ignored: a folder begins with / or ~/ (on Windows with a drive)", h.Path)
	case h.Name != strings.TrimSpace(h.Name) || strings.ContainsFunc(h.Name, func(r rune) bool { return r < ' ' }) || len(h.Name) > 40:
		return fmt.Sprintf(": the name of %q is ignored: it is one line of at most 40 bytes, without spaces around it", h.Path)
	}
	return ""
}

// Account returns the name of a home of an agent: that of the settings, otherwise that of its folder without a leading dot. Where all homes of an agent have the
// same name, it is that of the folder above, unless the home is where the agent has it by default. It is empty if home is.
func (s *Settings) Account(agent adapters.Name, home string) string {
	if home == "" {
		return ""
	}
	for _, h := range s.Homes[agent] {
		if h.Name != "" && isPath(filepath.Clean(ExpandHome(h.Path)), home) {
			return h.Name
		}
	}
	if d, _ := adapters.Describe(agent); d.HomeFolder == filepath.Base(home) {
		above := strings.TrimSuffix(filepath.Dir(home), filepath.Join(string(filepath.Separator), ".local", "share"))
		if above != filepath.Clean(ExpandHome("~")) {
			home = above
		}
	}
	return strings.TrimPrefix(filepath.Base(home), ".")
}

// isPath reports whether both paths name the same folder.
func isPath(path, other string) bool {
	if path == other {
		return true
	}
	one, err := filepath.EvalSymlinks(path)
	if err != nil {
		return false
	}
	two, err := filepath.EvalSymlinks(other)
	return err == nil && one == two
}

// NameAccount is Account for app.Config.Account: a home has a name where several are in use, or the settings name others.
func (s *Settings) NameAccount(agent adapters.Name, home string, several bool) string {
	if !several && len(s.Homes[agent]) == 0 {
		return ""
	}
	return s.Account(agent, home)
}

// Accounts returns the homes of an agent that the settings have and those that are used, each once, with its name.
func (s *Settings) Accounts(agent adapters.Name, used []string) (list Homes) {
	for _, home := range slices.Concat(s.HomesOf(agent), used) {
		if !slices.ContainsFunc(list, func(h Home) bool { return isPath(h.Path, home) }) {
			list = append(list, Home{home, s.Account(agent, home)})
		}
	}
	return list
}

// FindHome returns the home of an agent that the user means by name: a path, or the name of one of the homes that are used or that the settings have.
func (s *Settings) FindHome(agent adapters.Name, name string, used []string) (string, error) {
	if path := ExpandHome(name); filepath.IsAbs(path) {
		if why := homeProblem(path); why != "" {
			return "", fmt.Errorf("the home %s %s", path, why)
		}
		return filepath.Clean(path), nil
	}
	var found, names []string
	for _, a := range s.Accounts(agent, used) {
		if a.Name == name {
			found = append(found, a.Path)
		}
		if !slices.Contains(names, a.Name) {
			names = append(names, a.Name)
		}
	}
	switch {
	case len(found) == 1:
		return found[0], nil
	case len(found) > 1:
		return "", fmt.Errorf("%d homes are called %q (%s): use the path of one, or name them in the table [homes] of config.toml", len(found), name, strings.Join(found, ", "))
	case len(names) == 0:
		return "", fmt.Errorf("no home is called %q: use its path, or name it in the table [homes] of config.toml", name)
	}
	return "", fmt.Errorf("no home is called %q; homes: %s", name, strings.Join(names, ", "))
}
