import type { ApiObject } from '../../api/object-meta.ts';
import { conflict, type FieldError, invalid } from '../../api/status.ts';
import { notSupported } from '../../object/field-errors.ts';
import { numberOf } from '../../object/json-values.ts';
import { nextGeneration } from '../../object/metadata.ts';
import { toTimestamp } from '../../object/timestamps.ts';
import type { ResourceDefinition } from '../../registry/resource-definition.ts';

/**
 * Deletion in two phases, as a pure decision from an object and the caller's options: remove it now, keep it with a
 * deletionTimestamp, or do nothing more (Kubernetes: registry/rest, BeforeDelete; generic registry, Delete).
 */

export interface DeleteOptions {
  readonly gracePeriodSeconds: number | undefined;
  readonly propagationPolicy: string | undefined;
  readonly orphanDependents: boolean | undefined;
  readonly preconditions: {
    readonly uid?: string;
    readonly resourceVersion?: string;
  };
  readonly dryRun: boolean;
  /** Values of dryRun that mean nothing; absent: none. */
  readonly unknownDryRuns?: readonly string[];
  /** Delete the object even if it cannot be read. */
  readonly ignoresReadErrors?: boolean;
}

export type Deletion =
  /** Remove it; `object` is the state in the DELETED event. */
  | { readonly kind: 'remove'; readonly object: ApiObject }
  /** Keep it, changed. */
  | { readonly kind: 'mark'; readonly object: ApiObject }
  /** Deletion is already under way and this request does not shorten it. */
  | { readonly kind: 'pending' };

export const ORPHAN_FINALIZER = 'orphan';
export const FOREGROUND_FINALIZER = 'foregroundDeletion';

/** @throws StatusError 422 of kind DeleteOptions */
export function checkDeleteOptions(options: DeleteOptions): void {
  const errors: FieldError[] = [];
  const { propagationPolicy: policy } = options;
  if (options.orphanDependents !== undefined && policy !== undefined) {
    errors.push({
      type: 'FieldValueInvalid',
      field: 'propagationPolicy',
      message: `Invalid value: ${JSON.stringify(policy)}: orphanDependents and deletionPropagation cannot be both set`,
    });
  }
  if (policy !== undefined && !['Foreground', 'Background', 'Orphan'].includes(policy)) {
    errors.push({
      type: 'FieldValueNotSupported',
      field: 'propagationPolicy',
      message: `Unsupported value: ${JSON.stringify(policy)}: supported values: "Foreground", "Background", "Orphan", "nil"`,
    });
  }
  errors.push(...dryRunProblems(options.unknownDryRuns), ...unsafeProblems(options));
  if (errors.length > 0) throw invalid({ kind: 'DeleteOptions', group: 'meta.k8s.io' }, '', errors);
}

/** The problem that the only value of dryRun is All. */
export function dryRunProblems(unknown: readonly string[] = []): FieldError[] {
  return unknown.length === 0 ? [] : [notSupported('dryRun', unknown, ['All'])];
}

/** The deletion of an unreadable object takes no other options. */
function unsafeProblems(options: DeleteOptions): FieldError[] {
  if (options.ignoresReadErrors !== true) return [];
  const { dryRun, propagationPolicy, orphanDependents, gracePeriodSeconds, preconditions } = options;
  const others = {
    dryRun: dryRun || undefined,
    ...{ propagationPolicy, orphanDependents, gracePeriodSeconds },
    preconditions: Object.keys(preconditions).length > 0 || undefined,
  };
  const given = Object.entries(others).filter(([, value]) => value !== undefined);
  return given.map(([name]) => ({
    type: 'FieldValueInvalid',
    field: 'ignoreStoreReadErrorWithClusterBreakingPotential',
    message: `Invalid value: true: cannot be set together with .${name}`,
  }));
}

/** @throws StatusError 409 */
export function checkPreconditions(
  definition: ResourceDefinition,
  object: ApiObject,
  resourceVersion: string,
  { preconditions }: DeleteOptions,
): void {
  const { name = '', uid = '' } = object.metadata;
  // Kubernetes names the kind here, not the resource.
  const named = { group: definition.group, resource: definition.kind };
  if (preconditions.uid !== undefined && preconditions.uid !== uid) {
    const why = `the UID in the precondition (${preconditions.uid}) does not match the UID in record (${uid}). The object might have been deleted and then recreated`;
    throw conflict(named, name, why);
  }
  if (preconditions.resourceVersion !== undefined && preconditions.resourceVersion !== resourceVersion) {
    const why = `the ResourceVersion in the precondition (${preconditions.resourceVersion}) does not match the ResourceVersion in record (${resourceVersion}). The object might have been modified`;
    throw conflict(named, name, why);
  }
}

/**
 * Plans a deletion. May change `object` and return it. `collects`: a garbage collector runs, so that finalizers can wait for
 * it.
 */
export function planDeletion(
  definition: ResourceDefinition,
  object: ApiObject,
  options: DeleteOptions,
  { now, collects }: { now: Date; collects: boolean },
): Deletion {
  const { beginDeletion } = definition.strategy;
  if (beginDeletion !== undefined && object.metadata.deletionTimestamp === undefined) {
    beginDeletion(object, toTimestamp(now));
    return { kind: 'mark', object };
  }
  const isHeldBack = definition.strategy.heldBack?.(object) === true;
  if (isHeldBack && object.metadata.deletionTimestamp !== undefined) return { kind: 'pending' };
  const graceful = planGrace(definition, object, options, now);
  if (graceful === 'pending') return { kind: 'pending' };
  if (collects) setCollectorFinalizers(definition, object, options);
  const isHeld = hasFinalizers(definition, object);
  if (graceful === 'now' && !isHeld) return { kind: 'remove', object };
  if (graceful === 'now') {
    markDeleting(object, now);
    // Kubernetes' namespaces get a time and nothing else (registry/core/namespace/storage, Delete).
    if (!isHeldBack) object.metadata.deletionGracePeriodSeconds = 0;
  }
  definition.strategy.prepareForDelete?.(object);
  return { kind: 'mark', object };
}

/** Whether an update removes the last finalizer of an object in deletion, which ends it. */
export function endsWithUpdate(definition: ResourceDefinition, object: ApiObject, old: ApiObject): boolean {
  if (old.metadata.deletionTimestamp === undefined) return false;
  return (old.metadata.deletionGracePeriodSeconds ?? 0) === 0 && !hasFinalizers(definition, object);
}

function hasFinalizers({ strategy }: ResourceDefinition, object: ApiObject): boolean {
  return (object.metadata.finalizers ?? []).length > 0 || strategy.heldBack?.(object) === true;
}

/** Negative periods count as one second; a repeated deletion may only shorten the period. */
function planGrace(
  { strategy }: ResourceDefinition,
  object: ApiObject,
  options: DeleteOptions,
  now: Date,
): 'now' | 'later' | 'pending' {
  if (strategy.gracePeriodSeconds === undefined) return 'now';
  const { metadata } = object;
  const requested = options.gracePeriodSeconds;
  const asked = requested !== undefined && requested < 0 ? 1 : requested;
  const running = numberOf(metadata.deletionGracePeriodSeconds);
  if (metadata.deletionTimestamp !== undefined) {
    if (running === 0) return 'now';
    if (asked === undefined || asked >= running) return 'pending';
    const end = Date.parse(metadata.deletionTimestamp);
    const begun = end < LAST_MS ? end - running * 1000 : now.getTime();
    metadata.deletionTimestamp = toTimestamp(after(begun, asked));
    metadata.deletionGracePeriodSeconds = asked;
    return asked === 0 ? 'now' : 'later';
  }
  const seconds = strategy.gracePeriodSeconds(object, asked);
  metadata.deletionTimestamp = toTimestamp(after(now.getTime(), seconds));
  metadata.deletionGracePeriodSeconds = Math.min(seconds, Number.MAX_SAFE_INTEGER);
  if (metadata.generation !== undefined) metadata.generation = nextGeneration(metadata);
  return seconds === 0 ? 'now' : 'later';
}

/** The last time with a four-digit year, the format of times. */
const LAST_MS = Date.parse('9999-12-31T23:59:59Z');

const after = (fromMs: number, seconds: number): Date => new Date(Math.min(fromMs + seconds * 1000, LAST_MS));

function markDeleting({ metadata }: ApiObject, now: Date): void {
  if (metadata.deletionTimestamp === undefined && metadata.generation !== undefined) {
    metadata.generation = nextGeneration(metadata);
  }
  const at = metadata.deletionTimestamp;
  if (at === undefined || Date.parse(at) > now.getTime()) metadata.deletionTimestamp = toTimestamp(now);
}

/**
 * The garbage collector's finalizers decide about dependents: they stay (orphan), are deleted before (foreground), or after
 * (none).
 */
function setCollectorFinalizers(
  { strategy }: ResourceDefinition,
  { metadata }: ApiObject,
  options: DeleteOptions,
): void {
  if (strategy.defaultPropagation === 'unsupported') return;
  const present = metadata.finalizers ?? [];
  const others = present.filter((name) => name !== ORPHAN_FINALIZER && name !== FOREGROUND_FINALIZER);
  const wanted = collectorFinalizer(present, options, strategy.defaultPropagation);
  const finalizers = wanted === undefined ? others : [...others, wanted];
  if (finalizers.length > 0) metadata.finalizers = finalizers;
  else delete metadata.finalizers;
}

function collectorFinalizer(
  present: readonly string[],
  { orphanDependents, propagationPolicy }: DeleteOptions,
  fallback: 'orphan' | undefined,
): string | undefined {
  if (orphanDependents !== undefined) return orphanDependents ? ORPHAN_FINALIZER : undefined;
  if (propagationPolicy === 'Orphan') return ORPHAN_FINALIZER;
  if (propagationPolicy === 'Foreground') return FOREGROUND_FINALIZER;
  if (propagationPolicy === 'Background') return undefined;
  if (present.includes(ORPHAN_FINALIZER)) return ORPHAN_FINALIZER;
  if (present.includes(FOREGROUND_FINALIZER)) return FOREGROUND_FINALIZER;
  return fallback === 'orphan' ? ORPHAN_FINALIZER : undefined;
}
