package coverage

import (
	"regexp"
	"slices"
	"strings"
)

var (
	commandsPattern = regexp.MustCompile(`(?i)^(available )?commands:?$`)
	longPattern     = regexp.MustCompile(`--[a-zA-Z][\w-]*`)
	shortPattern    = regexp.MustCompile(`^-[a-zA-Z]\b`)
	namePattern     = regexp.MustCompile(`^[a-z][a-z0-9:-]*$`)
)

// Help returns the flags and the sub-commands that a program's command names in what it prints for --help: of commander (Claude Code, Cline, Copilot, OpenClaw,
// Kimi Code), clap (Codex, Grok Build), yargs (OpenCode, Kilo, Gemini CLI, Qwen Code), Pi and oh-my-pi. The command begins with the program's name, which the
// last ones but one repeat in front of a sub-command. A flag is called by its long name, where it has one.
func Help(text string, command []string) (flags, commands []string) {
	inCommands, indent := false, 0
	for line := range strings.Lines(text) {
		words := strings.Fields(line)
		in := len(line) - len(strings.TrimLeft(line, " "))
		switch {
		case len(words) == 0:
		case in == 0:
			inCommands, indent = commandsPattern.MatchString(strings.TrimSpace(line)), 0
		case strings.HasPrefix(words[0], "-"):
			if name := flag(strings.TrimSpace(line)); name != "" && name != "--help" {
				flags = append(flags, name)
			}
		case inCommands:
			if indent == 0 {
				indent = in
			}
			if in == indent && strings.HasPrefix(strings.Join(words, " "), strings.Join(command, " ")+" ") {
				words = words[len(command):]
			}
			name, _, _ := strings.Cut(words[0], "|")
			name = strings.TrimSuffix(name, ",")
			if in == indent && namePattern.MatchString(name) && name != "help" {
				commands = append(commands, name)
			}
		}
	}
	slices.Sort(flags)
	return slices.Compact(flags), commands
}

// flag returns the name of the flag that a line begins with; empty: it is none.
func flag(line string) string {
	head, _, _ := strings.Cut(line, "  ")
	if long := longPattern.FindString(head); long != "" {
		return long
	}
	return shortPattern.FindString(head)
}

// Walk returns the features of a program: "command --flag" and "command sub-command", from what ask returns for a command's --help. The program itself has no
// name in a feature. A command for which skip is true is not asked.
func Walk(program string, ask func(command []string) string, skip func(command string) bool) (features []string) {
	var walk func(command, above []string)
	walk = func(command, above []string) {
		flags, commands := Help(ask(command), append([]string{program}, command...))
		if len(commands) > 0 && slices.Equal(commands, above) {
			return // it prints the help of what is above it
		}
		for _, name := range flags {
			features = append(features, strings.Join(append(slices.Clone(command), name), " "))
		}
		for _, name := range commands {
			below := append(slices.Clone(command), name)
			features = append(features, strings.Join(below, " "))
			if !skip(strings.Join(below, " ")) {
				walk(below, commands)
			}
		}
	}
	walk(nil, nil)
	return features
}
