//go:build !darwin

package focus

import "context"

// raiseByScript adds nothing: this system has no AppleScript.
func (r *request) raiseByScript(context.Context, *Place) bool { return false }
