package opener

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"rollcall/bounded"
)

// windowed are editors with their own windows: if VISUAL or EDITOR names one of them, it needs no terminal.
var windowed = []string{"code", "code-insiders", "codium", "cursor", "windsurf", "zed", "zeditor", "subl", "kate", "gedit", "gnome-text-editor", "gvim", "idea", "goland", "pycharm", "webstorm", "rustrover", "clion", "emacs"}

// defaultEditors are the editors that are looked for if the user named none.
var defaultEditors = []string{"code", "codium", "cursor", "windsurf", "zed", "zeditor", "subl", "kate"}

var errNoEditor = errors.New("no editor found; set editor in config.toml, or VISUAL in the environment")

// Editor opens a folder in the user's editor, and returns the editor's name. It uses the editor of the settings, or else that of VISUAL or EDITOR, or else one
// that is installed. An editor of VISUAL or EDITOR runs in a terminal unless it has its own windows.
func (o *Opener) Editor(folder string) (string, error) {
	return bounded.In(folder, bounded.WriteLimit, func(left context.Context) (string, error) {
		argv, inTerminal, err := o.editor(folder)
		if err != nil {
			return "", err
		}
		if inTerminal {
			_, err := o.tryTerminals(left, folder, argv)
			return filepath.Base(argv[0]), err
		}
		return o.start(left, folder, argv)
	})
}

// editor returns the command that opens a folder, and whether it needs a terminal.
func (o *Opener) editor(folder string) (argv []string, inTerminal bool, err error) {
	set, err := o.EditorSetting.Expand(folder, nil)
	if err != nil || set != nil {
		return set, false, err
	}
	for _, name := range []string{"VISUAL", "EDITOR"} {
		words := strings.Fields(o.Getenv(name)) // split without regard to quotes, as programs that run it with a shell expect
		if len(words) == 0 {
			continue
		}
		program := strings.TrimSuffix(filepath.Base(words[0]), ".exe")
		if !slices.Contains(windowed, program) {
			return append(words, folder), true, nil
		}
		words = slices.DeleteFunc(words, func(w string) bool { return w == "--wait" || w == "-w" })
		return append(words, folder), false, nil
	}
	for _, name := range defaultEditors {
		if path, err := o.LookPath(name); err == nil {
			return []string{path, folder}, false, nil
		}
	}
	return nil, false, errNoEditor
}

// Folder shows a folder in the desktop's file manager. The Finder shows it in the folder above: to open it would start it, if an agent has
// made its folder an application. The Explorer is not given a name with a comma, which separates its arguments.
func (o *Opener) Folder(folder string) error {
	argv := []string{"xdg-open", folder}
	switch o.GOOS {
	case "darwin":
		argv = []string{"open", "-R", folder}
	case "windows":
		if strings.Contains(folder, ",") {
			return fmt.Errorf("%q: the Explorer takes a comma for the end of a name, and could start what is named before it: open the folder yourself", folder)
		}
		argv[0] = "explorer.exe"
	}
	_, err := bounded.In(folder, bounded.WriteLimit, func(left context.Context) (string, error) { return o.start(left, folder, argv) })
	return err
}

// start starts a program that has its own windows, and returns its name.
func (o *Opener) start(left context.Context, folder string, argv []string) (string, error) {
	if err := checkFolder(folder); err != nil {
		return "", err
	}
	name := filepath.Base(argv[0])
	path, err := o.LookPath(argv[0])
	if err != nil {
		return "", fmt.Errorf("%s is not installed", name)
	}
	if err := left.Err(); err != nil {
		return "", err
	}
	err = o.run(path, argv[1:], folder)
	if explorer := o.GOOS == "windows" && name == "explorer.exe"; err != nil && !explorer { // the explorer always ends with 1
		return "", fmt.Errorf("%s: %w", name, err)
	}
	return name, nil
}
