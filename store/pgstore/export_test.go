package pgstore

// PlainAddress returns the address of the database of a volume, in which the volume's schema comes
// before all others.
func PlainAddress(volume string) string {
	a, err := parseAddress(volume)
	if err != nil {
		panic(err)
	}
	c := a.config.ConnConfig
	return "postgres://" + c.User + "@/" + c.Database + "?host=" + c.Host + "&search_path=" + string(a.schema)
}
