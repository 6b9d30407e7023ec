package notify

import (
	"path/filepath"

	"rollcall/adapters"
)

// defaultSound is the sound of notifications in the sound theme of the desktop.
const defaultSound = "message-new-instant"

// soundFor reports whether a notification of a kind has a sound, and returns that of an agent, or else of the kind: a file, or a name of the sound theme.
func (r Rules) soundFor(k Kind, agent adapters.Name) (sound bool, name string) {
	if r.Kinds[k] != WithSound {
		return false, ""
	}
	for _, of := range []string{string(agent), string(k)} {
		if name := r.Sounds[of]; name != "" {
			return true, name
		}
	}
	return true, defaultSound
}

// soundHint returns the hint of the freedesktop specification of notifications for a sound, and its value.
func soundHint(name string) string {
	if filepath.IsAbs(name) {
		return "sound-file"
	}
	return "sound-name"
}
