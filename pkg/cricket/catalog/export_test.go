package catalog

// Exported for the tests of the package.

const (
	CacheReference = cacheReference
)
