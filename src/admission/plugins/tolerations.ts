import { NODES, PODS } from '../../api/known-resources.ts';
import type { PodSpec, Toleration } from '../../api/types/core/v1.ts';
import { isExtendedResource } from '../../object/resource-list.ts';
import type { AdmissionPlugin } from '../admission.ts';
import { describePlugin, isWriteOf } from '../plugin.ts';
import { specOf } from './pod-specs.ts';

/** How tolerations cover each other (Kubernetes: pkg/util/tolerations). */

/** Joins two lists without the tolerations that another one covers; of equal ones the first stays. */
export function mergeTolerations(first: readonly Toleration[], second: readonly Toleration[]): Toleration[] {
  const all = [...first, ...second];
  const merged: Toleration[] = [];
  for (const [at, one] of all.entries()) {
    const covered =
      merged.some((held) => covers(held, one)) ||
      all.slice(at + 1).some((later) => !isSame(later, one) && covers(later, one));
    if (!covered) merged.push(one);
  }
  return merged;
}

/** An empty `allowed` allows everything. */
export const areAllowed = (tolerations: readonly Toleration[], allowed: readonly Toleration[]): boolean =>
  allowed.length === 0 || tolerations.every((one) => allowed.some((other) => covers(other, one)));

const TEXTS = ['key', 'operator', 'value', 'effect'] as const;

const isSame = (a: Toleration, b: Toleration): boolean =>
  TEXTS.every((field) => (a[field] ?? '') === (b[field] ?? '')) && secondsOf(a) === secondsOf(b);

/** Undefined: forever. */
const secondsOf = ({ tolerationSeconds }: Toleration): number | undefined =>
  tolerationSeconds === undefined ? undefined : Number(tolerationSeconds);

/** Whether `wide` tolerates everything that `narrow` tolerates. */
export function covers(wide: Toleration, narrow: Toleration): boolean {
  if (isSame(wide, narrow)) return true;
  const { key = '', operator = '', effect = '', value = '' } = wide;
  const anyKey = key === '' && operator === 'Exists';
  if (!anyKey && key !== (narrow.key ?? '')) return false;
  if (effect !== '' && effect !== narrow.effect) return false;
  if (effect === 'NoExecute' && !lastsAsLong(wide, narrow)) return false;
  if (operator === 'Exists') return true;
  const isEqual = operator === 'Equal' || operator === '';
  return isEqual && narrow.operator === 'Equal' && (narrow.value ?? '') === value;
}

function lastsAsLong(wide: Toleration, narrow: Toleration): boolean {
  const seconds = secondsOf(wide);
  if (seconds === undefined) return true;
  const wanted = secondsOf(narrow);
  return wanted !== undefined && wanted <= seconds;
}

const NOT_READY = 'node.kubernetes.io/not-ready';
const UNREACHABLE = 'node.kubernetes.io/unreachable';

interface TolerationSeconds {
  readonly notReady: number;
  readonly unreachable: number;
}

/**
 * Lets a pod without such tolerations stay for a while on a node that has become unready or unreachable (Kubernetes:
 * plugin/pkg/admission/defaulttolerationseconds).
 */
function createDefaultTolerations(seconds: TolerationSeconds): AdmissionPlugin {
  const wanted = [
    [NOT_READY, seconds.notReady],
    [UNREACHABLE, seconds.unreachable],
  ] as const;
  return {
    name: 'DefaultTolerationSeconds',
    operations: ['CREATE', 'UPDATE'],
    mutate: (attributes) => {
      if (!isWriteOf(attributes, PODS)) return;
      const spec = attributes.object?.spec;
      if (spec === undefined) return;
      const held = spec.tolerations ?? [];
      const missing = wanted.filter(([key]) => !held.some((toleration) => isCovered(toleration, key)));
      if (missing.length === 0) return;
      spec.tolerations = [
        ...held,
        ...missing.map(([key, tolerationSeconds]) => toleration(key, tolerationSeconds)),
      ];
    },
  };
}

const isCovered = ({ key = '', effect = '' }: Toleration, wanted: string): boolean =>
  (key === wanted || key === '') && (effect === 'NoExecute' || effect === '');

const toleration = (key: string, tolerationSeconds: number): Toleration => ({
  key,
  operator: 'Exists',
  effect: 'NoExecute',
  tolerationSeconds,
});

export const defaultTolerationSeconds = describePlugin({
  name: 'DefaultTolerationSeconds',
  isDefault: true,
  create: ({ tolerationSeconds }: { readonly tolerationSeconds: TolerationSeconds }) =>
    createDefaultTolerations(tolerationSeconds),
});

/**
 * Nodes with special hardware have a taint with its name; pods that request the hardware tolerate the taint
 * (Kubernetes: plugin/pkg/admission/extendedresourcetoleration).
 */
const tolerateExtendedResources: AdmissionPlugin = {
  name: 'ExtendedResourceToleration',
  operations: ['CREATE', 'UPDATE'],
  mutate: (attributes) => {
    if (!isWriteOf(attributes, PODS) || attributes.object === undefined) return;
    const spec = specOf(attributes.object);
    for (const resource of requestedBy(spec)) tolerate(spec, resource);
  },
};

function requestedBy({ containers, initContainers }: PodSpec): string[] {
  const names = [...(containers ?? []), ...(initContainers ?? [])].flatMap(({ resources }) =>
    Object.keys(resources?.requests ?? {}),
  );
  return [...new Set(names)].filter(isExtendedResource).sort();
}

function tolerate(spec: PodSpec, key: string): void {
  const wanted: Toleration = { key, operator: 'Exists', effect: 'NoSchedule' };
  const matches = (held: Toleration): boolean =>
    held.key === key && held.operator === wanted.operator && held.effect === wanted.effect && !held.value;
  const { tolerations = [] } = spec;
  spec.tolerations = tolerations.some(matches)
    ? tolerations.map((held) => (matches(held) ? { ...wanted } : held))
    : [...tolerations, wanted];
}

export const extendedResourceToleration = describePlugin({
  name: 'ExtendedResourceToleration',
  isDefault: false,
  create: () => tolerateExtendedResources,
});

const KEY = 'node.kubernetes.io/not-ready';
const EFFECT = 'NoSchedule';

/** Taints new nodes, so that no pod is placed on them until a controller finds them ready (Kubernetes: nodetaint). */
const taintNewNodes: AdmissionPlugin = {
  name: 'TaintNodesByCondition',
  operations: ['CREATE'],
  mutate: (attributes) => {
    if (!isWriteOf(attributes, NODES) || attributes.object === undefined) return;
    const { object } = attributes;
    const taints = object.spec?.taints ?? [];
    if (taints.some(({ key, effect }) => key === KEY && effect === EFFECT)) return;
    object.spec = { ...object.spec, taints: [...taints, { key: KEY, effect: EFFECT }] };
  },
};

export const taintNodesByCondition = describePlugin({
  name: 'TaintNodesByCondition',
  isDefault: true,
  create: () => taintNewNodes,
});
