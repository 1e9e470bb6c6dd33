//! The manifests, against the types that `k8s-openapi` makes from the schema of Kubernetes.

use k8s_openapi::api::{
    apps::v1::Deployment,
    core::v1::{PersistentVolumeClaim, PodSpec, Service},
};
use serde::{Serialize, de::DeserializeOwned};
use serde_json::Value;

use crate::{DEPLOY, file, waits};

/// The object that a text describes. A field that the schema does not have is an error, as for `kubectl apply`.
fn strict<T: DeserializeOwned + Serialize>(manifest: &Value) -> Result<T, String> {
    let object = T::deserialize(manifest).map_err(|error| error.to_string())?;
    // The types ignore what they do not know, so it is missing when they are written again.
    let known = serde_json::to_value(&object).map_err(|error| error.to_string())?;
    if known == *manifest { Ok(object) } else { Err(format!("{known} lacks a part of {manifest}")) }
}

fn manifests(name: &str) -> Vec<Value> {
    let documents = file(DEPLOY, name).split("\n---\n");
    documents.map(|yaml| serde_saphyr::from_str(yaml).expect("it is YAML")).collect()
}

fn deployment() -> Deployment {
    strict(&manifests("blog.yaml")[1]).expect("it is a Deployment")
}

fn pod(deployment: &Deployment) -> &PodSpec {
    let template = &deployment.spec.as_ref().expect("it has a spec").template;
    template.spec.as_ref().expect("it has a pod")
}

#[test]
fn the_manifests_are_what_kubernetes_describes() {
    let [claim, deployment, service] = manifests("blog.yaml").try_into().expect("three documents");
    strict::<PersistentVolumeClaim>(&claim).expect("it is a claim");
    strict::<Deployment>(&deployment).expect("it is a Deployment");
    strict::<Service>(&service).expect("it is a Service");

    let text = deployment.to_string();
    for (right, wrong) in [
        ("\"mountPath\"", "\"mountpath\""),
        ("\"replicas\":1", "\"replicas\":\"one\""),
        ("\"periodSeconds\"", "\"periodSecond\""),
    ] {
        let changed = text.replace(right, wrong);
        assert_ne!(changed, text);
        let changed = serde_json::from_str(&changed).expect("it is JSON");
        assert!(strict::<Deployment>(&changed).is_err(), "{wrong}");
    }
}

#[test]
fn one_pod_at_a_time_has_the_folder_of_the_inbox_on_its_claim() {
    let deployment = deployment();
    let spec = deployment.spec.as_ref().expect("it has a spec");
    assert_eq!(spec.replicas, Some(1));
    let strategy = spec.strategy.as_ref().and_then(|strategy| strategy.type_.as_deref());
    assert_eq!(strategy, Some("Recreate"));

    let pod = pod(&deployment);
    let mounts = pod.containers[0].volume_mounts.as_deref().expect("it has mounts");
    assert!(mounts.iter().all(|mount| mount.sub_path.is_none()), "a single file is mounted");
    let of_the_inbox = mounts.iter().find(|mount| mount.mount_path == "/data").expect("a mount");
    let volumes = pod.volumes.as_deref().expect("it has volumes");
    let volume = volumes.iter().find(|volume| volume.name == of_the_inbox.name).expect("a volume");
    let claim = volume.persistent_volume_claim.as_ref().expect("it is a claim");
    let manifest = strict::<PersistentVolumeClaim>(&manifests("blog.yaml")[0]);
    let manifest = manifest.expect("it is a claim");
    assert_eq!(manifest.metadata.name.as_ref(), Some(&claim.claim_name));
}

#[test]
fn the_probes_ask_for_the_paths_of_the_program_and_the_pod_is_waited_for() {
    let deployment = deployment();
    let pod = pod(&deployment);
    let probes = [&pod.containers[0].readiness_probe, &pod.containers[0].liveness_probe];
    let paths = probes.map(|probe| {
        let call = probe.as_ref().and_then(|probe| probe.http_get.as_ref());
        call.and_then(|call| call.path.clone()).expect("it is a path")
    });
    assert_eq!(paths, ["/ready", "/live"]);
    for path in paths {
        assert!(DEPLOY.contains(&format!(".route(\"{path}\", get(")), "{path}");
    }
    let seconds = pod.termination_grace_period_seconds.expect("it is set");
    assert!(waits(&seconds.to_string()));
}

#[test]
fn the_change_for_two_pods_makes_a_deployment_without_a_gap() {
    let mut changed = manifests("blog.yaml").swap_remove(1);
    merge(&mut changed, manifests("overlap.yaml").swap_remove(0));
    let deployment: Deployment = strict(&changed).expect("it is a Deployment");
    let spec = deployment.spec.as_ref().expect("it has a spec");
    assert_eq!(spec.replicas, Some(2));
    let rolling = spec.strategy.as_ref().and_then(|strategy| strategy.rolling_update.as_ref());
    let unavailable = rolling.and_then(|rolling| rolling.max_unavailable.as_ref());
    assert_eq!(serde_json::to_value(unavailable).expect("it is JSON"), 0);
}

/// As `kubectl patch --type merge` does.
fn merge(target: &mut Value, patch: Value) {
    match (target, patch) {
        (Value::Object(target), Value::Object(patch)) => {
            for (key, value) in patch {
                merge(target.entry(key).or_insert(Value::Null), value);
            }
        }
        (target, patch) => *target = patch,
    }
}
