package launch

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"rollcall/app/store"
)

// PromptFolder is the prefix of the folders that store prompts for terminals.
const PromptFolder = "rollcall-prompt-"

// PromptWait is the time after which a prompt is removed. A terminal must have started by then.
const PromptWait = time.Minute

// StorePrompt writes a prompt to a file that only the user can read, and removes the file after PromptWait unless ctx is done before: then the terminal may
// still be starting, and the next call removes it. StorePrompt returns the path of the file, or an empty path for an empty prompt.
func StorePrompt(ctx context.Context, prompt string) (string, error) {
	RemoveOldPrompts(time.Now())
	if prompt == "" {
		return "", nil
	}
	dir, err := os.MkdirTemp("", PromptFolder)
	if err != nil {
		return "", err
	}
	file, err := writePrompt(dir, prompt)
	if err != nil {
		return "", errors.Join(err, os.RemoveAll(dir))
	}
	go func() {
		select {
		case <-ctx.Done():
		case <-time.After(PromptWait):
			_ = os.RemoveAll(dir)
		}
	}()
	return file, nil
}

// writePrompt writes a prompt to a new file in a folder that belongs to the user alone, and returns its path.
func writePrompt(dir, prompt string) (string, error) {
	d, err := store.OpenDir(dir)
	if err != nil {
		return "", err
	}
	defer d.Close()
	return d.File("prompt"), d.WriteNew("prompt", []byte(prompt), 0o600)
}

// RemoveOldPrompts removes the prompts that windows left when they were closed.
func RemoveOldPrompts(now time.Time) {
	temp := os.TempDir()
	old, _ := fs.Glob(os.DirFS(temp), PromptFolder+"*")
	for _, name := range old {
		dir := filepath.Join(temp, name)
		if info, err := os.Lstat(dir); err == nil && info.IsDir() && now.Sub(info.ModTime()) > PromptWait {
			_ = os.RemoveAll(dir)
		}
	}
}
