//go:build unix && !linux

package osfile

func (d *description) status() (status, error) { return d.fullStatus() }

// statusOf returns the status of a name, links not followed.
func statusOf(name string) (status, error) { return fullStatusOf(name) }
