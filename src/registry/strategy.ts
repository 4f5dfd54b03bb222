import type { Minor } from '../api/emulation.ts';
import type { Gates } from '../api/feature-gates.ts';
import type { ApiObject } from '../api/object-meta.ts';
import type { FieldError } from '../api/status.ts';
import type { NameRule } from '../object/text-formats.ts';
import type { UserInfo } from '../request/api-request.ts';
import type { Steps } from '../util/turns.ts';
import type { AssignedValues } from './assigned-values.ts';

/** When the generation of an object increases. */
export interface GenerationRule<T extends ApiObject> {
  /** The first version of Kubernetes that counts generations of these objects. */
  readonly since: Minor;
  hasChanged(object: T, old: T): boolean;
}

/**
 * The rules of a resource for its objects, which are of type `T`. All functions take the storage version of the object, decoded
 * and checked against its schema; they may change `object`, never `old`.
 *
 * Order on create: defaults, mutating admission, metadata, assigned, prepareForCreate, validate, validating admission.
 * Order on update: defaults, mutating admission, metadata, assigned, prepareForUpdate, validate, validateUpdate, validating
 * admission.
 *
 * `isOn` tests feature gates; without it all have their defaults.
 */
export interface Strategy<T extends ApiObject = ApiObject> {
  readonly nameRule: NameRule;
  /** The rule that takes the place of `nameRule` where a feature is on. */
  readonly relaxedNames?: { readonly gate: string; readonly rule: NameRule };
  /** Finalizers must have a domain, apart from those of Kubernetes itself. */
  readonly finalizersNeedDomains?: boolean;
  /** Values of absent fields that depend on other fields. Constants live in the IDL. */
  defaults?(object: T, isOn?: Gates): void;
  /** Resets fields that the caller may not set, and sets those of the server. */
  prepareForCreate?(object: T, user?: UserInfo, isOn?: Gates): void;
  /** Texts for Warning headers about a new object as it is before {@link Strategy.prepareForCreate}. */
  warningsAsSent?(object: T, isOn?: Gates): string[];
  prepareForUpdate?(object: T, old: T, isOn?: Gates): void;
  /** Assigns cluster-unique values. */
  readonly assigned?: AssignedValues<T>;
  /**
   * Returns all errors. Runs on create and on update, of a status too; `old` is the stored object of an update, whose parts
   * were valid when they were stored.
   */
  validate?(object: T, old?: T, isOn?: Gates): FieldError[];
  /**
   * Paths of fields that `validate` checks completely: the type's own rules would report the same mistakes twice, or those that
   * the emulated version takes.
   */
  judgesAlone?(isOn?: Gates): readonly string[];
  /** Rules for new objects only: an update may break them. Runs after {@link Strategy.validate}. */
  validateCreate?(object: T, old?: undefined, isOn?: Gates): FieldError[];
  /** Rules of the change from `old` to `object`. Runs after {@link Strategy.validate}. */
  validateUpdate?(object: T, old: T, isOn?: Gates): FieldError[];
  /**
   * Replaces {@link Strategy.validate} in writes of the whole object, where that may take long: the same rules, yielding the
   * event loop, then those that require a valid object.
   */
  validateInSteps?(object: T, old?: T, isOn?: Gates): Steps<FieldError[]>;
  /** Fields that a write of the object cannot change (its status), so that such a write never owns them. */
  readonly resetFields?: readonly (readonly string[])[];
  /** Texts for Warning headers. */
  warnings?(object: T, old: T | undefined, isOn?: Gates): string[];
  /** metadata.generation starts at 1 and increases with every change outside metadata and status, or by a rule of its own. */
  readonly tracksGeneration: boolean | GenerationRule<T>;
  /** Status changes also increase it: the status has no subresource. */
  readonly statusCountsForGeneration?: boolean;
  /** PUT creates a missing object. */
  readonly allowCreateOnUpdate: boolean;
  /** PUT without resourceVersion replaces the stored object in any version. */
  readonly allowUnconditionalUpdate: boolean;
  /**
   * Deletion in two phases with a grace period (pods): how many seconds the object stays with a deletionTimestamp. Undefined,
   * or 0 as a result: it is removed at once, unless finalizers hold it.
   */
  gracePeriodSeconds?(object: T, requested: number | undefined): number;
  /** Finalizers outside metadata (namespaces keep theirs in spec): the object stays while this is true. */
  heldBack?(object: T): boolean;
  /**
   * Begins the deletion of an object that always stays for a while, in place of the usual marks: adds a finalizer that a
   * controller removes.
   */
  beginDeletion?(object: T, time: string): void;
  /** Called when deletion begins and the object stays (namespace phase becomes Terminating). */
  prepareForDelete?(object: T): void;
  /** Why a DELETE of this name is refused. A deletecollection does not ask (Kubernetes: the same). */
  whyKept?(name: string): string | undefined;
  /** DELETE returns the last state of the object, rather than a Status. */
  readonly returnsDeletedObject?: boolean;
  /**
   * The default for dependents of a deleted object. `unsupported`: no finalizers of the garbage collector (events). Absent:
   * background.
   */
  readonly defaultPropagation?: 'orphan' | 'unsupported';
  /** The warning for a DELETE that does not say what becomes of the dependents. */
  readonly propagationWarning?: string;
  /** The object expires --event-ttl after its last write. */
  readonly expires?: boolean;
}
