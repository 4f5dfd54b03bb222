import type { JsonObject, JsonValue } from '../api/object-meta.ts';
import { environmentNames, podSecretNames } from '../object/pod-secrets.ts';
import { type Reference, type RelatedKind, toReference } from './node-relations.ts';

/**
 * What pods and volumes refer to, and the node that runs them therefore may read (Kubernetes: node authorizer, graph;
 * pkg/api/v1/pod, VisitPodConfigmapNames).
 */

const MIRROR = 'kubernetes.io/config.mirror';

/** Sources of a persistent volume whose secret is in its own namespace, or else in that of the claim. */
const PERSISTENT_SECRETS = ['cephfs', 'flexVolume', 'iscsi', 'rbd', 'scaleIO'];
/** Sources whose secret has its namespace beside it in any case. */
const NAMESPACED_SECRETS = ['cinder', 'storageos'];
/** Of a CSI volume's secrets those that the node uses; the others are the controller's. */
const CSI_SECRETS = ['nodePublishSecretRef', 'nodeStageSecretRef', 'nodeExpandSecretRef'];

/** A mirror pod gives its node nothing, because the node itself makes such pods. */
export function podReferences(pod: JsonObject): Reference[] {
  const namespace = text(at(pod, 'metadata', 'namespace'));
  if (at(pod, 'metadata', 'annotations', MIRROR) !== undefined) return [];
  const spec = object(pod.spec);
  const named = (kind: RelatedKind, names: readonly string[]): Reference[] =>
    names.filter((name) => name !== '').map((name) => toReference(kind, namespace, name));
  return [
    ...named('serviceaccount', [text(spec.serviceAccountName)]),
    ...named('secret', podSecretNames(spec)),
    ...named('configmap', configMapNames(spec)),
    ...named('persistentvolumeclaim', claimNames(pod, spec)),
    ...named('resourceclaim', resourceClaimNames(pod, spec)),
  ];
}

function configMapNames(spec: JsonObject): string[] {
  return [
    ...environmentNames(spec, 'configMapRef', 'configMapKeyRef'),
    ...list(spec.volumes).flatMap((volume) => [
      text(at(volume, 'configMap', 'name')),
      ...list(at(volume, 'projected', 'sources')).map((source) => text(at(source, 'configMap', 'name'))),
    ]),
  ];
}

/** The claim of an ephemeral volume has the names of the pod and the volume. */
function claimNames(pod: JsonObject, spec: JsonObject): string[] {
  const podName = text(at(pod, 'metadata', 'name'));
  return list(spec.volumes).map((volume) =>
    volume.persistentVolumeClaim === undefined && volume.ephemeral !== undefined
      ? `${podName}-${text(volume.name)}`
      : text(at(volume, 'persistentVolumeClaim', 'claimName')),
  );
}

/** A claim made from a template is known by the pod's status, once it is there. */
function resourceClaimNames(pod: JsonObject, spec: JsonObject): string[] {
  const made = new Map(
    list(at(pod, 'status', 'resourceClaimStatuses')).map(({ name, resourceClaimName }) => [
      text(name),
      text(resourceClaimName),
    ]),
  );
  return list(spec.resourceClaims).map(({ name, resourceClaimName }) =>
    resourceClaimName === undefined ? (made.get(text(name)) ?? '') : text(resourceClaimName),
  );
}

/** The secrets that a node needs to mount a persistent volume. */
export function volumeSecrets(volume: JsonObject): Reference[] {
  const spec = object(volume.spec);
  const claimNamespace = text(at(spec, 'claimRef', 'namespace'));
  const secrets = [
    [at(spec, 'azureFile', 'secretNamespace') || claimNamespace, at(spec, 'azureFile', 'secretName')],
    ...PERSISTENT_SECRETS.map((source) => [
      at(spec, source, 'secretRef', 'namespace') || claimNamespace,
      at(spec, source, 'secretRef', 'name'),
    ]),
    ...NAMESPACED_SECRETS.map((source) => [
      at(spec, source, 'secretRef', 'namespace'),
      at(spec, source, 'secretRef', 'name'),
    ]),
    ...CSI_SECRETS.map((secret) => [at(spec, 'csi', secret, 'namespace'), at(spec, 'csi', secret, 'name')]),
  ];
  return secrets
    .filter(([, name]) => text(name) !== '')
    .map(([namespace, name]) => toReference('secret', text(namespace), text(name)));
}

const text = (value: JsonValue | undefined): string => (typeof value === 'string' ? value : '');

const object = (value: JsonValue | undefined): JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? value : {};

const list = (value: JsonValue | undefined): JsonObject[] => (Array.isArray(value) ? value.map(object) : []);

function at(value: JsonObject, ...path: readonly string[]): JsonValue | undefined {
  let found: JsonValue | undefined = value;
  for (const name of path) found = object(found)[name];
  return found;
}
