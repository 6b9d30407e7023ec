package launch

import (
	"encoding/json"
	"slices"
	"strings"

	"rollcall/adapters"
)

// Reason returns the sentence with which a failed launch ended: what its agent a says, or else the last line of its output that is text and no JSON. It is
// empty if there is none. The sentence is not cleaned.
func Reason(a adapters.Adapter, output string) string {
	if r, ok := a.(adapters.FailureReader); ok {
		if text := strings.TrimSpace(r.Failure([]byte(output))); text != "" {
			return text
		}
	}
	for _, line := range slices.Backward(strings.Split(output, "\n")) {
		line = strings.TrimSpace(line)
		if line != "" && !json.Valid([]byte(line)) && !strings.HasPrefix(line, "{") && !strings.HasSuffix(line, "}") {
			return line
		}
	}
	return ""
}
