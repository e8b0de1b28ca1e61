package accounts

// Exported for the tests of the package.

var JobsBehind = jobsBehind
