package settings

import (
	"errors"
	"fmt"
	"path/filepath"
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

// literal returns the home as TOML.
func (h *Home) literal() string {
	if h.Name == "" {
		return quoted(h.Path)
	}
	return "{path = " + quoted(h.Path) + ", name = " + quoted(h.Name) + "}"
}

// Homes are the homes of one agent in the settings.
type Homes []Home

// check returns what is wrong with a home; empty: nothing.
func (h *Home) check() string {
	switch {
	case !filepath.IsAbs(ExpandHome(h.Path)) || strings.ContainsRune(h.Path, 0):
		return fmt.Sprintf("%q is ignored: a folder begins with / or ~/ (on Windows with a drive)", h.Path)
	case h.Name != strings.TrimSpace(h.Name) || strings.ContainsFunc(h.Name, func(r rune) bool { return r < ' ' }) || len(h.Name) > 40:
		return fmt.Sprintf("the name of %q is ignored: it is one line of at most 40 bytes, without spaces around it", h.Path)
	}
	return ""
}

// Account returns the name of a home of an agent: that of the settings, otherwise that of its folder without a leading dot. It is empty
// if home is.
func (s *Settings) Account(agent adapters.Name, home string) string {
	if home == "" {
		return ""
	}
	for _, h := range s.Homes[agent] {
		if h.Name != "" && isPath(filepath.Clean(ExpandHome(h.Path)), home) {
			return h.Name
		}
	}
	return strings.TrimPrefix(filepath.Base(home), ".")
}

// isPath reports whether both paths name the same folder.
func isPath(path, other string) bool {
	if path == other {
		return true
	}
	real, err := filepath.EvalSymlinks(path)
	if err != nil {
		return false
	}
	target, err := filepath.EvalSymlinks(other)
	return err == nil && target == real
}
