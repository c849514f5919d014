# Binding on the Google service account, once for each ServiceAccount
gcloud iam service-accounts add-iam-policy-binding ci@acme-ci.iam.gserviceaccount.com --project acme-ci --role roles/iam.workloadIdentityUser --member 'serviceAccount:CLUSTER_PROJECT_ID.svc.id.goog[ci/build-job]'

