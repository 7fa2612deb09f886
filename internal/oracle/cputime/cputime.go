// Package cputime returns the processor time that this process has used. On a machine with other
// busy processes it says more about a program than the clock.
package cputime
