package claudecode

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"
)

func id(n int) string { return fmt.Sprintf("%08d-0000-4000-8000-000000000000", n) }

// The lines of transcripts, in the form of 2.1.329.

func stamp(at time.Time) string { return at.UTC().Format("2006-01-02T15:04:05.000Z") }

func base(typ string, more string) string {
	return fmt.Sprintf(`"type":%q,"timestamp":%q,"cwd":"/home/dev/proj","version":"2.1.329","gitBranch":"main"%s`,
		typ, stamp(time.Now()), more)
}

func userLine(content string) string {
	return fmt.Sprintf(`{"parentUuid":null,"isSidechain":false,%s,"message":{"role":"user","content":%s}}`+"\n", base("user", ""), content)
}

func promptLine(text string) string {
	content, _ := json.Marshal(text)
	return userLine(string(content))
}

func resultLine(use string) string {
	return userLine(fmt.Sprintf(`[{"tool_use_id":%q,"type":"tool_result","content":"ok"}]`, use))
}

func answerLine(message, stop, blocks string) string {
	reason, _ := json.Marshal(stop)
	if stop == "" {
		reason = []byte("null")
	}
	return fmt.Sprintf(`{"parentUuid":null,"isSidechain":false,"message":{"id":%q,"type":"message","role":"assistant","model":"claude-opus-5-5","content":[%s],"stop_reason":%s,"usage":{"input_tokens":10,"cache_creation_input_tokens":3,"cache_read_input_tokens":200,"output_tokens":4}},%s}`+"\n",
		message, blocks, reason, base("assistant", ""))
}

func doneLine(message string) string {
	return answerLine(message, "end_turn", `{"type":"text","text":"done"}`)
}

func callLine(message, use, tool string) string {
	return answerLine(message, "tool_use", fmt.Sprintf(`{"type":"tool_use","id":%q,"name":%q,"input":{}}`, use, tool))
}

// old makes a line one of a version without a registry, some time ago.
func old(line string, ago time.Duration) string {
	line = strings.ReplaceAll(line, `"version":"2.1.329"`, `"version":"2.0.50"`)
	i := strings.Index(line, `"timestamp":"`) + len(`"timestamp":"`)
	return line[:i] + stamp(time.Now().Add(-ago)) + line[i+len(stamp(time.Now())):]
}

// ago dates a line of 2.1.329.
func ago(line string, d time.Duration) string {
	return strings.ReplaceAll(old(line, d), `"version":"2.0.50"`, `"version":"2.1.329"`)
}

// ofVersion makes the lines those of another version.
func ofVersion(version string, lines ...string) []string {
	out := make([]string, len(lines))
	for i, line := range lines {
		out[i] = strings.ReplaceAll(line, `"version":"2.1.329"`, `"version":"`+version+`"`)
	}
	return out
}
