package bounded

import "bytes"

// Buffer keeps the first Max bytes that are written to it and drops the rest. It does not embed its bytes.Buffer: io.Copy
// would use the ReadFrom of that, which knows no limit.
type Buffer struct {
	Max  int
	full bool
	kept bytes.Buffer
}

// Write implements io.Writer. It never fails.
func (b *Buffer) Write(p []byte) (int, error) {
	room := max(b.Max-b.kept.Len(), 0)
	b.full = b.full || len(p) > room
	b.kept.Write(p[:min(len(p), room)])
	return len(p), nil
}

// IsFull reports whether bytes were dropped.
func (b *Buffer) IsFull() bool { return b.full }

// Bytes returns what was kept. It is valid until the next Write.
func (b *Buffer) Bytes() []byte { return b.kept.Bytes() }

// String returns what was kept.
func (b *Buffer) String() string { return b.kept.String() }

// Tail keeps the last Max bytes that are written to it.
type Tail struct {
	Max  int
	kept bytes.Buffer
}

// Write implements io.Writer. It never fails.
func (t *Tail) Write(p []byte) (int, error) {
	t.kept.Write(p[max(0, len(p)-t.Max):])
	t.kept.Next(max(0, t.kept.Len()-t.Max))
	return len(p), nil
}

// String returns what was kept.
func (t *Tail) String() string { return t.kept.String() }
