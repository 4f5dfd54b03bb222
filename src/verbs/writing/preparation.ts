import type { TypeLibrary } from '../../api/idl/types.ts';
import type { ApiObject } from '../../api/object-meta.ts';
import { type FieldError, invalid } from '../../api/status.ts';
import { equal, equalExcept } from '../../object/equality.ts';
import { nextGeneration } from '../../object/generation.ts';
import { boundedProblems } from '../../object/problem-bounds.ts';
import type { ResourceDefinition } from '../../registry/definition.ts';
import type { GatedFields } from '../../registry/gated-fields.ts';
import { validateObjectMetaUpdate } from '../../registry/validate-metadata.ts';
import type { WriteCall } from './call.ts';
import type { UpdateRules } from './change.ts';
import { validateObject } from './validate-object.ts';

/** Preparation and validation: what the server itself makes of an admitted object, and what is wrong with the result. */
export class Preparation {
  readonly #types: TypeLibrary;
  readonly #gatedFields: GatedFields;

  constructor(options: { types: TypeLibrary; gatedFields: GatedFields }) {
    this.#types = options.types;
    this.#gatedFields = options.gatedFields;
  }

  /** Changes `object`. @throws StatusError 422 */
  forCreate({ definition, author }: WriteCall, object: ApiObject): void {
    const { strategy } = definition;
    this.#gatedFields.drop(definition, object);
    strategy.prepareForCreate?.(object, author.user);
    refuse(definition, object, () => [
      ...validateObject(definition, object, this.#types),
      ...(strategy.validateCreate?.(object) ?? []),
    ]);
  }

  /** Changes `object`. @throws StatusError 422 */
  forUpdate({ definition }: WriteCall, rules: UpdateRules, object: ApiObject, old: ApiObject): void {
    this.#gatedFields.drop(definition, object, old);
    rules.prepareForUpdate?.(object, old);
    shareUnchanged(object, old);
    if (definition.strategy.tracksGeneration && !equalExcept(object, old, ['metadata', 'status'])) {
      object.metadata.generation = nextGeneration(old.metadata);
    }
    refuse(definition, object, () => [
      ...validateObject(definition, object, this.#types, old),
      ...validateObjectMetaUpdate(object.metadata, old.metadata),
      ...(rules.validateUpdate?.(object, old) ?? []),
    ]);
  }
}

/** Parts that did not change become the old ones, so that later comparisons see it at once. */
function shareUnchanged(object: ApiObject, old: ApiObject): void {
  for (const name of Object.keys(object)) {
    const value: unknown = old[name];
    if (name !== 'metadata' && object[name] !== value && equal(object[name], value)) object[name] = old[name];
  }
}

/** @throws StatusError 422 */
function refuse(definition: ResourceDefinition, object: ApiObject, validate: () => FieldError[]): void {
  const errors = boundedProblems(validate);
  if (errors.length > 0) throw invalid(definition, object.metadata.name ?? '', errors);
}
