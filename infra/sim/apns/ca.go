package apns

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"io/fs"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"time"
)

// certificateValidity covers every time of the simulated clock and of the machine's.
func certificateValidity() (from, to time.Time) {
	return time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC), time.Date(2100, 1, 1, 0, 0, 0, 0, time.UTC)
}

// authority returns a certificate authority, as PEM, and a certificate of it
// for this machine. It keeps the authority in dir, unless dir is empty.
func authority(dir string) (ca []byte, cert tls.Certificate, err error) {
	caKey, ca, err := root(dir)
	if err != nil {
		return nil, cert, err
	}

	block, _ := pem.Decode(ca)
	if block == nil {
		return nil, cert, errors.New("the kept certificate is not PEM")
	}

	parent, err := x509.ParseCertificate(block.Bytes)
	if err != nil {
		return nil, cert, err
	}

	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, cert, err
	}

	from, to := certificateValidity()

	der, err := x509.CreateCertificate(rand.Reader, &x509.Certificate{
		SerialNumber: big.NewInt(2),
		Subject:      pkix.Name{CommonName: "localhost"},
		NotBefore:    from,
		NotAfter:     to,
		KeyUsage:     x509.KeyUsageDigitalSignature,
		ExtKeyUsage:  []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
		DNSNames:     []string{"localhost"},
		IPAddresses:  []net.IP{net.IPv4(127, 0, 0, 1), net.IPv6loopback},
	}, parent, key.Public(), caKey)
	if err != nil {
		return nil, cert, err
	}

	return ca, tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}, nil
}

// root returns the authority's key and certificate.
func root(dir string) (*ecdsa.PrivateKey, []byte, error) {
	keyFile, caFile := filepath.Join(dir, "apns-ca.key"), filepath.Join(dir, "apns-ca.pem")
	if dir != "" {
		kept, err := os.ReadFile(keyFile)
		if err == nil {
			key, err := x509.ParseECPrivateKey(kept)
			if err != nil {
				return nil, nil, err
			}

			ca, err := os.ReadFile(caFile)

			return key, ca, err
		}

		if !errors.Is(err, fs.ErrNotExist) {
			return nil, nil, err
		}
	}

	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, nil, err
	}

	from, to := certificateValidity()
	template := &x509.Certificate{
		SerialNumber:          big.NewInt(1),
		Subject:               pkix.Name{CommonName: "local APNs"},
		NotBefore:             from,
		NotAfter:              to,
		KeyUsage:              x509.KeyUsageCertSign,
		BasicConstraintsValid: true,
		IsCA:                  true,
	}

	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		return nil, nil, err
	}

	ca := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})
	if dir == "" {
		return key, ca, nil
	}

	kept, err := x509.MarshalECPrivateKey(key)
	if err != nil {
		return nil, nil, err
	}
	// The key is written last: when it exists, the certificate is complete.
	return key, ca, errors.Join(os.MkdirAll(dir, 0o755), os.WriteFile(caFile, ca, 0o644), os.WriteFile(keyFile, kept, 0o600))
}
