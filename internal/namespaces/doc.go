// Package namespaces has what a test program does as process 1 of namespaces that
// it has started itself in: it furnishes them and runs the tests, which then see a
// process table, a /tmp and a network of their own. Linux only.
package namespaces
