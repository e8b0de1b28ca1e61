// Package makefile tests the targets of the Makefile that an operator needs at night.
package makefile
