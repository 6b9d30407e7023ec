// Package kit contains what all adapters need to answer: states and their evidence, the words of a status, conversations to search,
// the usage of answers, the environment of processes, ids, and the errors of programs to which adapters connect.
package kit
