package member

// Exported for the tests of the package.

const KeepDeleted = keepDeleted
const NoName = noName
