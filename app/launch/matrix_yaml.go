package launch

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strings"

	"go.yaml.in/yaml/v3"
)

const (
	// maxDepth and maxAliases limit the levels and aliases of a matrix file. A real one has three levels and few aliases.
	maxDepth   = 20
	maxAliases = 100
)

// decodeMatrix parses a matrix. Its errors name the line where possible. It returns a panic of the YAML library as an
// error.
func decodeMatrix(text []byte) (file matrixFile, err error) {
	defer func() {
		if p := recover(); p != nil {
			file, err = matrixFile{}, fmt.Errorf("the file can't be read as YAML: %v", p)
		}
	}()
	var top yaml.Node
	d := yaml.NewDecoder(bytes.NewReader(text))
	switch err := d.Decode(&top); {
	case errors.Is(err, io.EOF):
		return file, errors.New("the file is empty")
	case err != nil:
		return file, explainYAML(err)
	}
	aliases := 0
	if err := checkNode(&top, 0, &aliases); err != nil {
		return file, err
	}
	var more yaml.Node
	if err := d.Decode(&more); err == nil {
		return file, fmt.Errorf("line %d: a second document begins; a matrix file has only one", more.Line)
	} else if !errors.Is(err, io.EOF) {
		return file, explainYAML(err)
	}
	// A misspelt key must be an error.
	strict := yaml.NewDecoder(bytes.NewReader(text))
	strict.KnownFields(true)
	if err := strict.Decode(&file); err != nil && !errors.Is(err, io.EOF) {
		return matrixFile{}, explainYAML(err)
	}
	return file, nil
}

// checkNode returns an error for nodes that are nested too deep or have too many aliases. It counts aliases and does not
// follow them.
func checkNode(n *yaml.Node, depth int, aliases *int) error {
	if n.Kind == yaml.AliasNode {
		if *aliases++; *aliases > maxAliases {
			return fmt.Errorf("line %d: more than %d aliases", n.Line, maxAliases)
		}
		return nil
	}
	if depth > maxDepth {
		return fmt.Errorf("line %d: nested deeper than %d levels", n.Line, maxDepth)
	}
	for _, c := range n.Content {
		if err := checkNode(c, depth+1, aliases); err != nil {
			return err
		}
	}
	return nil
}

// unknownField matches the library's message for an unknown key, which names a Go type.
var unknownField = regexp.MustCompile(`field (.*) not found in type \S+`)

// explainYAML returns an error of the library in words for the user.
func explainYAML(err error) error {
	text := strings.TrimPrefix(err.Error(), "yaml: ")
	text = strings.TrimPrefix(text, "unmarshal errors:\n")
	text = unknownField.ReplaceAllString(text, `"$1" is not a key of a matrix file`)
	if !strings.Contains(text, "line ") {
		text = "line 1: " + text // the library omits the number of the first line
	}
	var lines []string
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		line = strings.NewReplacer(" into launch.matrixFile", "", " into launch.matrixHooks", ", where on_create and on_complete belong", " into []launch.matrixEntry", ", where a list of agents belongs",
			" into launch.matrixEntry", ", where an agent belongs", " into []string", ", where a list belongs", " into string", ", where text belongs",
			"cannot unmarshal", "can't use").Replace(line)
		lines = append(lines, line)
	}
	return errors.New(strings.Join(lines, "; "))
}
