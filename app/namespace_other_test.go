//go:build !linux

package app

import (
	"errors"
	"os/exec"
)

func inUserNamespace(*exec.Cmd) error { return errors.New("user namespaces are Linux's") }
