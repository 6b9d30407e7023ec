// Package risk judges what a request of an agent would do. Its rules are the only ones: the command line, the window and notifications show what it says.
//
// A request is harmless only if everything in it is on a list of what is known to do no harm. It is dangerous if something in it
// is known to do harm, or hides what it does. All others are ordinary: they need a second look. The judgement helps the eye: what is not marked may be
// dangerous as well, so a request is always shown in full.
package risk

import (
	"context"
	"encoding/json"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"rollcall/adapters"
	"rollcall/app/present"
)

// Judgement is what a request would do, as far as that is known.
type Judgement struct {
	Dangers  []string // why it is dangerous, in words, each reason once; nil if nothing dangerous is known of it
	Harmless bool     // all of it is known to do no harm
}

// lookLimit is how long the folder may take to be looked at. A file system that hangs makes a request ordinary.
const lookLimit = 3 * time.Second

// Judge judges a request of a session that works in folder; empty: it is not known. Files count as the session's own only below
// this folder, after symbolic links are followed. Judge returns within about three seconds.
func Judge(r *adapters.Request, folder string) Judgement {
	ctx, cancel := context.WithTimeout(context.Background(), lookLimit)
	defer cancel()
	result := make(chan Judgement, 1)
	copied := *r
	go func() { result <- judgeNow(ctx, &copied, folder) }()
	select {
	case v := <-result:
		return v
	case <-ctx.Done():
		return Judgement{Dangers: []string{notInTime}}
	}
}

// judgeNow ends soon after ctx does, unless the file system hangs: then it waits for that, without work.
func judgeNow(ctx context.Context, r *adapters.Request, folder string) Judgement {
	j := newJudge(ctx, folder, r.Folder)
	if j.late() {
		return Judgement{Dangers: j.dangers}
	}
	j.mark(hidden(r.Text)...)
	j.unsure = len(j.dangers) > 0 || strings.TrimSpace(r.Text) == "" || strings.HasPrefix(r.Reason, "runs on ") || !j.resolved(j.dir)
	switch r.Kind {
	case adapters.AsksCommand:
		j.script(r.Text)
	case adapters.AsksFileChange:
		j.fileChange(r.Text)
	case adapters.AsksPermission:
		j.tool(r.Text)
	default:
		j.dangers, j.unsure = nil, true
	}
	return Judgement{Dangers: j.dangers, Harmless: !j.unsure && len(j.dangers) == 0}
}

func newJudge(ctx context.Context, folder, dir string) *judge {
	if folder == "" {
		folder = dir
	}
	if dir == "" {
		dir = folder
	}
	return &judge{ctx: ctx, folder: folder, dir: dir, windows: runtime.GOOS == "windows", download: map[string]bool{}, texts: map[string]string{}}
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
	files := filesOf(text)
	j.unsure = j.unsure || len(files) == 0 || strings.Contains(text, "*** Delete File: ")
	for _, f := range files {
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
	if files = patchFiles(text); len(files) > 0 && !strings.HasPrefix(name, "***") && !strings.HasPrefix(name, "--- ") && !strings.HasPrefix(name, "Index: ") {
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
				if file, _, _ = strings.Cut(file, "\t"); file != "/dev/null" {
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

// readingTools are the names of the agents' tools that only read files.
var readingTools = []string{"Read", "Grep", "Glob", "LS", "NotebookRead"}

// tool checks the call of a tool that is neither a command nor a change of files: its name, and its arguments as JSON.
func (j *judge) tool(text string) {
	name, rest, _ := strings.Cut(text, "\n")
	var input map[string]any
	if json.Unmarshal([]byte(rest), &input) != nil {
		j.unsure = true
		return
	}
	// Each command has a shell of its own, in the session's folder.
	list, _ := input["commands"].([]any)
	for _, v := range append(list, input["command"]) {
		if command, ok := v.(string); ok {
			j.script(command)
		}
	}
	if input["dangerouslyDisableSandbox"] == true {
		j.mark("leaves its sandbox")
	}
	reads := slices.Contains(readingTools, name)
	eachString(input, func(key, value string) {
		if j.late() {
			return
		}
		isFile := slices.Contains(pathKeys, key)
		if isFile {
			j.reads(word{text: value})
		}
		if isFile || key == "pattern" && name == "Glob" || key == "glob" {
			reads = reads && j.place(value) == inside && (key != "pattern" && key != "glob" || !strings.Contains(value, "..")) && j.resolved(filepath.FromSlash(value))
		}
	})
	j.unsure = j.unsure || !reads
}
