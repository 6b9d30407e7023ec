package kit

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"
	"time"

	"rollcall/adapters"
	"rollcall/adapters/internal/agentfile"
)

// ShortText is the limit of the texts that are kept of a session, in bytes.
const ShortText = 4 << 10

// Short returns the text of the JSON string raw, cut to ShortText; "" for another value.
func Short(raw []byte) string {
	text, _ := agentfile.Head(raw, ShortText)
	return text
}

// Latest returns the latest of some times.
func Latest(times ...time.Time) time.Time {
	return slices.MaxFunc(append([]time.Time{{}}, times...), time.Time.Compare)
}

// Count is Number for a member of raw.
func Count(raw []byte, name string) int64 { return Number(agentfile.Get(raw, name)) }

// Number returns the number raw; 0 for another value, and for one that is negative or so large that a sum of several overflows.
func Number(raw []byte) int64 {
	n, _ := agentfile.Int(raw)
	if n < 0 || n >= 1<<50 {
		return 0
	}
	return n
}

// Each calls do with each element of a JSON list.
func Each(list []byte, do func(element []byte)) {
	_ = agentfile.Each(list, func(element []byte) bool { // what is no list has none
		do(element)
		return true
	})
}

// PartsText returns the texts of a list of parts that isMeant accepts, one a line, cut to a limit.
func PartsText(list []byte, limit int, isMeant func(part []byte, text string) bool) string {
	var text strings.Builder
	_ = agentfile.Each(list, func(part []byte) bool {
		if some, _ := agentfile.Head(agentfile.Get(part, "text"), limit); some != "" && isMeant(part, some) {
			if text.Len() > 0 {
				text.WriteByte('\n')
			}
			text.WriteString(some)
		}
		return text.Len() < limit
	})
	return adapters.CutTo(text.String(), limit)
}

// Indented returns JSON over several lines, and unchanged if it can't be parsed.
func Indented(raw []byte) string {
	var b bytes.Buffer
	if json.Indent(&b, raw, "", "  ") != nil {
		return string(raw)
	}
	return b.String()
}
