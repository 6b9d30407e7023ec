package settings

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"unicode"
)

// Answering determines which requests of agents may be answered from Rollcall. Without a value it is AnswerAll.
type Answering string

// The values of the setting "answering".
const (
	AnswerAll  Answering = "on"        // allow once, deny, and answers to questions; the default
	AnswerDeny Answering = "deny-only" // only deny
	AnswerNone Answering = "off"       // nothing is answered
)

// AnsweringTable is the setting "answering": a table, or only the value of its key "requests".
type AnsweringTable struct {
	Requests Answering `toml:"requests"`
	// OneKey are the commands that one key allows although they do more than read.
	OneKey []OneKey `toml:"one_key"`
}

// OneKey is a command that the user entered for a folder. Its text is compared as a whole.
type OneKey struct {
	Folder  string `toml:"folder"`
	Command string `toml:"command"`
}

// In reports whether the command was entered for a folder.
func (o *OneKey) In(folder string) bool {
	return filepath.Clean(ExpandHome(o.Folder)) == filepath.Clean(folder)
}

// MarshalTOML implements toml.Marshaler.
func (o OneKey) MarshalTOML() ([]byte, error) {
	folder, err := literal(o.Folder)
	if err != nil {
		return nil, err
	}
	command, err := literal(o.Command)
	return []byte("{folder = " + folder + ", command = " + command + "}"), err
}

// SetOneKey enters a command in the file at path, or removes it.
func SetOneKey(path string, o OneKey, on bool) error {
	set, err := Load(path)
	if err != nil {
		return err
	}
	list := slices.DeleteFunc(set.Answering.OneKey, func(other OneKey) bool {
		return other.Command == o.Command && other.In(ExpandHome(o.Folder))
	})
	if on {
		list = append(list, o)
	}
	e := Edit{Table: answeringTable, Key: "one_key", Value: list}
	if len(list) == 0 {
		e.Value = nil
	}
	return Change(path, e)
}

// answeringTable is the table of the setting. A file that has no commands has only its value, as earlier versions write it.
const answeringTable = "answering"

// asWritten returns the edits that change the setting "answering" in a file with these settings, as far as they depend on how it is written.
func (e *Edit) asWritten(before map[string]any) []Edit {
	text, isText := before[answeringTable].(string)
	_, isTable := before[answeringTable].(map[string]any)
	switch {
	case e.Table != answeringTable || isTable:
	case e.Key == "requests":
		return []Edit{{Key: answeringTable, Value: e.Value}}
	case isText && e.Value != nil:
		return []Edit{{Key: answeringTable}, {Table: answeringTable, Key: "requests", Value: text}, *e}
	}
	return []Edit{*e}
}

// maxOneKey is far above the length of a command that a person enters, in bytes.
const maxOneKey = 500

// CanBeOneKey reports whether a command can be entered: it is one line, all of whose characters a reader sees.
func CanBeOneKey(command string) bool {
	return command != "" && len(command) <= maxOneKey && strings.TrimSpace(command) == command &&
		!strings.ContainsFunc(command, func(r rune) bool {
			return r != ' ' && !unicode.IsGraphic(r) || r == unicode.ReplacementChar || r > 0x7e && unicode.IsSpace(r)
		})
}

// check returns what is wrong with a command; empty: nothing.
func (o OneKey) check() string {
	switch {
	case !filepath.IsAbs(ExpandHome(o.Folder)):
		return fmt.Sprintf(": the folder %q is ignored: a folder begins with / or ~/ (on Windows with a drive)", o.Folder)
	case !CanBeOneKey(o.Command):
		return fmt.Sprintf(": the command %.80q is ignored: it is one line of at most %d bytes, without spaces around it", o.Command, maxOneKey)
	}
	return ""
}

// UnmarshalTOML implements toml.Unmarshaler.
func (t *AnsweringTable) UnmarshalTOML(value any) error {
	if text, ok := value.(string); ok {
		*t = AnsweringTable{Requests: Answering(text)}
		return nil
	}
	const form = `answering is "on", "deny-only" or "off", or a table with requests and one_key = [{folder = "~/src/x", command = "go test ./..."}]`
	table, ok := value.(map[string]any)
	if !ok {
		return errors.New(form)
	}
	*t = AnsweringTable{}
	for key, v := range table {
		switch key {
		case "requests":
			text, ok := v.(string)
			if !ok {
				return errors.New(form)
			}
			t.Requests = Answering(text)
		case "one_key":
			if err := t.readOneKey(v); err != nil {
				return err
			}
		default:
			return fmt.Errorf("this version has no setting %q", "answering."+key)
		}
	}
	return nil
}

// readOneKey reads the entered commands.
func (t *AnsweringTable) readOneKey(value any) error {
	var list []map[string]any
	switch v := value.(type) {
	case []map[string]any:
		list = v
	case []any:
		for _, x := range v {
			m, _ := x.(map[string]any)
			list = append(list, m)
		}
	}
	for _, m := range list {
		folder, isFolder := m["folder"].(string)
		command, isCommand := m["command"].(string)
		if !isFolder || !isCommand || len(m) != 2 {
			return errors.New(`answering.one_key is a list of commands: [{folder = "~/src/x", command = "go test ./..."}]`)
		}
		t.OneKey = append(t.OneKey, OneKey{folder, command})
	}
	if len(list) == 0 && fmt.Sprint(value) != "[]" {
		return errors.New("answering.one_key is not a list")
	}
	return nil
}

// checkAnswering returns what is wrong with the setting "answering". After a mistake in its requests Rollcall answers nothing, since a user who writes the
// setting wants less than the default. A command with a mistake is removed.
func (s *Settings) checkAnswering() (bad []mistake) {
	t := &s.Answering
	t.OneKey = without(t.OneKey, &bad, []string{"answering", "one_key"}, OneKey.check)
	switch t.Requests {
	case "", AnswerAll, AnswerDeny, AnswerNone:
	default:
		bad = append(bad, mistake{[]string{"answering", "requests"}, fmt.Sprintf("answering is %q; use %q, %q or %q. Until then nothing is answered from here", t.Requests, AnswerAll, AnswerDeny, AnswerNone)})
		t.Requests = AnswerNone
	}
	return bad
}
