# Workload Identity Federation for GKE, once for each cluster that is not an Autopilot one, and for each of its node pools (replace NODE_POOL)
gcloud container clusters update ci --project acme-ci --location europe-west1 --workload-pool acme-ci.svc.id.goog
gcloud container node-pools update NODE_POOL --cluster ci --project acme-ci --location europe-west1 --workload-metadata GKE_METADATA

# Pulls by the kubelet, which are made as the ServiceAccount itself and fail without this
gcloud projects add-iam-policy-binding acme-ci --role roles/artifactregistry.reader --member 'principal://iam.googleapis.com/projects/123456789012/locations/global/workloadIdentityPools/acme-ci.svc.id.goog/subject/ns/ci/sa/build-job'

# In place of one binding for each ServiceAccount, and wider: this member is every ServiceAccount of the namespace in every cluster of the project
principalSet://iam.googleapis.com/projects/123456789012/locations/global/workloadIdentityPools/acme-ci.svc.id.goog/namespace/ci

