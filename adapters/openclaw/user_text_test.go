package openclaw

import "testing"

// The texts are of 2026.2.26 and 2026.5.18.
func TestSaid(t *testing.T) {
	const sender = "Sender (untrusted metadata):\n```json\n{\n  \"label\": \"gateway-client\",\n  \"id\": \"gateway-client\"\n}\n```\n\n"
	const stamped = "[Sun 2026-11-22 01:30 UTC] "
	tests := []struct{ name, text, want string }{
		{"plain", "first job", "first job"},
		{"stamp", stamped + "first job", "first job"},
		{"sender", sender + stamped + "first job\n\nand more", "first job\n\nand more"},
		{"group", "Conversation info (untrusted metadata):\n```json\n{\n  \"is_group_chat\": true\n}\n```\n\n" + sender +
			"Chat history since last reply (untrusted, for context):\n```json\n[]\n```\n\nwell?", "well?"},
		{"cut off", sender[:60], ""},
		{"title", "Sender (untrusted metadata): ```json { \"label\":…", ""},
		{"sub-agent", stamped + "[Subagent Context] You are running as a subagent (depth 1/5).\n\n[Subagent Task]\n\nchild job", "child job"},
		{"sub-agent of May", "[Subagent Context] You are running as a subagent (depth 1/1).\n\n[Subagent Task]:\nchild job\n\n" +
			"Begin. Execute the assigned task to completion.", "child job"},
		{"older sub-agent", stamped + "[Subagent Context] You are running as a subagent (depth 1/1).\n\n[Subagent Task]: child job", "child job"},
		{"about sub-agents", "what is [Subagent Task]: in this log?", "what is [Subagent Task]: in this log?"},
		{"the user's own", "see:\n```json\n{}\n```\nthanks", "see:\n```json\n{}\n```\nthanks"},
		{"the user's brackets", "[x] done", "[x] done"},
	}
	for _, test := range tests {
		if got := userText(test.text); got != test.want {
			t.Errorf("%s: %q, want %q", test.name, got, test.want)
		}
	}
}

func TestMadeUpTitle(t *testing.T) {
	for display, want := range map[string]string{"webchat:g-agent-main-spawn": "", "telegram:g-the-group": "telegram:g-the-group"} {
		r := row{Key: "agent:main:spawn", Display: display, Derived: "Sender (untrusted metadata): ```json { \"label\":…"}
		if got := r.title(); got != want {
			t.Errorf("%s: %q, want %q", display, got, want)
		}
	}
}
