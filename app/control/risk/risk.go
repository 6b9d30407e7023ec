// Package risk returns what looks dangerous in a request of an agent. Its rules are the only ones: the command line, the window and notifications show what
// it says.
//
// The reasons help the eye and decide nothing: what is not marked may be dangerous as well, so a request is always shown in full. Which requests one key
// allows is decided by package reading.
package risk

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"time"

	"rollcall/adapters"
	"rollcall/app/present"
)

// limit is how long a request may take to be judged.
const limit = 3 * time.Second

// Dangers returns why a request of a session that works in folder is dangerous, in words, each reason once; nil if nothing dangerous is known of it. An
// empty folder means that it is not known. Dangers looks at no files, and returns within about three seconds.
func Dangers(r *adapters.Request, folder string) []string {
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	return dangers(ctx, r, folder)
}

func dangers(ctx context.Context, r *adapters.Request, folder string) []string {
	j := newJudge(ctx, folder, r.Folder)
	if j.late() {
		return j.dangers
	}
	j.mark(hidden(r.Text)...)
	switch r.Kind {
	case adapters.AsksCommand:
		j.script(r.Text)
	case adapters.AsksFileChange:
		j.fileChange(r.Text)
	case adapters.AsksPermission:
		j.tool(r.Text)
	default:
		return nil
	}
	return j.dangers
}

func newJudge(ctx context.Context, folder, dir string) *judge {
	if folder == "" {
		folder = dir
	}
	if dir == "" {
		dir = folder
	}
	return &judge{ctx: ctx, folder: folder, dir: dir, download: map[string]bool{}}
}

// hidden returns a reason if a text has characters that a reader does not see.
func hidden(text string) []string {
	for _, r := range text {
		if r != '\n' && r != '\t' && present.Invisible(r) {
			return []string{"has invisible characters or terminal commands in it"}
		}
	}
	return nil
}

// patchMarks begin the lines of a patch that name a file, in the form of apply_patch and in that of diff.
var patchMarks = []string{"*** Add File: ", "*** Update File: ", "*** Delete File: ", "*** Move to: ", "+++ ", "--- ", "Index: ", "rename to "}

// fileChange checks the files that a change names: in the arguments of a tool, or in a patch.
func (j *judge) fileChange(text string) {
	for _, f := range filesOf(text) {
		if j.late() {
			return
		}
		j.writes(word{text: f, literal: true})
	}
}

// filesOf returns the files that a change of files names.
func filesOf(text string) (files []string) {
	name, rest, _ := strings.Cut(text, "\n")
	var input any
	for _, part := range []string{text, rest} {
		if json.Unmarshal([]byte(part), &input) == nil {
			eachString(input, func(key, value string) {
				switch {
				case slices.Contains(pathKeys, key):
					files = append(files, value)
				case strings.Contains(value, "*** Begin Patch"):
					files = append(files, patchFiles(value)...)
				}
			})
			return files
		}
	}
	files = patchFiles(text)
	if len(files) > 0 && !strings.HasPrefix(name, "***") && !strings.HasPrefix(name, "--- ") && !strings.HasPrefix(name, "Index: ") {
		files = append(files, strings.TrimSpace(name)) // OpenCode names the file above its diff
	}
	return files
}

// pathKeys are the names of the arguments of tools that name a file.
var pathKeys = []string{"file_path", "notebook_path", "path", "filePath", "filepath"}

func patchFiles(text string) (files []string) {
	for line := range strings.Lines(text) {
		for _, m := range patchMarks {
			if file, ok := strings.CutPrefix(strings.TrimSpace(line), m); ok {
				file, _, _ = strings.Cut(file, "\t")
				if file != "/dev/null" {
					files = append(files, strings.TrimSpace(file))
				}
			}
		}
	}
	return files
}

// eachString calls f with each text in a JSON value and with the name of the member that it is in.
func eachString(v any, f func(key, value string)) {
	switch v := v.(type) {
	case map[string]any:
		for key, m := range v {
			if s, ok := m.(string); ok {
				f(key, s)
			} else {
				eachString(m, f)
			}
		}
	case []any:
		for _, m := range v {
			if s, ok := m.(string); ok {
				f("", s)
			} else {
				eachString(m, f)
			}
		}
	}
}

// tool checks the call of a tool that is neither a command nor a change of files: its name, and its arguments as JSON.
func (j *judge) tool(text string) {
	_, rest, _ := strings.Cut(text, "\n")
	var input map[string]any
	if json.Unmarshal([]byte(rest), &input) != nil {
		return
	}
	// Each command has a shell of its own, in the session's folder.
	list, _ := input["commands"].([]any)
	for _, v := range append(list, input["command"]) {
		if command, ok := v.(string); ok {
			j.script(command)
		}
	}
	j.markIf(input["dangerouslyDisableSandbox"] == true, "leaves its sandbox")
	eachString(input, func(key, value string) {
		if !j.late() && slices.Contains(pathKeys, key) {
			j.reads(word{text: value})
		}
	})
}
