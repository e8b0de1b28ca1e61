package pg

import _ "embed"

// authorities are the certificates of the authorities that sign the certificates of Amazon RDS
// in each region (RSA 2048, G1, the default for new clusters), as Amazon publishes them.
//
//go:embed rds.pem
var authorities []byte
