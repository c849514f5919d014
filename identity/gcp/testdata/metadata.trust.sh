# Workload Identity Federation for GKE, once for each cluster that is not an Autopilot one, and for each of its node pools (replace NODE_POOL)
gcloud container clusters update ci --project acme-ci --location europe-west1 --workload-pool acme-ci.svc.id.goog
gcloud container node-pools update NODE_POOL --cluster ci --project acme-ci --location europe-west1 --workload-metadata GKE_METADATA

# Binding on the Google service account, once for each ServiceAccount
gcloud iam service-accounts add-iam-policy-binding ci@acme-ci.iam.gserviceaccount.com --project acme-ci --role roles/iam.workloadIdentityUser --member 'serviceAccount:acme-ci.svc.id.goog[ci/build-job]'

# Reading images; roles/artifactregistry.writer in place of the reader lets jobs push
gcloud artifacts repositories add-iam-policy-binding gcr.io --project acme-ci --location us --role roles/artifactregistry.reader --member 'serviceAccount:ci@acme-ci.iam.gserviceaccount.com'

# Use of the quota project
gcloud projects add-iam-policy-binding acme-quota --role roles/serviceusage.serviceUsageConsumer --member 'serviceAccount:acme-ci.svc.id.goog[ci/build-job]'

# In place of one binding for each ServiceAccount, and wider: this member is every ServiceAccount of the namespace in every cluster of the project (replace PROJECT_NUMBER by what `gcloud projects describe acme-ci --format='value(projectNumber)'` prints)
gcloud iam service-accounts add-iam-policy-binding ci@acme-ci.iam.gserviceaccount.com --project acme-ci --role roles/iam.workloadIdentityUser --member 'principalSet://iam.googleapis.com/projects/PROJECT_NUMBER/locations/global/workloadIdentityPools/acme-ci.svc.id.goog/namespace/ci'

