// Package sshtest starts real ssh servers on loopback for tests. It needs Linux.
package sshtest
