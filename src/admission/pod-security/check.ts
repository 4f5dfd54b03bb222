import type { ObjectMeta } from '../../api/object-meta.ts';
import type {
  Container,
  EphemeralContainer,
  PodSecurityContext,
  PodSpec,
  SecurityContext,
} from '../../api/types/core/v1.ts';
import type { Version } from './policy.ts';

/** A pod, or the template of one, as checks look at it. */
export interface CheckedPod {
  readonly annotations: Readonly<Record<string, string>>;
  readonly spec: Readonly<PodSpec>;
  /** The pod's own securityContext; empty when it has none. */
  readonly context: Readonly<PodSecurityContext>;
  /** In the order in which they are told: init containers, containers, ephemeral containers. */
  readonly containers: readonly CheckedContainer[];
  /** Who is root in this pod is nobody on its node, and the gate UserNamespacesPodSecurityStandards is on. */
  readonly hasOwnUsers: boolean;
}

export interface CheckedContainer {
  readonly name: string;
  readonly spec: Readonly<Container | EphemeralContainer>;
  /** Its securityContext; empty when it has none. */
  readonly context: Readonly<SecurityContext>;
}

export interface Violation {
  /** As short as can be: `hostPort`. */
  readonly reason: string;
  /** What of this pod is wrong: `container "a" uses hostPort 80`. */
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
  /** Ids of baseline checks whose place this takes. */
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

/** What a securityContext may say of a pod and of a container alike. */
export type SharedContext = Pick<
  PodSecurityContext & SecurityContext,
  'appArmorProfile' | 'seccompProfile' | 'seLinuxOptions' | 'windowsOptions'
>;

/** Nothing that a Windows pod may say would help it through some checks: the API server refuses it there. */
export const exceptWindows =
  (find: FindViolation): FindViolation =>
  (pod) =>
    pod.spec.os?.name === 'windows' ? undefined : find(pod);

/** The words that violations are told in. */

/** `"a", "b"`: quoted, but not escaped. */
export const quoted = (items: Iterable<string>): string => `"${[...items].join('", "')}"`;

export const plural = (word: string, count: number): string => (count === 1 ? word : `${word}s`);

/** `container "a"`, `volumes "a", "b"` */
export const named = (word: string, names: readonly string[]): string =>
  `${plural(word, names.length)} ${quoted(names)}`;

export const namesOf = (containers: readonly CheckedContainer[]): string[] =>
  containers.map(({ name }) => name);

/** Who of a pod says what it must not: `pod and containers "a", "b"`. Empty: nobody. */
export function settersOf(podDoes: boolean, containers: readonly CheckedContainer[]): string {
  const setters = podDoes ? ['pod'] : [];
  if (containers.length > 0) setters.push(named('container', namesOf(containers)));
  return setters.join(' and ');
}

/** Each once, in order. */
export const sorted = (items: Iterable<string>): string[] => [...new Set(items)].sort();
