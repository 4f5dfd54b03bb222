import type { ObjectMeta } from '../../api/object-meta.ts';
import type {
  Container,
  EphemeralContainer,
  PodSecurityContext,
  PodSpec,
  SecurityContext,
} from '../../api/types/core/v1.ts';
import type { Version } from './namespace-levels.ts';

/** A pod or a pod template, in the form that checks read. */
export interface CheckedPod {
  readonly annotations: Readonly<Record<string, string>>;
  readonly spec: Readonly<PodSpec>;
  /** The pod's own securityContext; empty when it has none. */
  readonly context: Readonly<PodSecurityContext>;
  /** In the order of reports: init containers, containers, ephemeral containers. */
  readonly containers: readonly CheckedContainer[];
  /** Whether root in this pod is not root on its node (user namespaces), with the gate UserNamespacesPodSecurityStandards. */
  readonly hasOwnUsers: boolean;
}

export interface CheckedContainer {
  readonly name: string;
  readonly spec: Readonly<Container | EphemeralContainer>;
  /** Its securityContext; empty when it has none. */
  readonly context: Readonly<SecurityContext>;
}

export interface Violation {
  /** Short: `hostPort`. */
  readonly reason: string;
  /** Names the part of the pod: `container "a" uses hostPort 80`. */
  readonly detail: string;
}

export type FindViolation = (pod: CheckedPod) => Violation | undefined;

export interface Check {
  readonly id: string;
  /** Checks of `baseline` count for `restricted` too, unless one of that level takes their place. */
  readonly level: 'baseline' | 'restricted';
  /** Oldest first. Before the first of them, nothing is checked. */
  readonly versions: readonly VersionedCheck[];
}

export interface VersionedCheck {
  readonly since: Version;
  readonly find: FindViolation;
  /** Ids of the baseline checks that this one replaces. */
  readonly overrides?: readonly string[];
}

export function toCheckedPod(
  annotations: ObjectMeta['annotations'],
  spec: Readonly<PodSpec>,
  relaxesOwnUsers: boolean,
): CheckedPod {
  const { initContainers, containers, ephemeralContainers, securityContext, hostUsers } = spec;
  const all = [...(initContainers ?? []), ...(containers ?? []), ...(ephemeralContainers ?? [])];
  return {
    annotations: annotations ?? {},
    spec,
    context: securityContext ?? {},
    containers: all.map(toContainer),
    hasOwnUsers: relaxesOwnUsers && hostUsers === false,
  };
}

const toContainer = (spec: Container | EphemeralContainer): CheckedContainer => ({
  name: spec.name ?? '',
  spec,
  context: spec.securityContext ?? {},
});

/** The fields that the securityContexts of pods and containers share. */
export type SharedContext = Pick<
  PodSecurityContext & SecurityContext,
  'appArmorProfile' | 'seccompProfile' | 'seLinuxOptions' | 'windowsOptions'
>;

/** Some checks skip Windows pods, because validation refuses the field that would satisfy them. */
export const exceptWindows =
  (find: FindViolation): FindViolation =>
  (pod) =>
    pod.spec.os?.name === 'windows' ? undefined : find(pod);

/** Since 1.35 root in a pod with users of its own counts as any other user. */
export const exceptOwnUsers =
  (find: FindViolation): FindViolation =>
  (pod) =>
    pod.spec.hostUsers === false ? undefined : find(pod);

/** Building blocks of the texts of violations. */

/** `"a", "b"`: quoted, but not escaped. */
export const quoted = (items: Iterable<string>): string => `"${[...items].join('", "')}"`;

export const plural = (word: string, count: number): string => (count === 1 ? word : `${word}s`);

/** `container "a"`, `volumes "a", "b"` */
export const named = (word: string, names: readonly string[]): string =>
  `${plural(word, names.length)} ${quoted(names)}`;

export const namesOf = (containers: readonly CheckedContainer[]): string[] =>
  containers.map(({ name }) => name);

/** The parts of a pod that violate a check: `pod and containers "a", "b"`. Empty for none. */
export function settersOf(podDoes: boolean, containers: readonly CheckedContainer[]): string {
  const setters = podDoes ? ['pod'] : [];
  if (containers.length > 0) setters.push(named('container', namesOf(containers)));
  return setters.join(' and ');
}

/** Sorted and without duplicates. */
export const sorted = (items: Iterable<string>): string[] => [...new Set(items)].sort();
