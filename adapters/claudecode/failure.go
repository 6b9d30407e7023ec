package claudecode

import (
	"bytes"
	"slices"

	"rollcall/adapters/internal/agentfile"
)

// Failure implements adapters.FailureReader for the output of `claude -p --output-format stream-json` (2.1.329): the result that is an error has the sentence
// that the agent shows its user.
func (a *Adapter) Failure(output []byte) string {
	lines := bytes.Split(output, []byte("\n"))
	for _, line := range slices.Backward(lines) {
		if string(agentfile.Text(agentfile.Get(line, "type"))) == "result" && agentfile.True(agentfile.Get(line, "is_error")) {
			return agentfile.String(agentfile.Get(line, "result"))
		}
	}
	return ""
}
