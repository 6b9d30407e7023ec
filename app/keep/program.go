package keep

import "rollcall/app/executable"

// programPath returns the path of this program. It is the new file's if the program was replaced while it runs.
func programPath() (string, error) { return executable.Path() }
