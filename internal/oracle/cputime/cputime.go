// Package cputime tells how much processor time this process has used: on a machine that others use too it says more of a
// program than the clock.
package cputime
