package proc

import (
	"errors"
	"fmt"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"

	"golang.org/x/sys/windows"
)

var errBatchArg = errors.New("a batch file takes no argument with a line break")

// Batch changes a command that runs a batch file, such as npm installs for each
// program, so that the file gets exactly these arguments. Windows gives a batch file to
// cmd.exe, for which a quote or a percent sign in an argument begins commands and
// variables. Batch leaves other commands as they are. An error names an argument that
// can't be passed.
func Batch(cmd *exec.Cmd) error {
	switch strings.ToLower(filepath.Ext(cmd.Path)) {
	case ".cmd", ".bat":
	default:
		return nil
	}
	var line strings.Builder
	// The options turn the extensions of cmd.exe on, and delayed expansion and AutoRun off.
	fmt.Fprintf(&line, `cmd.exe /e:ON /v:OFF /d /c ""%s"`, cmd.Path)
	for _, arg := range cmd.Args[min(1, len(cmd.Args)):] {
		if strings.ContainsAny(arg, "\r\n\x00") {
			return fmt.Errorf("%s: %w", cmd.Path, errBatchArg)
		}
		line.WriteByte(' ')
		line.WriteString(batchArg(arg))
	}
	line.WriteByte('"')
	system, err := windows.GetSystemDirectory()
	if err != nil {
		return err
	}
	cmd.Path = filepath.Join(system, "cmd.exe")
	if cmd.SysProcAttr == nil {
		cmd.SysProcAttr = &syscall.SysProcAttr{}
	}
	cmd.SysProcAttr.CmdLine = line.String()
	return nil
}

// batchArg quotes an argument for cmd.exe and for the program behind it. A quote is
// doubled, which leaves both inside the quotes. A percent sign gets an empty part of
// %cd% behind it, so that it begins no variable.
func batchArg(arg string) string {
	var b strings.Builder
	b.WriteByte('"')
	slashes := 0
	for i := range len(arg) {
		switch arg[i] {
		case '\\':
			slashes++
		case '"':
			b.WriteString(strings.Repeat(`\`, slashes))
			b.WriteByte('"')
			slashes = 0
		case '%':
			b.WriteString("%%cd:~,")
			slashes = 0
		default:
			slashes = 0
		}
		b.WriteByte(arg[i])
	}
	b.WriteString(strings.Repeat(`\`, slashes))
	b.WriteByte('"')
	return b.String()
}
