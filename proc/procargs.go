package proc

import (
	"bytes"
	"encoding/binary"
	"errors"
)

var errProcArgs = errors.New("arguments and environment in an unknown form")

// parseProcArgs parses what macOS returns for the sysctl kern.procargs2: the number of
// arguments (32 bits, little endian), the path that was executed, zero bytes as
// padding, the arguments, then the environment up to an empty string. For processes
// whose environment the system hides, env is empty. parseProcArgs is in a file for all
// systems so that its tests run on any.
func parseProcArgs(b []byte) (exe string, args, env []string, err error) {
	if len(b) < 4 {
		return "", nil, nil, errProcArgs
	}
	count := int(int32(binary.LittleEndian.Uint32(b)))
	path, rest, found := bytes.Cut(b[4:], []byte{0})
	if count < 0 || !found {
		return "", nil, nil, errProcArgs
	}
	rest = bytes.TrimLeft(rest, "\x00")
	for range count {
		var arg []byte
		if arg, rest, found = bytes.Cut(rest, []byte{0}); !found {
			return "", nil, nil, errProcArgs
		}
		args = append(args, string(arg))
	}
	for len(rest) > 0 && rest[0] != 0 {
		var entry []byte
		entry, rest, _ = bytes.Cut(rest, []byte{0})
		if bytes.IndexByte(entry, '=') > 0 {
			env = append(env, string(entry))
		}
	}
	return string(path), args, env, nil
}
