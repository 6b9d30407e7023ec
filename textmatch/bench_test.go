package textmatch

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
)

// transcript returns about n bytes of lines as agents write them, without the word "needle".
func transcript(n int) []byte {
	var b bytes.Buffer
	for i := 0; b.Len() < n; i++ {
		fmt.Fprintf(&b, `{"type":"assistant","uuid":"%08x-1111-4222-8333-444455556666","message":{"role":"assistant","content":[{"type":"text","text":%q}]}}`+"\n", i,
			strings.Repeat(fmt.Sprintf("Let me look at the file \"main.go\" and run the tests:\n\tgo test ./... -run TestNumber%d\n", i), 12))
	}
	return b.Bytes()
}

// BenchmarkLines reads transcripts without the text, which is what a search mostly does.
func BenchmarkLines(b *testing.B) {
	data := transcript(64 << 20)
	for _, needle := range []string{"needle", "zzqqxxyy", "make the build green", "größenwahn", "会话不存在"} {
		p := mustPattern(b, needle, false)
		b.Run(needle, func(b *testing.B) {
			b.SetBytes(int64(len(data)))
			for b.Loop() {
				if _, err := p.Lines(b.Context(), bytes.NewReader(data), nil, func([]byte, int64) error { return nil }); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
