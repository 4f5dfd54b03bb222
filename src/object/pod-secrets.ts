import type { JsonObject } from '../api/object-meta.ts';
import { objectsOf, part, text } from './parts.ts';

/** Which secrets a pod names, wherever it may (Kubernetes: pkg/api/pod, VisitPodSecretNames). */

/** Where the sources of a volume name the pod's secrets. */
const VOLUME_SECRETS: readonly (readonly [path: readonly string[], field: string])[] = [
  [['azureFile'], 'secretName'],
  [['cephfs', 'secretRef'], 'name'],
  [['cinder', 'secretRef'], 'name'],
  [['csi', 'nodePublishSecretRef'], 'name'],
  [['flexVolume', 'secretRef'], 'name'],
  [['iscsi', 'secretRef'], 'name'],
  [['rbd', 'secretRef'], 'name'],
  [['scaleIO', 'secretRef'], 'name'],
  [['secret'], 'secretName'],
  [['storageos', 'secretRef'], 'name'],
];

/** Some may be empty. */
export function podSecretNames(spec: JsonObject): string[] {
  return [
    ...objectsOf(spec.imagePullSecrets).map(({ name }) => text(name)),
    ...environmentNames(spec, 'secretRef', 'secretKeyRef'),
    ...objectsOf(spec.volumes).flatMap((volume) => [
      ...VOLUME_SECRETS.map(([path, field]) => text(part(volume, ...path)[field])),
      ...objectsOf(part(volume, 'projected').sources).map((source) => text(part(source, 'secret').name)),
    ]),
  ];
}

/** What the environment of the containers comes from: `all` is the field of whole objects, `one` that of single keys. */
export function environmentNames(spec: JsonObject, all: string, one: string): string[] {
  const containers = [spec.initContainers, spec.containers, spec.ephemeralContainers].flatMap(objectsOf);
  return containers.flatMap(({ env, envFrom }) => [
    ...objectsOf(envFrom).map((source) => text(part(source, all).name)),
    ...objectsOf(env).map((variable) => text(part(variable, 'valueFrom', one).name)),
  ]);
}
