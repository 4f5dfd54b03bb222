import type { PodSpec, Volume } from '../api/types/core/v1.ts';

/** Which secrets and config maps a pod names, wherever it may (Kubernetes: pkg/api/v1/pod, VisitPod…Names). */

export const podSecretNames = (spec: PodSpec): string[] =>
  named([
    ...(spec.imagePullSecrets ?? []).map(({ name }) => name),
    ...environmentNames(spec, 'secretRef', 'secretKeyRef'),
    ...(spec.volumes ?? []).flatMap(volumeSecretNames),
  ]);

export const podConfigMapNames = (spec: PodSpec): string[] =>
  named([
    ...environmentNames(spec, 'configMapRef', 'configMapKeyRef'),
    ...(spec.volumes ?? []).flatMap(({ configMap, projected }) => [
      configMap?.name,
      ...(projected?.sources ?? []).map((source) => source.configMap?.name),
    ]),
  ]);

/** Undefined and empty: a reference that names nothing. */
type Name = string | undefined;

const named = (names: readonly Name[]): string[] =>
  names.filter((name) => name !== undefined).filter((name) => name !== '');

const volumeSecretNames = (volume: Volume): Name[] => [
  volume.azureFile?.secretName,
  volume.cephfs?.secretRef?.name,
  volume.cinder?.secretRef?.name,
  volume.csi?.nodePublishSecretRef?.name,
  volume.flexVolume?.secretRef?.name,
  volume.iscsi?.secretRef?.name,
  volume.rbd?.secretRef?.name,
  volume.scaleIO?.secretRef?.name,
  volume.secret?.secretName,
  volume.storageos?.secretRef?.name,
  ...(volume.projected?.sources ?? []).map(({ secret }) => secret?.name),
];

/** What the environment of the containers comes from: `all` is the field of whole objects, `one` that of single keys. */
function environmentNames(
  { initContainers, containers, ephemeralContainers }: PodSpec,
  all: 'secretRef' | 'configMapRef',
  one: 'secretKeyRef' | 'configMapKeyRef',
): Name[] {
  const every = [...(initContainers ?? []), ...(containers ?? []), ...(ephemeralContainers ?? [])];
  return every.flatMap(({ env, envFrom }) => [
    ...(envFrom ?? []).map((source) => source[all]?.name),
    ...(env ?? []).map(({ valueFrom }) => valueFrom?.[one]?.name),
  ]);
}
