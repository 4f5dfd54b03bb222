import type { Container, Pod, PodSpec, Volume } from '../api/types/core/v1.ts';
import { parseQuantity } from './quantity.ts';

/** The secrets and config maps that a pod refers to, in any field (Kubernetes: pkg/api/v1/pod, VisitPod…Names). */

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

/** Undefined and empty: a reference without a name. */
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

/** Sources of the containers' environment: `all` is the field that names whole objects, `one` the field for single keys. */
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

/**
 * Guaranteed: limits everywhere, with equal requests. BestEffort: neither. Burstable: the rest. What a pod states for all of its
 * containers together counts in their place, even when it is nothing.
 */
export function qosClass(spec: PodSpec): string {
  const counted = spec.resources !== undefined ? [spec] : COUNTED.flatMap((list) => spec[list] ?? []);
  const cpu = amountsOf(counted, 'cpu');
  const memory = amountsOf(counted, 'memory');
  if (!isAsked(cpu) && !isAsked(memory)) return 'BestEffort';
  return isGuaranteed(cpu) && isGuaranteed(memory) ? 'Guaranteed' : 'Burstable';
}

/**
 * Whether an update leaves the class of service as it was: as its status has it or, where a newer version of Kubernetes counted
 * fields that the emulated one lacks, as the rest of the old pod has it.
 */
export const keepsQosClass = (spec: PodSpec, old: Pod): boolean =>
  [old.status?.qosClass, qosClass(old.spec ?? {})].includes(qosClass(spec));

/** Sums over all containers, in billionths. */
interface Amounts {
  readonly limits: bigint;
  readonly requests: bigint;
  readonly limitedEverywhere: boolean;
}

const COUNTED = ['containers', 'initContainers'] as const;

function amountsOf(counted: readonly Pick<Container, 'resources'>[], name: 'cpu' | 'memory'): Amounts {
  let limits = 0n;
  let requests = 0n;
  let limitedEverywhere = true;
  for (const { resources } of counted) {
    const limit = amount(resources?.limits, name);
    if (limit === 0n) limitedEverywhere = false;
    limits += limit;
    requests += amount(resources?.requests, name);
  }
  return { limits, requests, limitedEverywhere };
}

/** Zero counts as absent. */
function amount(list: Readonly<Record<string, string>> | undefined, name: string): bigint {
  const value = list?.[name];
  const nanos = value === undefined ? 0n : (parseQuantity(value)?.nanos ?? 0n);
  return nanos > 0n ? nanos : 0n;
}

const isAsked = ({ limits, requests }: Amounts): boolean => limits > 0n || requests > 0n;

const isGuaranteed = ({ limits, requests, limitedEverywhere }: Amounts): boolean =>
  limitedEverywhere && limits === requests;
