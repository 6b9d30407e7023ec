package codex

import (
	"bytes"
	"cmp"
	"fmt"
	"strings"

	"rollcall/adapters"
	"rollcall/adapters/internal/agentfile"
	"rollcall/adapters/internal/kit"
)

// call adds a call of a tool.
func (p *saying) call(typ string, payload []byte) {
	m := p.of
	name, _ := agentfile.Head(agentfile.Get(payload, "name"), 200)
	m.Role, m.Tool = adapters.FromTool, cmp.Or(name, strings.TrimSuffix(typ, "_call"))
	m.Key = cmp.Or(agentfile.String(agentfile.Get(payload, "call_id")), agentfile.String(agentfile.Get(payload, "id")), m.Key)
	m.Text = adapters.Cut(argument(payload))
	m.State = adapters.ToolRunning
	if byModel := typ == "web_search_call" || typ == "image_generation_call"; byModel { // written when it is over
		m.State = adapters.ToolDone
		if string(agentfile.Text(agentfile.Get(payload, "status"))) == "failed" {
			m.State = adapters.ToolFailed
		}
	}
	p.items = append(p.items, kit.Item{Message: m, Call: m.Key, Texts: func() (text string) {
		for _, name := range []string{"input", "arguments", "action"} {
			text += "\n" + nestedStrings(agentfile.Get(payload, name))
		}
		return text
	}})
}

// result adds the result of a call.
func (p *saying) result(payload []byte) {
	output := agentfile.Get(payload, "output")
	m := adapters.Message{Key: agentfile.String(agentfile.Get(payload, "call_id")), At: p.of.At, Role: adapters.FromTool, State: outcome(output)}
	if m.Key != "" {
		p.items = append(p.items, kit.Item{Message: m, Call: m.Key, IsResult: true, Texts: func() string { return nestedStrings(output) }})
	}
}

// nestedStrings returns the texts of a value, which may be JSON within a string.
func nestedStrings(raw []byte) string {
	if inner := agentfile.Text(raw); len(inner) > 0 && (inner[0] == '{' || inner[0] == '[') {
		if text := kit.Strings(inner); text != "" {
			return text
		}
	}
	return kit.Strings(raw)
}

// mainArguments lists the arguments that describe a call best, in order of preference.
var mainArguments = []string{"cmd", "command", "query", "path", "file_path", "url", "task_name", "pattern", "message", "chars", "explanation"}

// argument returns the most descriptive argument of a call.
func argument(payload []byte) string {
	if input := kit.Shown.Text(agentfile.Get(payload, "input")); input != "" { // of a custom tool
		return patchFiles(input)
	}
	arguments := agentfile.Text(agentfile.Get(payload, "arguments"))
	if len(arguments) == 0 { // an object, as in local_shell_call
		arguments = agentfile.Get(payload, "action")
		if len(arguments) == 0 {
			arguments = agentfile.Get(payload, "arguments")
		}
	}
	if text := kit.Argument(arguments, mainArguments, commandText); text != "" {
		return patchFiles(text)
	}
	return kit.AnyArgument(arguments)
}

// commandText returns a text or the words of a command, and for a shell the command
// that the shell runs.
func commandText(raw []byte) string {
	if len(raw) == 0 || raw[0] != '[' {
		return kit.Shown.Text(raw)
	}
	var list []string
	_ = agentfile.Each(raw, func(word []byte) bool {
		list = append(list, kit.Shown.Text(word))
		return len(list) < 1000
	})
	if len(list) == 3 && (list[1] == "-lc" || list[1] == "-c") {
		return list[2]
	}
	return strings.Join(list, " ")
}

// patchFiles returns the names of the files that a patch changes. It returns any other
// text as it is.
func patchFiles(text string) string {
	if !strings.Contains(text, "*** Begin Patch") {
		return text
	}
	var files []string
	for line := range strings.Lines(text) {
		for _, mark := range []string{"*** Update File: ", "*** Add File: ", "*** Delete File: "} {
			if file, ok := strings.CutPrefix(line, mark); ok {
				files = append(files, strings.TrimSpace(file))
			}
		}
	}
	if files == nil {
		return text
	}
	return strings.Join(files, " ")
}

// outcome returns how a call ended, from its output. Only the text of the output shows
// that: JSON with the exit code up to 0.80, a line of text in later versions.
func outcome(output []byte) adapters.ToolState {
	if agentfile.Get(output, "success") != nil && !agentfile.True(agentfile.Get(output, "success")) {
		return adapters.ToolFailed
	}
	_ = agentfile.Each(output, func(part []byte) bool { // with images it is a list
		output = agentfile.Get(part, "text")
		return output == nil
	})
	if whole := agentfile.Text(output); bytes.HasPrefix(whole, []byte("{")) {
		code, _ := agentfile.Int(agentfile.Get(whole, "metadata", "exit_code"))
		return exited(int(code))
	}
	text, _ := agentfile.Head(output, 2<<10)
	n := 0
	for line := range strings.Lines(text) {
		if n++; n > headerLines || strings.HasPrefix(line, "Output:") {
			break
		}
		for _, mark := range []string{"Exit code: ", "Process exited with code "} {
			if code, ok := strings.CutPrefix(line, mark); ok {
				n := 0
				_, _ = fmt.Sscan(code, &n) // without a number it is 0
				return exited(n)
			}
		}
		for _, mark := range failures {
			if strings.HasPrefix(line, mark) {
				return adapters.ToolFailed
			}
		}
	}
	return adapters.ToolDone
}

// headerLines is the number of lines that Codex may print before a command's own output.
const headerLines = 6

// failures lists the beginnings of the texts that Codex sends to the model for a failed
// call.
var failures = []string{"aborted", "rejected by user", "exec command rejected", "exec_command failed", "execution error",
	"failed to parse", "unsupported call", "apply_patch verification failed"}

func exited(code int) adapters.ToolState {
	if code != 0 {
		return adapters.ToolFailed
	}
	return adapters.ToolDone
}
