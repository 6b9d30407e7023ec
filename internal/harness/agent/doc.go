//go:build !linux

// Command agent plays the process of a coding agent, on Linux.
package main

func main() {}
