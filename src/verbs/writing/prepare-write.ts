import { defaultGates, type Gates, minorOf } from '../../api/feature-gates.ts';
import type { TypeLibrary } from '../../api/idl/types.ts';
import type { ApiObject } from '../../api/object-meta.ts';
import { type FieldError, invalid } from '../../api/status.ts';
import { emptyToNull } from '../../object/empty-lists.ts';
import { equal, equalExcept, identical } from '../../object/equality.ts';
import { boundedProblems, boundedSteps } from '../../object/field-errors.ts';
import { nextGeneration } from '../../object/metadata.ts';
import { validateObjectMeta, validateObjectMetaUpdate } from '../../object/validate-metadata.ts';
import { validateAgainstSchema, validateImmutable } from '../../object/validate-schema.ts';
import type { CustomVersion } from '../../registry/custom.ts';
import type { GatedFields } from '../../registry/gated-fields.ts';
import type { ResourceDefinition } from '../../registry/resource-definition.ts';
import type { Strategy } from '../../registry/strategy.ts';
import { inTurns } from '../../util/turns.ts';
import type { UpdateRules } from './change.ts';
import type { WriteCall } from './write-call.ts';

/** Prepares and validates an admitted object. */
export class Preparation {
  readonly #types: TypeLibrary;
  readonly #gatedFields: GatedFields;
  readonly #isOn: Gates;

  constructor(options: { types: TypeLibrary; gatedFields: GatedFields; isFeatureOn?: Gates }) {
    this.#types = options.types;
    this.#gatedFields = options.gatedFields;
    this.#isOn = options.isFeatureOn ?? defaultGates;
  }

  /** Changes `object`. @throws StatusError 422 */
  forCreate(call: WriteCall, object: ApiObject): Promise<void> | undefined {
    const { definition, author, request } = call;
    const { strategy, custom } = definition;
    const types = this.#types;
    const isOn = this.#isOn;
    if (custom === undefined) {
      this.#gatedFields.drop(definition, object);
      emptyToNull(object, types.message(definition.storage.type));
    }
    for (const text of strategy.warningsAsSent?.(object, isOn) ?? []) request?.warn(text);
    strategy.prepareForCreate?.(object, author.user, isOn);
    if (custom !== undefined) return refuseCustom(call, object, custom);
    return judged(definition, { object, isOn }, (own) =>
      refuse(definition, object, () => [
        ...validateObject(definition, object, types, { isOn, own }),
        ...(strategy.validateCreate?.(object, undefined, isOn) ?? []),
      ]),
    );
  }

  /** Changes `object`. */
  beforeUpdate({ definition }: WriteCall, rules: UpdateRules, object: ApiObject, old: ApiObject): void {
    const { strategy, custom } = definition;
    if (custom === undefined) {
      this.#gatedFields.drop(definition, object, old);
      emptyToNull(object, this.#types.message(definition.storage.type));
    }
    rules.prepareForUpdate?.(object, old, this.#isOn);
    shareUnchanged(object, old, definition.custom === undefined ? equal : identical);
    if (tracksGeneration(strategy, this.#isOn) && hasNewGeneration(strategy, object, old)) {
      object.metadata.generation = nextGeneration(old.metadata);
    }
  }

  /** @throws StatusError 422 */
  refuseUpdate(
    call: WriteCall,
    rules: UpdateRules,
    object: ApiObject,
    old: ApiObject,
  ): Promise<void> | undefined {
    const { definition } = call;
    if (definition.custom !== undefined) return refuseCustom(call, object, definition.custom, old);
    const types = this.#types;
    const isOn = this.#isOn;
    // Views and states change parts of an object, none of which is immutable.
    const isWhole = rules === definition.strategy;
    const refuseAll = (own?: FieldError[]): void =>
      refuse(definition, object, () => [
        ...validateObject(definition, object, types, { old, isOn, own }),
        ...validateObjectMetaUpdate(object.metadata, old.metadata),
        ...(isWhole
          ? validateUpdate(definition, object, { old, types, isOn })
          : (rules.validateUpdate?.(object, old, isOn) ?? [])),
      ]);
    if (isWhole) return judged(definition, { object, old, isOn }, refuseAll);
    refuseAll();
    return undefined;
  }
}

/** Whether the emulated version counts the generations of these objects. */
export function tracksGeneration({ tracksGeneration: rule }: Strategy, isOn: Gates = defaultGates): boolean {
  return typeof rule === 'boolean' ? rule : minorOf(isOn) >= rule.since;
}

function hasNewGeneration(strategy: Strategy, object: ApiObject, old: ApiObject): boolean {
  const { tracksGeneration: rule, statusCountsForGeneration } = strategy;
  if (typeof rule !== 'boolean') return rule.hasChanged(object, old);
  return !equalExcept(object, old, statusCountsForGeneration === true ? METADATA : METADATA_AND_STATUS);
}

const METADATA = ['metadata'];
const METADATA_AND_STATUS = ['metadata', 'status'];

/** Validates a custom resource. Yields the event loop, because users write its schemas and rules. @throws StatusError 422 */
async function refuseCustom(
  { definition, request, subresource }: WriteCall,
  object: ApiObject,
  custom: CustomVersion,
  old?: ApiObject,
): Promise<void> {
  const found = await inTurns(
    subresource === 'status' && old !== undefined
      ? custom.validateStatus(object, old)
      : custom.validate(object, old, (text) => request?.warn(text)),
  );
  refuse(definition, object, () => [
    ...validateObjectMeta(object.metadata, definition).filter(({ field }) => !isKept(field, old)),
    ...(old === undefined ? [] : validateObjectMetaUpdate(object.metadata, old.metadata)),
    ...found,
  ]);
}

/**
 * Runs `refuseAll` with the errors of the resource's own rules. Runs it at once when these rules have no steps.
 * @throws StatusError 422
 */
function judged(
  { strategy }: ResourceDefinition,
  { object, old, isOn }: { readonly object: ApiObject; readonly old?: ApiObject; readonly isOn: Gates },
  refuseAll: (own?: FieldError[]) => void,
): Promise<void> | undefined {
  const steps = strategy.validateInSteps?.(object, old, isOn);
  if (steps !== undefined) return inTurns(boundedSteps(steps)).then(refuseAll);
  refuseAll();
  return undefined;
}

/** Replaces unchanged parts by the old ones, so that later comparisons are fast. */
function shareUnchanged(object: ApiObject, old: ApiObject, areSame: typeof equal): void {
  for (const name of Object.keys(object)) {
    const value: unknown = old[name];
    if (name !== 'metadata' && object[name] !== value && areSame(object[name], value))
      object[name] = old[name];
  }
}

/** @throws StatusError 422 */
function refuse(definition: ResourceDefinition, object: ApiObject, validate: () => FieldError[]): void {
  const errors = boundedProblems(validate);
  if (errors.length > 0) throw invalid(definition, object.metadata.name ?? '', errors);
}

interface Judging {
  readonly old?: ApiObject;
  readonly isOn?: Gates;
  readonly own?: FieldError[] | undefined;
}

/**
 * Validates an object by itself: its metadata, the rules of its resource, and the description of its type. Where both report a
 * mistake, the resource's message counts. Parts that are unchanged from `old`, the stored object, were valid when it was stored
 * and are skipped. `own`: errors of the resource's rules, where these have run.
 */
export function validateObject(
  definition: ResourceDefinition,
  object: ApiObject,
  types: TypeLibrary,
  judging: Judging = {},
): FieldError[] {
  const { old, isOn } = judging;
  const errors = errorsOf(definition, object, types, judging);
  if (old === undefined || !errors.some(isUnsupported)) return errors;
  // A newer version of Kubernetes may have stored a value that the emulated one lacks.
  const textOf = ({ field, message }: FieldError): string => `${field}: ${message}`;
  const stored = new Set(
    errorsOf(definition, old, types, isOn === undefined ? {} : { isOn })
      .filter(isUnsupported)
      .map(textOf),
  );
  return errors.filter((error) => !isUnsupported(error) || !stored.has(textOf(error)));
}

const isUnsupported = ({ type }: FieldError): boolean => type === 'FieldValueNotSupported';

function errorsOf(
  definition: ResourceDefinition,
  object: ApiObject,
  types: TypeLibrary,
  { old, isOn, own: found }: Judging,
): FieldError[] {
  const errors = validateObjectMeta(object.metadata, definition, isOn).filter(
    ({ field }) => !isKept(field, old),
  );
  const own = found ?? definition.strategy.validate?.(object, old, isOn) ?? [];
  const alone = definition.strategy.judgesAlone?.(isOn) ?? [];
  const general = validateAgainstSchema(object, types.message(definition.storage.type), old).filter(
    ({ field }) => !alone.some((path) => isWithin(field, path)),
  );
  if (own.length === 0) return general.length === 0 ? errors : [...errors, ...general];
  const said = new Set(own.map(({ type, field }) => `${type} ${field}`));
  return [...errors, ...own, ...general.filter(({ type, field }) => !said.has(`${type} ${field}`))];
}

/** Validates the update from `old`: immutable fields of the type, and the rules of the resource. */
export function validateUpdate(
  definition: ResourceDefinition,
  object: ApiObject,
  { old, types, isOn }: { readonly old: ApiObject; readonly types: TypeLibrary; readonly isOn?: Gates },
): FieldError[] {
  return [
    ...validateImmutable(object, old, types.message(definition.storage.type)),
    ...(definition.strategy.validateUpdate?.(object, old, isOn) ?? []),
  ];
}

const isWithin = (field: string, path: string): boolean =>
  field === path || field.startsWith(`${path}[`) || field.startsWith(`${path}.`);

/** A name cannot change, but its rules may have, since the object was made. */
const isKept = (field: string, old: ApiObject | undefined): boolean =>
  old !== undefined && field === 'metadata.name';
