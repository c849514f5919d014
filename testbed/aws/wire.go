// SPDX-License-Identifier: Apache-2.0

package aws

import (
	"encoding/json"
	"encoding/xml"
	"errors"
	"net/http"

	"github.com/runner-identity/runner-identity/testbed/sim"
)

const stsNamespace = "https://sts.amazonaws.com/doc/2011-06-15/"

type queryResponse struct {
	XMLName   xml.Name
	Result    any
	RequestID string `xml:"ResponseMetadata>RequestId"`
}

type queryError struct {
	XMLName   xml.Name `xml:"https://sts.amazonaws.com/doc/2011-06-15/ ErrorResponse"`
	Type      string   `xml:"Error>Type"`
	Code      string   `xml:"Error>Code"`
	Message   string   `xml:"Error>Message"`
	RequestID string   `xml:"RequestId"`
}

type jsonError struct {
	Type    string `json:"__type"`
	Message string `json:"message"`
}

// jsonService is the service whose target header begins with prefix.
func jsonService(prefix string) string {
	switch prefix {
	case "AmazonEC2ContainerRegistry_V20150921":
		return ECR
	case "SpencerFrontendService":
		return ECRPublic
	}
	return prefix
}

// write sends the reply, or the error, in the words of the service's protocol.
func (c *call) write(w http.ResponseWriter, reply any, err error) {
	w.Header().Set("X-Amzn-Requestid", c.id)
	status, body := http.StatusOK, reply
	if e := asAPI(err); e != nil {
		status, body = e.status, c.errorBody(e)
	} else if c.service == STS {
		body = queryResponse{XMLName: xml.Name{Space: stsNamespace, Local: c.action + "Response"}, Result: reply, RequestID: c.id}
	}
	marshal, kind := json.Marshal, "application/x-amz-json-1.1"
	if c.service == STS {
		marshal, kind = xml.Marshal, "text/xml"
	}
	b, err := marshal(body)
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", kind)
	w.WriteHeader(status)
	_, _ = w.Write(b)
}

func (c *call) errorBody(e *apiError) any {
	if c.service != STS {
		return jsonError{Type: e.code, Message: e.message}
	}
	blame := "Sender"
	if e.status >= http.StatusInternalServerError {
		blame = "Receiver"
	}
	return queryError{Type: blame, Code: e.code, Message: e.message, RequestID: c.id}
}

// asAPI is the error as AWS words it: whatever else went wrong is AWS's own fault.
func asAPI(err error) *apiError {
	if err == nil {
		return nil
	}
	if e, ok := errors.AsType[*apiError](err); ok {
		return e
	}
	return &apiError{status: http.StatusInternalServerError, code: "InternalFailure", message: err.Error()}
}

func codeOf(err error) string {
	if e := asAPI(err); e != nil {
		return e.code
	}
	return sim.OK
}
