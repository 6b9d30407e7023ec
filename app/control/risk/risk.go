// Package risk returns what looks dangerous in a request of an agent. Its rules are the only ones: the command line, the window and notifications show what
// it says.
//
// The reasons help the eye and decide nothing: what is not marked may be dangerous as well, so a request is always shown in full. Which requests one key
// allows is decided by package reading.
package risk

import (
	"cmp"
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"rollcall/adapters"
	"rollcall/app/present"
)

// Dangers returns why a request of a session that works in folder is dangerous, in words, each reason once; nil if nothing dangerous is known of it. An
// empty folder means that it is not known. Dangers looks at no files.
func Dangers(r *adapters.Request, folder string) []string {
	j := &judge{folder: cmp.Or(folder, r.Folder), dir: cmp.Or(r.Folder, folder), download: map[string]bool{}}
	j.markIf(strings.ContainsFunc(r.Text, isHidden), "has invisible characters or terminal commands in it")
	switch r.Kind {
	case adapters.AsksCommand:
		j.script(r.Text)
	case adapters.AsksFileChange:
		j.fileChange(r.Text)
	case adapters.AsksPermission:
		eachString("", arguments(r.Text), j.argument)
	default:
		return nil
	}
	return j.dangers
}

// noScript is the reason for a command that is no shell script.
const noScript = "can't be parsed as a shell command"

// OfCall is Dangers for a call of which only the text is known, as an agent's records have it: it may be no command, and may be cut.
func OfCall(text, folder string) []string {
	reasons := Dangers(&adapters.Request{Kind: adapters.AsksCommand, Text: text}, folder)
	return slices.DeleteFunc(reasons, func(r string) bool { return r == noScript })
}

// isHidden reports whether a reader does not see a character.
func isHidden(r rune) bool { return r != '\n' && r != '\t' && present.Invisible(r) }

// arguments returns the JSON value that is a text, or that follows its first line, the name of a tool; nil: it has none.
func arguments(text string) (v any) {
	_, rest, _ := strings.Cut(text, "\n")
	if json.Unmarshal([]byte(text), &v) != nil {
		_ = json.Unmarshal([]byte(rest), &v)
	}
	return v
}

// pathKeys are the names of the arguments of tools that name a file.
var pathKeys = []string{"file_path", "notebook_path", "path", "filePath", "filepath"}

// fileChange checks the files that a change names: in the arguments of a tool, or in a patch, in the form of apply_patch or that of diff.
func (j *judge) fileChange(text string) {
	v := arguments(text)
	if v == nil {
		v = text
	}
	eachString("", v, func(key, value string) {
		switch {
		case slices.Contains(pathKeys, key):
			j.writes(value)
		case value == text || strings.Contains(value, "*** Begin Patch"):
			for _, m := range patched().FindAllStringSubmatch(value, -1) {
				j.writes(strings.TrimSpace(m[1]))
			}
		}
	})
}

var patched = lazy(`(?m)^\s*(?:\*\*\* (?:Add File|Update File|Delete File|Move to): |\+\+\+ |--- |Index: |rename to )([^\t\n]+)`)

// argument checks an argument of a tool that is neither a command nor a change of files. Each command has a shell of its own, in the session's folder.
func (j *judge) argument(key, value string) {
	switch {
	case key == "command" || key == "commands":
		j.script(value)
	case slices.Contains(pathKeys, key):
		j.reads(value)
	case key == "dangerouslyDisableSandbox" && value == "true":
		j.mark("leaves its sandbox")
	}
}

// eachString calls f with each text and truth value in a JSON value, and with the name of the member that it is in.
func eachString(key string, v any, f func(key, value string)) {
	switch v := v.(type) {
	case string:
		f(key, v)
	case bool:
		f(key, map[bool]string{true: "true", false: "false"}[v])
	case map[string]any:
		for _, name := range slices.Sorted(maps.Keys(v)) {
			eachString(name, v[name], f)
		}
	case []any:
		for _, m := range v {
			eachString(key, m, f)
		}
	}
}
