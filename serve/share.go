package serve

// A share is a link.
type share struct{}
