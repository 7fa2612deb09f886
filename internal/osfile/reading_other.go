//go:build !unix

package osfile

func (d *description) stamp() (Stamp, error) {
	info, err := d.file.Stat()
	if err != nil {
		return Stamp{}, err
	}
	return Stamp{info.Size(), info.ModTime().Unix(), int64(info.ModTime().Nanosecond())}, nil
}

func (d *description) unwritable(string) error { return nil }
