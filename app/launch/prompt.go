package launch

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// maxPrompt is far above what agents take.
const maxPrompt = 4 << 20

// ReadPrompt reads a prompt to its end. A longer one than makes sense is an
// error, never a part of it. It returns when ctx is done, though r says nothing.
func ReadPrompt(ctx context.Context, r io.Reader) (string, error) {
	type answer struct {
		text []byte
		err  error
	}
	done := make(chan answer, 1)
	go func() { // a read from a terminal or a pipe can't be called off
		text, err := io.ReadAll(io.LimitReader(r, maxPrompt+1))
		done <- answer{text, err}
	}()
	select {
	case <-ctx.Done():
		return "", ctx.Err()
	case a := <-done:
		if a.err == nil && len(a.text) > maxPrompt {
			a.err = fmt.Errorf("the prompt is longer than the %d bytes that make sense", maxPrompt)
		}
		return string(a.text), a.err
	}
}

// ReadPromptFile is ReadPrompt for a file, which may be a pipe (<(command) of a
// shell).
func ReadPromptFile(ctx context.Context, path string) (string, error) {
	text, err := ReadPrompt(ctx, &lateFile{path: path})
	var named *fs.PathError
	if err != nil && !errors.As(err, &named) && ctx.Err() == nil {
		err = fmt.Errorf("%s: %w", path, err)
	}
	return text, err
}

// lateFile is opened by its first read: to open a pipe may take for ever.
type lateFile struct {
	path string
	file *os.File
}

func (f *lateFile) Read(p []byte) (n int, err error) {
	if f.file == nil {
		if f.file, err = os.Open(f.path); err != nil {
			return 0, err
		}
	}
	if n, err = f.file.Read(p); err != nil {
		_ = f.file.Close()
	}
	return n, err
}

// MaxFile bounds the spec and each context file.
const MaxFile = 50 << 10

// compose is the prompt with the spec and the context files.
func compose(req *Request) (string, error) {
	var b strings.Builder
	b.WriteString(req.Task.Prompt)
	add := func(what, path string) error {
		text, err := readText(path)
		if err != nil {
			return fmt.Errorf("%s: %w", what, err)
		}
		fmt.Fprintf(&b, "\n\n--- %s: %s ---\n%s", what, filepath.Base(path), text)
		return nil
	}
	if req.Spec != "" {
		if err := add("spec", req.Spec); err != nil {
			return "", err
		}
	}
	for _, f := range req.Files {
		if err := add("file", f); err != nil {
			return "", err
		}
	}
	if b.Len() > maxPrompt {
		return "", fmt.Errorf("the prompt has %d bytes, more than the %d that make sense", b.Len(), maxPrompt)
	}
	if strings.ContainsRune(b.String(), 0) {
		return "", errors.New("the prompt has a NUL byte: is one of the files no text?")
	}
	return b.String(), nil
}

func readText(path string) (string, error) {
	info, err := os.Stat(path)
	if err != nil {
		return "", err
	}
	if !info.Mode().IsRegular() {
		return "", fmt.Errorf("%s is no file", path)
	}
	if info.Size() > MaxFile {
		return "", fmt.Errorf("%s has %d bytes, more than the %d allowed", path, info.Size(), MaxFile)
	}
	text, err := os.ReadFile(path)
	return string(text), err
}
