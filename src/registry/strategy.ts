import type { Gates } from '../api/feature-gates.ts';
import type { ApiObject } from '../api/object-meta.ts';
import type { FieldError } from '../api/status.ts';
import type { NameRule } from '../object/formats.ts';
import type { UserInfo } from '../request/api-request.ts';
import type { Steps } from '../util/concurrency.ts';
import type { AssignedValues } from './assigned-values.ts';

/**
 * What a resource does with its objects, which are of type `T`, besides storing them. All functions work on the storage version of the object,
 * decoded and checked against its schema; they may change `object`, never `old`.
 *
 * Order on create: defaults, mutating admission, metadata, assigned, prepareForCreate, validate, validating admission.
 * Order on update: defaults, mutating admission, metadata, assigned, prepareForUpdate, validate, validateUpdate, validating
 * admission.
 *
 * `isOn` says which feature gates are on: all as they are by default where nobody says so.
 */
export interface Strategy<T extends ApiObject = ApiObject> {
  readonly nameRule: NameRule;
  /** Values of absent fields that depend on other fields. Constants live in the IDL. */
  defaults?(object: T, isOn?: Gates): void;
  /** Resets what the caller may not set, assigns what the server sets. */
  prepareForCreate?(object: T, user?: UserInfo, isOn?: Gates): void;
  prepareForUpdate?(object: T, old: T, isOn?: Gates): void;
  /** Values that no two objects of the cluster may hold at the same time. */
  readonly assigned?: AssignedValues<T>;
  /**
   * All errors at once. Runs on create and on update, of a status too; `old` is the stored object of an update, whose parts
   * were found good when they were stored.
   */
  validate?(object: T, old?: T, isOn?: Gates): FieldError[];
  /**
   * Paths of fields that `validate` judges wholly, under a name of its own: what the description of the type says of them would
   * tell the same mistake twice.
   */
  readonly judgesAlone?: readonly string[];
  /** Rules of a new object alone: an update may break them. Runs after {@link Strategy.validate}. */
  validateCreate?(object: T): FieldError[];
  /** Rules of the change from `old` to `object`. Runs after {@link Strategy.validate}. */
  validateUpdate?(object: T, old: T, isOn?: Gates): FieldError[];
  /**
   * Takes the place of {@link Strategy.validate} in writes of the whole object, where that can take long: the same rules in turns
   * with other work, then those that only judge an object that keeps them.
   */
  validateInSteps?(object: T, old?: T): Steps<FieldError[]>;
  /** Fields that a write of the object cannot change (its status), so that such a write never owns them. */
  readonly resetFields?: readonly (readonly string[])[];
  /** Texts for Warning headers. */
  warnings?(object: T, old: T | undefined): string[];
  /** metadata.generation starts at 1 and rises with every change outside metadata and status. */
  readonly tracksGeneration: boolean;
  /** A change of the status is one like any other: it has no subresource of its own. */
  readonly statusCountsForGeneration?: boolean;
  /** PUT on a name that does not exist creates it. */
  readonly allowCreateOnUpdate: boolean;
  /** PUT without resourceVersion replaces the stored object in any version. */
  readonly allowUnconditionalUpdate: boolean;
  /**
   * Deletion in two phases with a grace period (pods): how many seconds the object stays with a deletionTimestamp.
   * Undefined, or 0 as a result: the object goes at once, unless finalizers hold it.
   */
  gracePeriodSeconds?(object: T, requested: number | undefined): number;
  /** Finalizers outside metadata (namespaces keep theirs in spec): the object stays while this is true. */
  heldBack?(object: T): boolean;
  /**
   * Begins the deletion of an object that always stays for a while, in place of all that usually marks it: it puts a finalizer on
   * that something else takes off.
   */
  beginDeletion?(object: T, time: string): void;
  /** Called when deletion begins and the object stays (namespace phase becomes Terminating). */
  prepareForDelete?(object: T): void;
  /** DELETE answers the object as it was last, rather than a Status. */
  readonly returnsDeletedObject?: boolean;
  /**
   * What happens to dependents when a delete does not say. `unsupported`: never any finalizer of the garbage collector
   * (events). Absent: background.
   */
  readonly defaultPropagation?: 'orphan' | 'unsupported';
  /** The object ends by itself, --event-ttl after its last write. */
  readonly expires?: boolean;
}
