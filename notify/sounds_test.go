package notify

import (
	"path/filepath"
	"testing"

	"rollcall/adapters"
	"rollcall/internal/agentname"
)

// TestSoundFor: the sound of an agent counts before that of the kind, and only where the kind has a sound.
func TestSoundFor(t *testing.T) {
	file := filepath.Join(t.TempDir(), "codex.oga") // an absolute path of this system
	r := Rules{Kinds: map[Kind]Manner{Reply: WithSound, Question: WithSound}, Sounds: map[string]string{"codex": file, "reply": "bell"}}
	for _, c := range []struct {
		kind  Kind
		agent adapters.Name
		name  string
		hint  string
	}{
		{Reply, agentname.Codex, file, "sound-file"}, {Reply, agentname.ClaudeCode, "bell", "sound-name"}, {Question, agentname.ClaudeCode, defaultSound, "sound-name"},
		{Ended, agentname.Codex, "", ""},
	} {
		sound, name := r.soundFor(c.kind, c.agent)
		if sound != (c.name != "") || name != c.name || sound && soundHint(name) != c.hint {
			t.Errorf("%s of %s: %v, %q", c.kind, c.agent, sound, name)
		}
	}
}
