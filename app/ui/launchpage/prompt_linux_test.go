package launchpage

import (
	"path/filepath"
	"syscall"
	"testing"

	"fyne.io/fyne/v2"

	"rollcall/internal/must"
	"rollcall/internal/uitest"
)

// TestLaunchPromptFromPipe: a named pipe without a writer is refused before it is opened, by the
// preview and by the launch.
func TestLaunchPromptFromPipe(t *testing.T) {
	w, p, dir := open(t)
	pipe := filepath.Join(dir, "pipe")
	must.Do(t, syscall.Mkfifo(pipe, 0o600))
	p.folder.SetText(dir)
	p.file.set(pipe)
	command(w, p, "the prompt", "pipe: it is a named pipe, not a regular file")
	uitest.Press(p.start, fyne.KeySpace)
	w.Until("the refusal", func() bool { return p.refused.content.Visible() })
	uitest.Shows(t, p.refused.content, "pipe: it is a named pipe, not a regular file")
}
