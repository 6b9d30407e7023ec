//go:build race

package adaptertest

// slowness is by how much the race detector slows reading down.
const slowness = 16
