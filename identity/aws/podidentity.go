// SPDX-License-Identifier: Apache-2.0

package aws

const podIdentityService = "pods.eks.amazonaws.com"
