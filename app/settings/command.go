package settings

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

// Command is a command of the user's with placeholders, such as "kitty --directory {folder} {command}". No shell reads it: words are
// separated by spaces, and quotes keep a word together.
type Command string

// The placeholders in commands.
const (
	FolderPlaceholder  = "{folder}"  // the folder, as a word or a part of one
	CommandPlaceholder = "{command}" // the program with its arguments, as separate words
)

// Words returns the words of the command, which may be none. Within single or double quotes no character has a special meaning.
func (c Command) Words() (words []string, err error) {
	var word strings.Builder
	begun, quote := false, rune(0)
	for _, r := range string(c) {
		switch {
		case quote != 0 && r == quote:
			quote = 0
		case quote == 0 && (r == '"' || r == '\''):
			begun, quote = true, r
		case quote == 0 && (r == ' ' || r == '\t' || r == '\n'):
			if begun {
				words = append(words, word.String())
				word.Reset()
				begun = false
			}
		case r < ' ' || r == 0x7f:
			return nil, errors.New("it contains a control character")
		default:
			begun = true
			word.WriteRune(r)
		}
	}
	if quote != 0 {
		return nil, fmt.Errorf("a quotation mark %c is not closed", quote)
	}
	if begun {
		words = append(words, word.String())
	}
	return words, nil
}

// Expand returns the words with the placeholders replaced. A folder or a command that has no placeholder comes last.
func (c Command) Expand(folder string, command []string) ([]string, error) {
	words, err := c.Words()
	if err != nil || len(words) == 0 {
		return nil, err
	}
	var out []string
	named, given := false, false
	for _, w := range words {
		if w == CommandPlaceholder && command != nil {
			out, given = append(out, command...), true
			continue
		}
		named = named || strings.Contains(w, FolderPlaceholder)
		out = append(out, strings.ReplaceAll(w, FolderPlaceholder, folder))
	}
	switch {
	case command != nil && !given:
		out = append(out, command...)
	case command == nil && !named:
		out = append(out, folder)
	}
	return out, nil
}

// checkCommands returns what is wrong with the commands for the terminal and the editor, and removes them.
func (s *Settings) checkCommands() (bad []mistake) {
	for _, c := range []struct {
		key   string
		value *Command
		known []string
	}{{"terminal", &s.Terminal, []string{FolderPlaceholder, CommandPlaceholder}}, {"editor", &s.Editor, []string{FolderPlaceholder}}} {
		words, err := c.value.Words()
		switch {
		case err != nil:
		case *c.value != "" && (len(words) == 0 || words[0] == "" || strings.Contains(words[0], "{")):
			err = errors.New("it must begin with a program")
		default:
			err = checkPlaceholders(words, c.known)
		}
		if err != nil {
			bad = append(bad, mistake{[]string{c.key}, fmt.Sprintf("%s is ignored: %v", c.key, err)})
			*c.value = ""
		}
	}
	return bad
}

// checkPlaceholders returns an error for a placeholder that is not known, or is part of a word where it must be a whole one.
func checkPlaceholders(words, known []string) error {
	for _, w := range words {
		if strings.Contains(w, CommandPlaceholder) && w != CommandPlaceholder {
			return fmt.Errorf("%s must be a separate word", CommandPlaceholder)
		}
		for rest := w; ; {
			_, after, found := strings.Cut(rest, "{")
			name, next, closed := strings.Cut(after, "}")
			if !found || !closed {
				break
			}
			if !slices.Contains(known, "{"+name+"}") {
				return fmt.Errorf("it has no placeholder {%s}; there is %s", name, strings.Join(known, " and "))
			}
			rest = next
		}
	}
	return nil
}
