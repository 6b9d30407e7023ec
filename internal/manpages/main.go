// Command manpages writes the manual pages of Rollcall's commands, from the same texts as their --help.
//
//	go run ./internal/manpages build/man
package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/cobra/doc"

	_ "rollcall/adapters/all" // registers every agent, which the texts name
	"rollcall/app/cli"
)

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: manpages FOLDER")
		os.Exit(2)
	}
	if err := write(os.Args[1]); err != nil {
		fmt.Fprintln(os.Stderr, "manpages:", err)
		os.Exit(1)
	}
}

// write writes a page for each command to a folder, which it creates.
func write(folder string) error {
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return err
	}
	return writeCommand(cli.Commands(), folder)
}

// writeCommand writes the pages of a command and of all commands below it.
func writeCommand(cmd *cobra.Command, folder string) error {
	for _, sub := range cmd.Commands() {
		if !sub.IsAvailableCommand() {
			continue
		}
		if err := writeCommand(sub, folder); err != nil {
			return err
		}
	}
	text, err := page(cmd)
	if err != nil {
		return err
	}
	name := strings.ReplaceAll(cmd.CommandPath(), " ", "-") + ".1"
	return os.WriteFile(filepath.Join(folder, name), text, 0o644)
}

// page returns the page of a command. It has no date, so that each build of the same source writes the same page.
func page(cmd *cobra.Command) ([]byte, error) {
	const none = "Jan 0001" // the zero time in cobra's form
	cmd.DisableAutoGenTag = true
	cmd.Long = fence(cmd.Long)
	var b bytes.Buffer
	header := &doc.GenManHeader{Section: "1", Date: &time.Time{}, Source: "Rollcall", Manual: "Rollcall"}
	if err := doc.GenMan(cmd, header, &b); err != nil {
		return nil, err
	}
	return bytes.Replace(b.Bytes(), []byte(none), nil, 1), nil
}

// fence marks the indented lines of a help text as an example, which Markdown would join to a paragraph.
func fence(text string) string {
	var out []string
	inside := false
	mark := func(indented bool) {
		if indented != inside {
			out = append(out, "```")
			inside = indented
		}
	}
	for line := range strings.SplitSeq(text, "\n") {
		if line != "" {
			mark(strings.HasPrefix(line, "  ") || strings.HasPrefix(line, "\t"))
		}
		out = append(out, line)
	}
	mark(false)
	return strings.Join(out, "\n")
}
