package codex

import (
	"bytes"
	"slices"

	"rollcall/adapters/internal/agentfile"
)

// Failure implements adapters.FailureReader for the output of `codex exec --json` (0.169.0): the turn that failed, or else the last error.
func (a *Adapter) Failure(output []byte) string {
	said := ""
	for _, line := range slices.Backward(bytes.Split(output, []byte("\n"))) {
		switch string(agentfile.Text(agentfile.Get(line, "type"))) {
		case "turn.failed":
			return agentfile.String(agentfile.Get(line, "error", "message"))
		case "error":
			if said == "" {
				said = agentfile.String(agentfile.Get(line, "message"))
			}
		}
	}
	return said
}
