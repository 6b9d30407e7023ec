package claudecode

import (
	"rollcall/adapters/internal/agentfile"
	"rollcall/adapters/internal/kit"
)

// Failure implements adapters.FailureReader for the output of `claude -p --output-format stream-json` (2.1.329): the result that is an error has the sentence
// that the agent shows its user.
func (a *Adapter) Failure(output []byte) string {
	return kit.LastFailure(output, func(line []byte) string {
		if string(agentfile.Text(agentfile.Get(line, "type"))) == "result" && agentfile.True(agentfile.Get(line, "is_error")) {
			return agentfile.String(agentfile.Get(line, "result"))
		}
		return ""
	})
}
