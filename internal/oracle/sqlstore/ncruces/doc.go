// Package ncruces holds package store/sqlstore to its promises over this driver.
package ncruces
