package copilot

import (
	"errors"
	"io/fs"
	"strconv"
	"strings"

	"rollcall/adapters"
	"rollcall/adapters/internal/agentfile"
)

// workspace holds what workspace.yaml says of a session.
type workspace struct {
	cwd, branch, name string
	userNamed         bool
}

const maxWorkspace = 64 << 10

// readWorkspace reads a file of lines "key: value". A missing one, and one that is being written, says nothing.
func readWorkspace(path string) (w workspace, err error) {
	data, _, err := agentfile.ReadSmall(path, maxWorkspace)
	if errors.Is(err, fs.ErrNotExist) {
		return w, nil
	}
	if err != nil {
		return w, adapters.AsProblem(path, err)
	}
	lines := strings.Split(string(data), "\n")
	for i, line := range lines {
		key, value, _ := strings.Cut(line, ":")
		value = scalar(strings.TrimSpace(value), lines[i+1:])
		switch key {
		case "cwd":
			w.cwd = value
		case "branch":
			w.branch = value
		case "name", "summary": // the latter in 1.0.34
			w.name = adapters.CutTo(value, textLimit)
		case "user_named":
			w.userNamed = value == "true"
		}
	}
	return w, nil
}

// scalar returns the text of a YAML value: plain, quoted, or in the lines below it.
func scalar(value string, below []string) string {
	switch {
	case strings.HasPrefix(value, "|"), strings.HasPrefix(value, ">"):
		var text []string
		for _, line := range below {
			if !strings.HasPrefix(line, " ") {
				break
			}
			text = append(text, strings.TrimSpace(line))
		}
		value = strings.Join(text, "\n")
	case strings.HasPrefix(value, `"`):
		if text, err := strconv.Unquote(value); err == nil {
			value = text
		}
	case len(value) > 1 && value[0] == '\'' && value[len(value)-1] == '\'':
		value = strings.ReplaceAll(value[1:len(value)-1], "''", "'")
	}
	return strings.ToValidUTF8(value, "\uFFFD")
}
