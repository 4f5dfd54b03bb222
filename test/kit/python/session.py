"""A session of the official Python client, step by step.

Each step prints one line of JSON: its name, and what it saw or what went wrong. The test beside it says what is right.
"""

import json
import os
import sys
import threading
import traceback

from kubernetes import client, config, dynamic, utils, watch
from kubernetes.client.rest import ApiException

SPACE = "default"
STEPS = []


def step(function):
    STEPS.append(function)
    return function


def labels_of(name):
    return client.V1ObjectMeta(name=name, labels={"session": "python"})


def config_map(name, **data):
    return client.V1ConfigMap(metadata=labels_of(name), data=data)


def refusal(call, *args, **kwargs):
    """Code and reason of what is expected to fail."""
    try:
        call(*args, **kwargs)
    except ApiException as error:
        body = json.loads(error.body)
        causes = [cause.get("field") for cause in body.get("details", {}).get("causes", [])]
        return [error.status, body["reason"], *causes]
    return None


@step
def creates_and_reads(core, **_):
    made = core.create_namespaced_config_map(SPACE, config_map("one", a="1"))
    read = core.read_namespaced_config_map("one", SPACE)
    return {
        "uid": made.metadata.uid == read.metadata.uid,
        "data": read.data,
        "created": read.metadata.creation_timestamp.tzinfo is not None,
        "again": refusal(core.create_namespaced_config_map, SPACE, config_map("one")),
        "missing": refusal(core.read_namespaced_config_map, "none", SPACE),
        "invalid": refusal(core.create_namespaced_config_map, SPACE, config_map("Not A Name")),
    }


@step
def replaces(core, **_):
    read = core.read_namespaced_config_map("one", SPACE)
    read.data = {"a": "2"}
    replaced = core.replace_namespaced_config_map("one", SPACE, read)
    return {
        "data": replaced.data,
        "stale": refusal(core.replace_namespaced_config_map, "one", SPACE, read),
    }


@step
def lists_in_chunks(core, **_):
    for number in range(25):
        core.create_namespaced_config_map(SPACE, config_map(f"many-{number:02}"))
    names, sizes, left, token = [], [], [], None
    while True:
        page = core.list_namespaced_config_map(
            SPACE, label_selector="session=python", limit=10, _continue=token
        )
        sizes.append(len(page.items))
        left.append(page.metadata.remaining_item_count)
        names.extend(item.metadata.name for item in page.items)
        token = page.metadata._continue
        if not token:
            break
    named = core.list_namespaced_config_map(SPACE, field_selector="metadata.name=many-07")
    return {
        "sizes": sizes,
        "left": left,
        "unique": len(set(names)) == len(names),
        "named": [item.metadata.name for item in named.items],
    }


def deployment(replicas):
    template = client.V1PodTemplateSpec(
        metadata=client.V1ObjectMeta(labels={"app": "web"}),
        spec=client.V1PodSpec(containers=[client.V1Container(name="web", image="web:1")]),
    )
    spec = client.V1DeploymentSpec(
        replicas=replicas,
        selector=client.V1LabelSelector(match_labels={"app": "web"}),
        template=template,
    )
    return client.V1Deployment(metadata=labels_of("web"), spec=spec)


@step
def patches(apps, cluster, **_):
    apps.create_namespaced_deployment(SPACE, deployment(2))
    container = {"name": "side", "image": "side:1"}
    strategic = apps.patch_namespaced_deployment(
        "web", SPACE, {"spec": {"template": {"spec": {"containers": [container]}}}}
    )
    operations = [{"op": "replace", "path": "/spec/replicas", "value": 3}]
    listed = apps.patch_namespaced_deployment("web", SPACE, operations)
    kind = cluster.resources.get(api_version="apps/v1", kind="Deployment")
    merged = kind.patch(
        name="web",
        namespace=SPACE,
        body={"metadata": {"annotations": {"merged": "yes"}}},
        content_type="application/merge-patch+json",
    )
    return {
        "strategic": sorted(one.name for one in strategic.spec.template.spec.containers),
        "json": listed.spec.replicas,
        "merge": merged.metadata.annotations.merged,
        "failed": refusal(
            apps.patch_namespaced_deployment,
            "web",
            SPACE,
            [{"op": "test", "path": "/spec/replicas", "value": 99}],
        ),
    }


@step
def scales(apps, **_):
    before = apps.read_namespaced_deployment_scale("web", SPACE)
    patched = apps.patch_namespaced_deployment_scale("web", SPACE, {"spec": {"replicas": 5}})
    patched.spec.replicas = 6
    replaced = apps.replace_namespaced_deployment_scale("web", SPACE, patched)
    return {
        "before": before.spec.replicas,
        "patched": replaced.spec.replicas,
        "selector": replaced.status.selector,
        "stored": apps.read_namespaced_deployment("web", SPACE).spec.replicas,
    }


@step
def writes_a_status(apps, **_):
    status = {"status": {"replicas": 6, "observedGeneration": 1}}
    patched = apps.patch_namespaced_deployment_status("web", SPACE, status)
    return {"status": patched.status.replicas, "spec": patched.spec.replicas}


@step
def watches(core, **_):
    listed = core.list_namespaced_config_map(SPACE, label_selector="watched=yes")

    def change():
        body = config_map("seen", a="1")
        body.metadata.labels["watched"] = "yes"
        core.create_namespaced_config_map(SPACE, body)
        core.patch_namespaced_config_map("seen", SPACE, {"data": {"a": "2"}})
        core.delete_namespaced_config_map("seen", SPACE)

    changing = threading.Thread(target=change)
    changing.start()
    events = []
    watcher = watch.Watch()
    for event in watcher.stream(
        core.list_namespaced_config_map,
        SPACE,
        label_selector="watched=yes",
        resource_version=listed.metadata.resource_version,
        timeout_seconds=20,
    ):
        events.append([event["type"], event["object"].data["a"]])
        if event["type"] == "DELETED":
            watcher.stop()
    changing.join()
    old = []
    try:
        for event in watch.Watch().stream(
            core.list_namespaced_config_map, SPACE, resource_version="1", timeout_seconds=1
        ):
            old.append(event["type"])
    except ApiException as error:
        old = [error.status]
    return {"events": events, "old": old[:1]}


def applied(name, **data):
    metadata = {"name": name, "namespace": SPACE, "labels": {"session": "python"}}
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata, "data": data}


@step
def applies_on_the_server(cluster, **_):
    maps = cluster.resources.get(api_version="v1", kind="ConfigMap")

    def apply(body, manager, force=False):
        # The client sends only text with this content type, and JSON is YAML.
        return cluster.server_side_apply(
            maps,
            name=body["metadata"]["name"],
            body=json.dumps(body),
            namespace=SPACE,
            field_manager=manager,
            force_conflicts=force,
        )

    made = apply(applied("ssa", a="1", b="1"), "first")
    conflict = refusal(apply, applied("ssa", a="2"), "second")
    forced = apply(applied("ssa", a="2"), "second", True)
    released = apply(applied("ssa"), "first")
    managers = sorted(one.manager for one in forced.metadata.managedFields)
    return {
        "made": made.to_dict()["data"],
        "conflict": conflict,
        "forced": forced.to_dict()["data"],
        "managers": managers,
        "released": released.to_dict()["data"],
    }


@step
def finds_kinds(cluster, **_):
    nodes = cluster.resources.get(api_version="v1", kind="Node")
    cron = cluster.resources.get(api_version="batch/v1", kind="CronJob")
    maps = cluster.resources.get(api_version="v1", kind="ConfigMap")
    maps.create(namespace=SPACE, body=applied("dynamic", a="1"))
    got = maps.get(name="dynamic", namespace=SPACE)
    seen = []
    for event in maps.watch(namespace=SPACE, field_selector="metadata.name=dynamic", timeout=5):
        seen.append(event["type"])
        break
    maps.delete(name="dynamic", namespace=SPACE)
    return {
        "namespaced": [nodes.namespaced, cron.namespaced],
        "short": cron.short_names,
        "data": got.data.a,
        "seen": seen,
        "gone": refusal(maps.get, name="dynamic", namespace=SPACE),
    }


@step
def creates_from_manifests(api, core, **_):
    manifest = applied("from-manifest", a="1")
    utils.create_from_dict(api, manifest, namespace=SPACE)
    return {"data": core.read_namespaced_config_map("from-manifest", SPACE).data}


@step
def reviews_access(api, **_):
    attributes = client.V1ResourceAttributes(verb="create", resource="pods", namespace=SPACE)
    review = client.V1SelfSubjectAccessReview(
        spec=client.V1SelfSubjectAccessReviewSpec(resource_attributes=attributes)
    )
    answer = client.AuthorizationV1Api(api).create_self_subject_access_review(review)
    return {"allowed": answer.status.allowed}


@step
def deletes_collections(core, apps, **_):
    apps.delete_namespaced_deployment("web", SPACE, propagation_policy="Background")
    core.delete_collection_namespaced_config_map(SPACE, label_selector="session=python")
    left = core.list_namespaced_config_map(SPACE, label_selector="session=python")
    return {"left": len(left.items), "web": refusal(apps.read_namespaced_deployment, "web", SPACE)}


def main():
    config.load_kube_config(config_file=os.environ["KUBECONFIG"])
    api = client.ApiClient()
    parts = {
        "api": api,
        "core": client.CoreV1Api(api),
        "apps": client.AppsV1Api(api),
        "cluster": dynamic.DynamicClient(api),
    }
    for run in STEPS:
        try:
            line = {"step": run.__name__, "saw": run(**parts)}
        except Exception:  # the test shows what went wrong
            line = {"step": run.__name__, "error": traceback.format_exc()}
        print(json.dumps(line, default=str))
        sys.stdout.flush()


main()
