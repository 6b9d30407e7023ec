package proc

import (
	"bytes"
	"encoding/binary"
	"errors"
	"slices"
)

var errProcArgs = errors.New("arguments and environment in an unknown form")

// appleStrings are the names of what macOS itself puts behind the environment of a process (xnu, bsd/kern/kern_exec.c,
// exec_add_apple_strings).
var appleStrings = []string{
	"executable_path", "executable_file", "executable_cdhash", "executable_boothash", "dyld_file", "dyld_flags", "dyld_hw_tpro",
	"ptr_munge", "stack_guard", "malloc_entropy", "main_stack", "pfz", "th_port", "arm64e_abi", "hw_tpro", "security_config", "has_sec_transition",
}

// parseProcArgs parses what macOS returns for the sysctl kern.procargs2: the number of arguments (32 bits, little endian), the path
// that was executed, zero bytes as padding, the arguments, the environment, and strings of the system's own. The arguments of a
// process that sets its title (Node.js does by `process.title`) are the title and zeros up to the environment. For a process whose
// environment is hidden nothing follows the arguments: env is nil then, and empty where the process has none. parseProcArgs is in a
// file for all systems so that its tests run on any.
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
		arg, rest, found = bytes.Cut(rest, []byte{0})
		if !found {
			return "", nil, nil, errProcArgs
		}
		args = append(args, string(arg))
	}
	rest = bytes.TrimLeft(rest, "\x00")
	if len(rest) > 0 {
		env = parseEnvironment(rest)
	}
	return string(path), args, env, nil
}

// parseEnvironment returns the variables at the start of b, up to an empty string or the first of the system's own strings. The
// result is never nil.
func parseEnvironment(b []byte) []string {
	env := []string{}
	for len(b) > 0 && b[0] != 0 {
		var entry []byte
		entry, b, _ = bytes.Cut(b, []byte{0})
		name, _, isVariable := bytes.Cut(entry, []byte{'='})
		if slices.Contains(appleStrings, string(name)) {
			return env
		}
		if isVariable && len(name) > 0 {
			env = append(env, string(entry))
		}
	}
	return env
}
