package catalog

// What the tests of the package may see.

const (
	CacheReference = cacheReference
)
