package event

// Exported for the tests of the package.

var (
	IsPublic     = isPublic
	CheckAddress = checkAddress
	NewFetcher   = newFetcher
)
