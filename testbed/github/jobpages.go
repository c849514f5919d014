// SPDX-License-Identifier: Apache-2.0

package github

import (
	"encoding/json"
	"io"
	"net/http"
	"strconv"
	"time"

	"github.com/runner-identity/runner-identity/testbed/github/job"
)

const (
	pollWait    = 30 * time.Second // how long a runner waits for a job unless it says otherwise
	pollLongest = 50 * time.Second
	bodyLimit   = 4 << 20
)

// jobPages are those for a person who queues jobs, and those that a runner with a session works with.
func (s *Simulator) jobPages(page func(string, func(*http.Request) answer)) {
	page("POST /_sim/jobs", s.pageAddJob)
	page("GET /_sim/jobs", func(*http.Request) answer { return answer{status: http.StatusOK, body: s.Jobs()} })
	page("GET /_sim/jobs/{id}", s.pageJob)
	page("GET /_sim/session/job", s.pageNext)
	page("PUT /_sim/session/job/steps/{place}", s.pageReport)
	page("PUT /_sim/session/job", s.pageFinish)
}

func (s *Simulator) pageAddJob(r *http.Request) answer {
	var j job.Job
	if err := decode(r, &j); err != nil {
		return refuse(http.StatusBadRequest, err.Error())
	}
	return answer{status: http.StatusCreated, body: s.AddJob(j)}
}

func (s *Simulator) pageJob(r *http.Request) answer {
	id, err := strconv.ParseInt(r.PathValue("id"), 10, 64)
	j, ok := s.Job(id)
	if err != nil || !ok {
		return notFound()
	}
	return answer{status: http.StatusOK, body: j}
}

// pageNext waits for a job and gives it to the runner; 204 if the wait is over.
func (s *Simulator) pageNext(r *http.Request) answer {
	broken := s.listens(credential(r))
	over := time.After(waitOf(r))
	for r.Context().Err() == nil { // a caller that has gone must not be given a job
		found, changed, status := s.offer(credential(r))
		switch {
		case status != http.StatusOK:
			return noSession()
		case found != nil:
			return answer{status: status, body: found}
		}
		select {
		case <-changed:
		case <-r.Context().Done():
		case <-over:
			return answer{status: http.StatusNoContent}
		}
	}
	broken()
	return answer{status: http.StatusNoContent}
}

func waitOf(r *http.Request) time.Duration {
	seconds, err := strconv.Atoi(r.URL.Query().Get("wait"))
	if err != nil || seconds < 0 {
		return pollWait
	}
	return min(time.Duration(seconds)*time.Second, pollLongest)
}

func (s *Simulator) pageReport(r *http.Request) answer {
	place, err := strconv.Atoi(r.PathValue("place"))
	if err != nil {
		return notFound()
	}
	var result job.Result
	if err := decode(r, &result); err != nil {
		return refuse(http.StatusBadRequest, err.Error())
	}
	if !s.report(credential(r), place, result) {
		return refuse(http.StatusNotFound, "this session runs no job, or the results before this place are missing")
	}
	return answer{status: http.StatusNoContent}
}

func (s *Simulator) pageFinish(r *http.Request) answer {
	var end job.End
	if err := decode(r, &end); err != nil {
		return refuse(http.StatusBadRequest, err.Error())
	}
	switch end.Conclusion {
	case job.Success, job.Failure, job.Cancelled:
	default:
		return refuse(http.StatusBadRequest, "conclusion "+strconv.Quote(string(end.Conclusion))+" is none of success, failure, cancelled")
	}
	if !s.finish(credential(r), end) {
		return refuse(http.StatusNotFound, "this session runs no job")
	}
	return answer{status: http.StatusNoContent}
}

func noSession() answer {
	return refuse(http.StatusNotFound, "no such session: send the one that POST /_sim/session gave as a bearer token")
}

func decode(r *http.Request, v any) error {
	d := json.NewDecoder(io.LimitReader(r.Body, bodyLimit))
	d.DisallowUnknownFields()
	return d.Decode(v)
}
