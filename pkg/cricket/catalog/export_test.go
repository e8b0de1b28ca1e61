package catalog

// Exported for the tests of the package.

var CacheReference = cacheReference.CacheControl
