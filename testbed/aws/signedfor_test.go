// SPDX-License-Identifier: Apache-2.0

package aws_test

import (
	"context"

	"github.com/aws/aws-sdk-go-v2/service/ecr"
	"github.com/aws/smithy-go"
	smithyauth "github.com/aws/smithy-go/auth"
	smithyhttp "github.com/aws/smithy-go/transport/http"
)

// signedFor makes the SDK sign for another service than its own.
type signedFor string

// ResolveAuthSchemes is SigV4 with the wrong name.
func (s signedFor) ResolveAuthSchemes(context.Context, *ecr.AuthResolverParameters) ([]*smithyauth.Option, error) {
	var p smithy.Properties
	smithyhttp.SetSigV4SigningName(&p, string(s))
	smithyhttp.SetSigV4SigningRegion(&p, region)
	return []*smithyauth.Option{{SchemeID: smithyauth.SchemeIDSigV4, SignerProperties: p}}, nil
}
