package settings

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// Machine is another machine, container or user whose sessions are shown beside those of this machine.
type Machine struct {
	Name string `toml:"name" json:"name"`
	// SSH is what the user would write after ssh: user@host, or a host of ~/.ssh/config.
	SSH string `toml:"ssh" json:"ssh,omitempty"`
	// Exec is the command that starts Rollcall there; it is used instead of SSH: ["docker", "exec", "-i", "dev", "rollcall"].
	Exec []string `toml:"exec" json:"exec,omitempty"`
	// Path is Rollcall's path on the other side of SSH; empty: the one in PATH or in ~/.local/bin.
	Path string `toml:"path" json:"path,omitempty"`
}

// Equal reports whether two machines are the same and reached in the same way.
func (m *Machine) Equal(o *Machine) bool {
	return m.Name == o.Name && m.SSH == o.SSH && m.Path == o.Path && slices.Equal(m.Exec, o.Exec)
}

// maxMachines is larger than the number of machines that a person has.
const maxMachines = 100

// machineName matches valid names: they appear in session ids before a colon, and in commands after -H.
var machineName = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]{0,39}$`)

// Check returns an error for a machine that cannot be used. The texts of a machine become arguments of a command; no shell
// of this machine interprets them.
func (m *Machine) Check() error {
	switch {
	case m.Name == "":
		return errors.New("name is missing")
	case !machineName.MatchString(m.Name):
		return errors.New("name must be 1 to 40 letters, digits, dots, hyphens and underscores, and begin with a letter or digit")
	case m.Name == "agent" || m.Name == "process":
		return fmt.Errorf("name must not be %q, which session ids begin with", m.Name)
	case m.SSH == "" && len(m.Exec) == 0:
		return errors.New(`ssh is missing; use ssh = "user@host", or exec = ["docker", "exec", "-i", "dev", "rollcall"]`)
	case m.SSH != "" && len(m.Exec) > 0:
		return errors.New("it has both ssh and exec; remove one of them")
	case strings.HasPrefix(m.SSH, "-") || strings.ContainsFunc(m.SSH, func(r rune) bool { return r <= ' ' || r == 0x7f }):
		return errors.New("ssh must be user@host or a host of your ssh configuration, without a space and not beginning with a hyphen")
	case len(m.Exec) > 0 && (m.Exec[0] == "" || strings.ContainsRune(strings.Join(m.Exec, ""), 0)):
		return errors.New("exec must begin with a program")
	case m.Path != "" && m.SSH == "":
		return errors.New("path can be used only with ssh; exec names the program itself")
	case strings.HasPrefix(m.Path, "-") || strings.ContainsAny(m.Path, "\x00\r\n"):
		return errors.New("path must be a path on one line that does not begin with a hyphen")
	}
	return nil
}

// entryLine returns the number of the line that begins the i-th entry [[table]] of the settings; 0: it is not known.
func entryLine(text []byte, table string, i int) int {
	header := regexp.MustCompile(`(?m)^[ \t]*\[\[[ \t]*` + table + `[ \t]*\]\]`)
	at := header.FindAllIndex(text, i+1)
	if len(at) <= i {
		return 0
	}
	return 1 + strings.Count(string(text[:at[i][1]]), "\n")
}

// checkMachines returns what is wrong with the machines, and removes those that cannot be used.
func (s *Settings) checkMachines(path string, text []byte) (bad []error) {
	s.Machines, bad = usable(s.Machines, path, text, "machine", maxMachines, func(m *Machine) (string, error) { return m.Name, m.Check() })
	return bad
}

// usable returns the entries [[table]] of the settings that can be used, at most so many, and what is wrong with the others. check returns the name of an
// entry, which no other may have, and what is wrong with it.
func usable[T any](entries []T, path string, text []byte, table string, most int, check func(*T) (name string, err error)) (kept []T, bad []error) {
	first := map[string]int{}
	for i := range entries {
		name, err := check(&entries[i])
		if before, twice := first[name]; err == nil && twice {
			other := strings.TrimSuffix("see"+inLine(entryLine(text, table, before)), ":")
			err = fmt.Errorf("another %s has this name (%s); give each its own name", table, other)
		}
		if err == nil && len(kept) == most {
			err = fmt.Errorf("only the first %d %ss are used", most, table)
		}
		switch {
		case err == nil:
			first[name] = i
			kept = append(kept, entries[i])
		case len(bad) < maxLines:
			bad = append(bad, fmt.Errorf("settings: %s:%s %s %q is ignored: %w", path, inLine(entryLine(text, table, i)), table, name, err))
		}
	}
	return kept, bad
}
