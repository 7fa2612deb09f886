// Package repair checks volumes, and repairs them.
package repair
