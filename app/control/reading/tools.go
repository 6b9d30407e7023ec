package reading

import (
	"encoding/json"
	"slices"
	"strings"
)

// tool is a tool of an agent that only reads.
type tool struct {
	file   string   // the argument that names what it reads
	needed bool     // it reads more than names, or is about one file, so that the argument is needed
	reads  depth    // how deep it goes into a folder
	others []string // its arguments that name no file
}

// tools are those of Claude Code, Gemini CLI and Qwen Code, which call them the same.
var tools = map[string]tool{
	"Read":           {"file_path", true, contents, []string{"offset", "limit"}},
	"NotebookRead":   {"notebook_path", true, contents, []string{"cell_id"}},
	"LS":             {"path", true, names, nil},
	"Glob":           {"path", false, names, []string{"pattern"}},
	"Grep":           {"path", true, contents, []string{"pattern", "output_mode", "head_limit", "multiline", "-i", "-n", "-A", "-B", "-C", "type"}},
	"read_file":      {"file_path", true, contents, []string{"offset", "limit"}},
	"list_directory": {"path", true, names, nil},
	"glob":           {"path", false, names, []string{"pattern", "case_sensitive"}},
}

// tool reports whether the call of a tool, its name and its arguments as JSON, only reads.
func (f *folder) tool(text string) bool {
	name, rest, _ := strings.Cut(text, "\n")
	t, ok := tools[name]
	var input map[string]any
	if !ok || json.Unmarshal([]byte(rest), &input) != nil {
		return false
	}
	for key, value := range input {
		if key != t.file && !slices.Contains(t.others, key) {
			return false
		}
		switch value.(type) {
		case string, float64, bool:
		default:
			return false
		}
	}
	if pattern, _ := input["pattern"].(string); t.reads == names && !isInsidePattern(pattern) {
		return false
	}
	file, given := input[t.file].(string)
	if _, other := input[t.file]; !given {
		return !t.needed && !other
	}
	return file == f.dir && t.reads == names || f.mayRead(file, t.reads)
}

// isInsidePattern reports whether a pattern for names stays below its folder and leaves out what is hidden.
func isInsidePattern(pattern string) bool {
	return !strings.HasPrefix(pattern, "/") && !strings.HasPrefix(pattern, "~") && !strings.HasPrefix(pattern, ".") && !strings.Contains(pattern, "..") && !strings.Contains(pattern, "/.") &&
		!strings.ContainsAny(pattern, `\{`)
}
