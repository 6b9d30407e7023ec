package keep

import (
	"os"
	"strings"
)

// program is the file of a running program.
type program struct {
	path string
	info os.FileInfo
}

// thisProgram returns the file of this process's program, or the zero value.
func thisProgram() (p program) {
	path, err := programPath()
	if err != nil {
		return program{}
	}
	info, err := os.Stat(path)
	if err != nil {
		return program{}
	}
	return program{path, info}
}

// replaced reports whether another file has taken the place of the program's. A program that was removed is not replaced.
func (p *program) replaced() bool {
	if p.info == nil {
		return false
	}
	info, err := os.Stat(p.path)
	return err == nil && (!os.SameFile(info, p.info) || info.Size() != p.info.Size() || !info.ModTime().Equal(p.info.ModTime()))
}

// programPath returns the path of this program. It is the new file's if the program was replaced while it runs.
func programPath() (string, error) {
	path, err := os.Executable()
	return strings.TrimSuffix(path, " (deleted)"), err // Linux adds that
}
