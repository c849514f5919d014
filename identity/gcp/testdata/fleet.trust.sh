# Workload identity of the fleet, once for each cluster
gcloud container fleet memberships describe ci --project acme-fleet --location global --format 'value(authority.workloadIdentityPool)'

# Binding on the Google service account, once for each ServiceAccount
gcloud iam service-accounts add-iam-policy-binding ci@acme-ci.iam.gserviceaccount.com --project acme-ci --role roles/iam.workloadIdentityUser --member 'serviceAccount:acme-fleet.svc.id.goog[ci/build-job]'

# In place of one binding for each ServiceAccount, and wider: this member is every ServiceAccount of the namespace in every cluster of the project (replace PROJECT_NUMBER by what `gcloud projects describe acme-fleet --format='value(projectNumber)'` prints)
gcloud iam service-accounts add-iam-policy-binding ci@acme-ci.iam.gserviceaccount.com --project acme-ci --role roles/iam.workloadIdentityUser --member 'principalSet://iam.googleapis.com/projects/PROJECT_NUMBER/locations/global/workloadIdentityPools/acme-fleet.svc.id.goog/namespace/ci'

