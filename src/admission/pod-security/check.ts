import type { JsonObject, JsonValue } from '../../api/object-meta.ts';
import { objectOf, objectsOf, text } from '../../object/parts.ts';
import type { Version } from './policy.ts';

/** A pod, or the template of one, as checks look at it. */
export interface CheckedPod {
  readonly annotations: Readonly<JsonObject>;
  readonly spec: Readonly<JsonObject>;
  /** The pod's own securityContext; empty when it has none. */
  readonly context: Readonly<JsonObject>;
  /** In the order in which they are told: init containers, containers, ephemeral containers. */
  readonly containers: readonly CheckedContainer[];
  /** Who is root in this pod is nobody on its node, and the gate UserNamespacesPodSecurityStandards is on. */
  readonly hasOwnUsers: boolean;
}

export interface CheckedContainer {
  readonly name: string;
  readonly spec: Readonly<JsonObject>;
  /** Its securityContext; empty when it has none. */
  readonly context: Readonly<JsonObject>;
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
  annotations: JsonValue | undefined,
  spec: Readonly<JsonObject>,
  relaxesOwnUsers: boolean,
): CheckedPod {
  const lists = [spec.initContainers, spec.containers, spec.ephemeralContainers];
  return {
    annotations: objectOf(annotations),
    spec,
    context: objectOf(spec.securityContext),
    containers: lists.flatMap((list) => objectsOf(list).map(toContainer)),
    hasOwnUsers: relaxesOwnUsers && spec.hostUsers === false,
  };
}

const toContainer = (spec: JsonObject): CheckedContainer => ({
  name: text(spec.name),
  spec,
  context: objectOf(spec.securityContext),
});

/** Nothing that a Windows pod may say would help it through some checks: the API server refuses it there. */
export const exceptWindows =
  (find: FindViolation): FindViolation =>
  (pod) =>
    objectOf(pod.spec.os).name === 'windows' ? undefined : find(pod);
