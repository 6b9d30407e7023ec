package ui

import (
	"path/filepath"
	"syscall"
	"testing"

	"fyne.io/fyne/v2"

	"rollcall/internal/must"
)

// TestLaunchPromptFromPipe: a named pipe without a writer is refused before it is opened, by the
// preview and by the launch.
func TestLaunchPromptFromPipe(t *testing.T) {
	w, p, dir := launchWindow(t, full())
	pipe := filepath.Join(dir, "pipe")
	must.Do(t, syscall.Mkfifo(pipe, 0o600))
	p.folder.SetText(dir)
	p.file.set(pipe)
	w.command("the prompt", "pipe: it is a named pipe, not a regular file")
	w.press(p.start, fyne.KeySpace)
	w.until("the refusal", func() bool { return p.refused.content.Visible() })
	shows(t, p.refused.content, "pipe: it is a named pipe, not a regular file")
}
