//go:build !headless && !linux

package window

// spareShaderCache does nothing: no cache is known that ends the process on a full disk.
func spareShaderCache(string) {}
