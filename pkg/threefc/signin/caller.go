package signin

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"net/netip"

	"github.com/awslabs/aws-lambda-go-api-proxy/core"
)

// CallerOf returns the SHA-256 of the address of the caller: of IPv6 that of the network,
// 64 bits, which is one customer's.
func CallerOf(ctx context.Context) string {
	in, _ := core.GetAPIGatewayV2ContextFromContext(ctx)
	from, err := netip.ParseAddr(in.HTTP.SourceIP)

	network := netip.PrefixFrom(from, 0)
	if err == nil {
		from = from.Unmap()
		network, _ = from.Prefix(min(from.BitLen(), 64))
	}

	sum := sha256.Sum256([]byte(network.String()))

	return hex.EncodeToString(sum[:])
}
