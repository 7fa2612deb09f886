// Package pageset has sets of page numbers, and tables by page number.
package pageset
