// Package history reads a volume as its snapshots see it, and preserves rows for them.
package history
