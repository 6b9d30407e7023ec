package settings

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/BurntSushi/toml"

	"rollcall/app/store"
	"rollcall/bounded"
)

// Edit is the change of one setting.
type Edit struct {
	Table string // "notifications"; empty: the setting is in no table
	Key   string
	Value any // a string, a bool, a list of strings, of OneKey or Homes, or texts by their names; nil: the default, for which the setting is removed
}

// Text returns the value of a setting as the file writes it, without quotation marks: a text, a time, a number or true and false. It is empty for a setting that
// is not set.
func (s *Settings) Text(e Edit) string {
	v := reflect.ValueOf(s).Elem()
	for _, key := range []string{e.Table, e.Key} {
		if t := v.Type(); key != "" {
			v = v.FieldByNameFunc(func(name string) bool {
				f, _ := t.FieldByName(name)
				return f.Tag.Get("toml") == key
			})
		}
	}
	return fmt.Sprint(v.Interface())
}

// Change changes settings in the file at path, which it creates if it is missing. All other settings, also those that this
// version does not know, and all comments stay as they are. If it can't change a setting without changing more, it changes
// nothing, and the error says why.
func Change(path string, edits ...Edit) error {
	return rewrite(path, func(text []byte) (after []byte, err error) {
		after = text
		for _, e := range edits {
			after, err = applyWritten(after, e)
			if err != nil {
				return nil, err
			}
		}
		return after, nil
	})
}

// rewrite replaces the content of the file at path by what change returns for it. It does not wait for a file system that does not answer.
func rewrite(path string, change func([]byte) ([]byte, error)) error {
	if target, err := filepath.EvalSymlinks(path); err == nil {
		path = target // a symbolic link, such as users of dotfiles create, is kept
	}
	_, err := bounded.In(filepath.Dir(path), bounded.WriteLimit, func(left context.Context) (struct{}, error) {
		return struct{}{}, rewriteWithin(left, path, change)
	})
	if err != nil {
		return fmt.Errorf("change the settings: %w", err)
	}
	return nil
}

func rewriteWithin(left context.Context, path string, change func([]byte) ([]byte, error)) error {
	dir, err := store.MakeDir(filepath.Dir(path))
	if err != nil {
		return err
	}
	defer dir.Close()
	name := filepath.Base(path)
	before, info, err := dir.Read(name, maxSize)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	after, err := change(before)
	if err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	if bytes.Equal(before, after) {
		return nil
	}
	mode := fs.FileMode(0o600)
	if info != nil {
		mode = info.Mode().Perm()
	}
	return replaceFile(left, dir, name, before, after, mode)
}

// replaceFile replaces a file that has the content before.
func replaceFile(left context.Context, dir *store.Dir, name string, before, after []byte, mode fs.FileMode) (err error) {
	temp := fmt.Sprintf(".%s.%x", name, rand.Uint64())
	if err := dir.WriteNew(temp, after, mode); err != nil {
		return err
	}
	defer func() {
		if err != nil {
			_ = dir.Remove(temp)
		}
	}()
	now, _, err := dir.Read(name, maxSize)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if !bytes.Equal(now, before) {
		return fmt.Errorf("%s was changed meanwhile: try again", dir.File(name))
	}
	if left.Err() != nil {
		return bounded.ErrNoAnswer
	}
	if err := dir.Rename(temp, name); err != nil {
		return err
	}
	dir.Sync()
	return nil
}

// applyWritten returns the text with one change, in the form in which the text has the setting.
func applyWritten(text []byte, e Edit) ([]byte, error) {
	var before map[string]any
	if _, err := toml.Decode(string(text), &before); err != nil {
		return nil, fmt.Errorf("%s; correct that first", explain(err))
	}
	for _, e := range e.asWritten(before) {
		var err error
		text, err = apply(text, e)
		if err != nil {
			return nil, err
		}
	}
	return text, nil
}

// apply returns the text with one change.
func apply(text []byte, e Edit) ([]byte, error) {
	before := map[string]any{}
	if _, err := toml.Decode(string(text), &before); err != nil {
		return nil, fmt.Errorf("%s; correct that first", explain(err))
	}
	key := []string{e.Key}
	if e.Table != "" {
		key = []string{e.Table, e.Key}
	}
	value, err := literal(e.Value)
	if err != nil {
		return nil, err
	}
	lines := strings.SplitAfter(string(text), "\n")
	at := lineOf(text, key...)
	switch {
	case at > 0:
		lines, err = replaceLine(lines, at-1, e, value)
	case e.Value == nil:
		return text, nil
	case e.Table != "" && before[e.Table] != nil && tableLine(lines, e.Table) < 0:
		return nil, fmt.Errorf("%s cannot be changed here, since the file has no line [%s]: set it in the file", strings.Join(key, "."), e.Table)
	default:
		lines = insertLine(lines, e, value)
	}
	if err != nil {
		return nil, err
	}
	after := []byte(strings.Join(lines, ""))
	if !changesOnly(before, after, e) {
		return nil, fmt.Errorf("%s cannot be changed here without changing something else: set it in the file", strings.Join(key, "."))
	}
	return after, nil
}

// valueLine matches a line that sets a key to a value that ends on it.
var valueLine = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^(\s*[\w."'-]+\s*=\s*)("(?:[^"\\]|\\.)*"|'[^']*'|\[(?:[^\[\]"']|"(?:[^"\\]|\\.)*"|'[^']*')*\]|\{(?:[^{}"']|"(?:[^"\\]|\\.)*"|'[^']*')*\}|[^\s#"'\[{]+)(\s*(?:#[^\r\n]*)?\r?\n?)$`)
})

// replaceLine replaces the value on a line, or removes the line if there is no value.
func replaceLine(lines []string, at int, e Edit, value string) ([]string, error) {
	parts := valueLine().FindStringSubmatch(lines[at])
	// The braces on a line may be those of the table that has the key.
	inTable := parts != nil && strings.HasPrefix(parts[2], "{") && !strings.HasSuffix(strings.TrimRight(parts[1], " \t="), e.Key)
	if parts == nil || inTable || strings.HasPrefix(parts[2], `""`) && len(parts[2]) > 2 {
		return nil, fmt.Errorf("line %d: %s is written in a way that cannot be changed here, such as over several lines: change it in the file", at+1, e.Key)
	}
	out := append([]string{}, lines...)
	if e.Value == nil {
		return append(out[:at], out[at+1:]...), nil
	}
	out[at] = parts[1] + value + parts[3]
	return out, nil
}

// insertLine adds a setting: at the top of its table, which it adds at the end of the file if there is none, or before
// the first table.
func insertLine(lines []string, e Edit, value string) []string {
	end := "\n"
	if len(lines) > 0 && strings.HasSuffix(lines[0], "\r\n") {
		end = "\r\n"
	}
	added := e.Key + " = " + value + end
	at := len(lines)
	if e.Table == "" {
		for i, l := range lines {
			if strings.HasPrefix(strings.TrimSpace(l), "[") {
				at = i
				break
			}
		}
		for at > 0 && at < len(lines) && strings.HasPrefix(strings.TrimSpace(lines[at-1]), "#") {
			at-- // the comment of the table stays above it
		}
		if at < len(lines) && strings.TrimSpace(lines[at]) != "" {
			added += end
		}
		return insertAt(lines, at, added, end)
	}
	if i := tableLine(lines, e.Table); i >= 0 {
		return insertAt(lines, i+1, added, end)
	}
	if strings.TrimSpace(strings.Join(lines, "")) != "" {
		added = end + "[" + e.Table + "]" + end + added
	} else {
		added = "[" + e.Table + "]" + end + added
	}
	return insertAt(lines, at, added, end)
}

// tableLine returns the index of the line that begins a table, or -1.
func tableLine(lines []string, table string) int {
	header := regexp.MustCompile(`^\s*\[\s*` + regexp.QuoteMeta(table) + `\s*\]\s*(#.*)?$`)
	return slices.IndexFunc(lines, func(l string) bool { return header.MatchString(strings.TrimRight(l, "\r\n")) })
}

// insertAt inserts text before a line. The line above it gets its missing end.
func insertAt(lines []string, at int, text, end string) []string {
	out := append([]string{}, lines[:at]...)
	for i := len(out) - 1; i >= 0; i-- {
		if out[i] == "" {
			continue
		}
		if !strings.HasSuffix(out[i], "\n") {
			out[i] += end
		}
		break
	}
	return append(append(out, text), lines[at:]...)
}

// changesOnly reports whether after has the settings of before with the edit, and no other change. It makes the edit in before.
func changesOnly(before map[string]any, after []byte, e Edit) bool {
	table := before
	if e.Table != "" {
		var exists bool
		table, exists = before[e.Table].(map[string]any)
		if !exists {
			table = map[string]any{}
			before[e.Table] = table
		}
	}
	now := map[string]any{}
	if _, err := toml.Decode(string(after), &now); err != nil || e.setIn(table) != nil {
		return false
	}
	for _, m := range []map[string]any{before, now} {
		if t, ok := m[e.Table].(map[string]any); ok && len(t) == 0 {
			delete(m, e.Table)
		}
	}
	return reflect.DeepEqual(before, now)
}

// setIn makes the edit in a table that was read from a file.
func (e *Edit) setIn(table map[string]any) error {
	if e.Value == nil {
		delete(table, e.Key)
		return nil
	}
	text, err := literal(e.Value)
	if err != nil {
		return err
	}
	var given map[string]any
	_, err = toml.Decode(assign+text, &given)
	table[e.Key] = given["value"]
	return err
}

// assign is the beginning of a line of TOML, which literal writes and setIn reads.
const assign = "value = "

// literal returns a value as TOML, in one line.
func literal(v any) (string, error) {
	if v == nil {
		return "", nil
	}
	if list, ok := v.(map[string]string); ok {
		return inlineTable(list)
	}
	line, err := toml.Marshal(map[string]any{"value": v})
	return strings.TrimSpace(strings.TrimPrefix(string(line), assign)), err
}

// inlineTable returns texts by their names as TOML, in one line.
func inlineTable(list map[string]string) (string, error) {
	var members []string
	for _, name := range slices.Sorted(maps.Keys(list)) {
		key, err := literal(name)
		if err != nil {
			return "", err
		}
		if bareKey.MatchString(name) {
			key = name
		}
		text, err := literal(list[name])
		if err != nil {
			return "", err
		}
		members = append(members, key+" = "+text)
	}
	return "{ " + strings.Join(members, ", ") + " }", nil
}

// bareKey matches a key that TOML writes without quotation marks.
var bareKey = regexp.MustCompile(`^[A-Za-z0-9_-]+$`)

// Mute adds a folder to those whose sessions have no notifications, or removes it.
func Mute(path, folder string, on bool) error {
	set, err := Load(path)
	if err != nil {
		return err
	}
	var list []string
	for _, p := range set.Notifications.Mute {
		if filepath.Clean(ExpandHome(p)) != filepath.Clean(folder) && p != literalPattern(folder) {
			list = append(list, p)
		}
	}
	if on {
		list = append(list, literalPattern(folder))
	}
	e := Edit{Table: "notifications", Key: "mute", Value: list}
	if len(list) == 0 {
		e.Value = nil
	}
	return Change(path, e)
}

// literalPattern returns the pattern that matches only this folder.
func literalPattern(folder string) string {
	if os.PathSeparator == '\\' { // a backslash escapes nothing there, and no name has the others
		return strings.ReplaceAll(folder, "[", "[[]")
	}
	return strings.NewReplacer(`\`, `\\`, "*", `\*`, "?", `\?`, "[", `\[`).Replace(folder)
}
