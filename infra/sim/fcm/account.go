package fcm

import (
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"

	"matchday/infra/sim/clock"
)

// NewAccount returns a server with a service account of its own, and a function that writes the JSON
// file of the account's key for the server's URL.
func NewAccount(c *clock.Clock, cfg Config) (s *Server, key func(url string) []byte) {
	private, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		panic(err) // there is no randomness
	}

	der, err := x509.MarshalPKCS8PrivateKey(private)
	if err != nil {
		panic(err)
	}

	cfg.Email, cfg.KeyID, cfg.PublicKey = "push@"+cfg.Project+".iam.gserviceaccount.com", rand.Text(), &private.PublicKey

	return New(c, cfg), func(url string) []byte {
		file, _ := json.Marshal(map[string]string{
			"type": "service_account", "project_id": cfg.Project, "client_email": cfg.Email, "private_key_id": cfg.KeyID,
			"private_key": string(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der})), "token_uri": url + "/token",
		})

		return file
	}
}
