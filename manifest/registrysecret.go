// SPDX-License-Identifier: Apache-2.0

package manifest

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/runner-identity/runner-identity/api/v1alpha1"
	"github.com/runner-identity/runner-identity/identity"
	"github.com/runner-identity/runner-identity/resolve"
)

// Login is a login to one registry host, bare.
type Login struct {
	Host string
	identity.Credential
}

// dockerConfig is the docker client's config.json, as far as a pull secret has it.
type dockerConfig struct {
	Auths map[string]dockerAuth `json:"auths"`
}

// dockerAuth is one login. The words are the docker client's.
type dockerAuth struct {
	Username string `json:"username"`
	Password string `json:"password"`
	Auth     string `json:"auth"`
}

// RegistrySecret is the pull secret of an identity: kubernetes.io/dockerconfigjson with one entry a host, keyed by the bare host,
// the one form that kubelet, docker, containerd, buildkit and kaniko all match. Its annotation says when the first login expires.
func RegistrySecret(ri *v1alpha1.RunnerIdentity, logins []Login) (*corev1.Secret, error) {
	config := dockerConfig{Auths: map[string]dockerAuth{}}
	var expires time.Time
	for _, l := range logins {
		if l.Expires.IsZero() {
			return nil, fmt.Errorf("login to %s: has no expiry", l.Host)
		}
		password := l.Password.Reveal()
		config.Auths[l.Host] = dockerAuth{
			Username: l.Username,
			Password: password,
			Auth:     base64.StdEncoding.EncodeToString([]byte(l.Username + ":" + password)),
		}
		if expires.IsZero() || l.Expires.Before(expires) {
			expires = l.Expires
		}
	}
	b, err := json.Marshal(config)
	if err != nil {
		return nil, fmt.Errorf("encode docker config: %w", err)
	}
	s := &corev1.Secret{
		TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Secret"},
		ObjectMeta: metav1.ObjectMeta{
			Namespace: ri.Namespace,
			Name:      resolve.RegistrySecretName(ri.Name),
			Labels:    map[string]string{v1alpha1.LabelRunnerIdentity: ri.Name, v1alpha1.LabelManagedBy: v1alpha1.FieldOwner},
		},
		Type: corev1.SecretTypeDockerConfigJson,
		Data: map[string][]byte{corev1.DockerConfigJsonKey: b},
	}
	if !expires.IsZero() {
		s.Annotations = map[string]string{v1alpha1.AnnotationExpires: expires.UTC().Format(time.RFC3339)}
	}
	return s, nil
}
