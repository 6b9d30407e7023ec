// Package pressure measures for how long the programs of this machine had to wait, so that tests can allow for a busy
// machine and have strict limits otherwise. Linux only.
package pressure
