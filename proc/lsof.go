package proc

import "strings"

// parseLsof parses the output of "lsof -F ftn": one field a line, its kind in the first
// letter. It returns the paths of the wanted descriptors, each once. It is in a file
// for all systems so that its tests run on any.
func parseLsof(output string, wanted func(descriptor, kind string) bool) (files []string) {
	var descriptor, kind string
	seen := make(map[string]bool)
	for line := range strings.Lines(output) {
		line = strings.TrimSuffix(line, "\n")
		if line == "" {
			continue
		}
		switch value := line[1:]; line[0] {
		case 'p':
			descriptor, kind = "", ""
		case 'f':
			descriptor, kind = value, ""
		case 't':
			kind = value
		case 'n':
			if wanted(descriptor, kind) && strings.HasPrefix(value, "/") && !seen[value] {
				seen[value] = true
				files = append(files, value)
			}
		}
	}
	return files
}

// openFile reports whether a descriptor is that of a regular file.
func openFile(descriptor, kind string) bool { return kind == "REG" && isNumber(descriptor) }

// workingFolder reports whether a descriptor is the folder that the process is in.
func workingFolder(descriptor, _ string) bool { return descriptor == "cwd" }

// isNumber reports whether a descriptor is open. Mapped files ("txt", "mem") and
// folders ("cwd") have words instead of numbers.
func isNumber(s string) bool {
	return s != "" && strings.Trim(s, "0123456789") == ""
}
