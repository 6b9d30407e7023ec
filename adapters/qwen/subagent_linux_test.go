package qwen

import (
	"fmt"
	"path/filepath"
	"slices"
	"testing"

	"rollcall/adapters"
	"rollcall/internal/adaptertest"
)

// The answers of a sub-agent count for its model, which the file beside its records names (0.24.4), and not for that of the session's last answer.
func TestModelOfSubAgent(t *testing.T) {
	for _, meta := range []string{
		`{"status":"completed","isBackgrounded":true,"model":"small"}`,
		`{"status":"completed","isBackgrounded":false,"persistedCliFlags":{"model":"small"}}`,
	} {
		l := newLater(t)
		path := filepath.Join(filepath.Dir(filepath.Dir(l.File)), "subagents", l.ID, "agent-general-purpose-call_1")
		l.Write(path+".jsonl", fmt.Sprintf(`{"uuid":"a","sessionId":%q,"timestamp":"2026-11-28T20:52:31Z",`+
			`"type":"assistant","cwd":"/home/dev/proj","isSidechain":true,"message":{"role":"model","parts":[{"text":"x"}]},`+
			`"usageMetadata":{"promptTokenCount":7,"candidatesTokenCount":5,"totalTokenCount":12}}`, l.ID)+"\n")
		l.Write(path+".meta.json", meta)
		rows := adaptertest.Discover(t, l.adapter, adapters.Query{Totals: true, Usage: true}).Sessions
		want := adapters.Tokens{Input: 7, Output: 5}
		if len(rows) != 1 || !slices.ContainsFunc(rows[0].Usage, func(u adapters.Usage) bool {
			return u.Model == "small" && u.Tokens == want
		}) {
			t.Errorf("%s: %+v", meta, rows)
		}
	}
}
