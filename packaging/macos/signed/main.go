// Command signed checks that a program for macOS has a code signature, as Go's linker writes it ad hoc for arm64.
package main

import (
	"debug/macho"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
)

// The load command of a code signature, and the magic number of the signature itself, from Apple's loader.h and cs_blobs.h.
const (
	loadCodeSignature = 0x1d
	embeddedSignature = 0xfade0cc0
)

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: signed PROGRAM")
		os.Exit(2)
	}
	if err := check(os.Args[1]); err != nil {
		fmt.Fprintf(os.Stderr, "signed: %s: %v\n", os.Args[1], err)
		os.Exit(1)
	}
}

func check(path string) error {
	f, err := macho.Open(path)
	if err != nil {
		return err
	}
	defer func() { _ = f.Close() }()
	data, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	for _, l := range f.Loads {
		raw := l.Raw()
		if len(raw) < 16 || f.ByteOrder.Uint32(raw) != loadCodeSignature {
			continue
		}
		at, size := f.ByteOrder.Uint32(raw[8:]), f.ByteOrder.Uint32(raw[12:])
		if uint64(at)+uint64(size) > uint64(len(data)) || size < 8 {
			return errors.New("its signature lies beyond its end")
		}
		if binary.BigEndian.Uint32(data[at:]) != embeddedSignature {
			return errors.New("its signature has another form")
		}
		return nil
	}
	return errors.New("it has no signature")
}
