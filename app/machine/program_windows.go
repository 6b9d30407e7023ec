package machine

import "os/exec"

// apart gives the command no console. It is killed when its context is done.
func apart(cmd *exec.Cmd) { detach(cmd) }
