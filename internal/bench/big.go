//go:build linux

package main

import (
	"bufio"
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"rollcall/internal/corpus"
)

// bigLine is the part of a big transcript that its longest line takes: 4 GB have one of 500 MB.
const bigLine = 8

// writeBig writes a small corpus with a transcript of that many bytes, in which one line is very long.
func writeBig(dir string, size int64) error {
	if _, err := corpus.Write(dir, corpus.Options{Sessions: 10, Live: live, Seed: 2, Now: time.Now()}); err != nil {
		return err
	}
	const id = "7b0f5bd4-4d1e-4a5b-9a53-2f1d7c1f0a11"
	folder := filepath.Join(dir, "home", ".claude", "projects", "-home-dev-big")
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return err
	}
	f, err := os.OpenFile(filepath.Join(folder, id+".jsonl"), os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	defer f.Close()
	w := bufio.NewWriterSize(f, 1<<20)
	tail := fmt.Sprintf(`"userType":"external","entrypoint":"cli","cwd":"/home/dev/big","sessionId":%q,"version":"2.1.329","gitBranch":"main"}`, id)
	at := time.Now().Add(-time.Hour).UTC().Format(time.RFC3339)
	fmt.Fprintf(w, `{"parentUuid":null,"isSidechain":false,"type":"user","message":{"role":"user","content":"make it big"},"uuid":"u","timestamp":%q,%s`+"\n", at, tail)
	result := bytes.Repeat([]byte("all work and no play "), 300)
	long := size / bigLine
	written := int64(0)
	for n := 0; written < size; n++ {
		a, _ := fmt.Fprintf(w, `{"parentUuid":"x","isSidechain":false,"message":{"id":"msg_%d","type":"message","role":"assistant","model":"claude-opus-5-5","content":[{"type":"text","text":"next"}],"stop_reason":"tool_use",`+
			`"usage":{"input_tokens":10,"cache_creation_input_tokens":0,"cache_read_input_tokens":0,"output_tokens":2}},"type":"assistant","uuid":"u","timestamp":%q,%s`+"\n", n, at, tail)
		b, _ := fmt.Fprintf(w, `{"parentUuid":"x","isSidechain":false,"type":"user","message":{"role":"user","content":[{"tool_use_id":"toolu_%d","type":"tool_result","content":"`, n)
		written += int64(a + b)
		for first := true; first || long > 0 && written > size/2; first = false {
			c, err := w.Write(result)
			written += int64(c)
			if err != nil {
				return err
			}
			if written > size/2 {
				long -= int64(c)
			}
		}
		d, _ := fmt.Fprintf(w, `"}]},"uuid":"u","timestamp":%q,%s`+"\n", at, tail)
		written += int64(d)
	}
	return w.Flush()
}
