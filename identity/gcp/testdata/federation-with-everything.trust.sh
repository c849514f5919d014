# Workload identity pool and provider, once for each cluster; if Google cannot read the issuer over the internet, add --jwk-json-path jwks.json with the file that `kubectl get --raw /openid/v1/jwks >jwks.json` writes
gcloud iam workload-identity-pools create ci --project 123456789012 --location global
gcloud iam workload-identity-pools providers create-oidc cluster --project 123456789012 --location global --workload-identity-pool ci --issuer-uri https://oidc.acme.example/cluster --attribute-mapping "google.subject=assertion.sub,attribute.namespace=assertion['kubernetes.io']['namespace']" --allowed-audiences sts.googleapis.com

# Binding on the Google service account, once for each ServiceAccount
gcloud iam service-accounts add-iam-policy-binding ci@acme-ci.iam.gserviceaccount.com --project acme-ci --role roles/iam.workloadIdentityUser --member 'principal://iam.googleapis.com/projects/123456789012/locations/global/workloadIdentityPools/ci/subject/system:serviceaccount:ci:build-job'

# Reading images; roles/artifactregistry.writer in place of the reader lets jobs push
gcloud projects add-iam-policy-binding acme-ci --role roles/artifactregistry.reader --member 'serviceAccount:ci@acme-ci.iam.gserviceaccount.com'

# Use of the quota project
gcloud projects add-iam-policy-binding acme-quota --role roles/serviceusage.serviceUsageConsumer --member 'principal://iam.googleapis.com/projects/123456789012/locations/global/workloadIdentityPools/ci/subject/system:serviceaccount:ci:build-job'

# In place of one binding for each ServiceAccount, and wider: this member is every ServiceAccount of the cluster's namespace
gcloud iam service-accounts add-iam-policy-binding ci@acme-ci.iam.gserviceaccount.com --project acme-ci --role roles/iam.workloadIdentityUser --member 'principalSet://iam.googleapis.com/projects/123456789012/locations/global/workloadIdentityPools/ci/attribute.namespace/ci'

