import type { ApiObject } from '../api/object-meta.ts';
import type { FieldError } from '../api/status.ts';
import type { ResourceDefinition } from '../registry/definition.ts';

/** What a resource does with writes of its status, besides taking the status over. */
export interface StatusRules {
  /** Resets and assigns, as a strategy's prepareForUpdate does. Changes status and metadata of `object` alone. */
  prepare?(object: ApiObject, old: ApiObject): void;
  validate?(object: ApiObject, old: ApiObject): FieldError[];
}

/** The definition, its status view with rules of its own. */
export function withStatusRules(definition: ResourceDefinition, rules: StatusRules): ResourceDefinition {
  return {
    ...definition,
    subresources: definition.subresources.map((subresource) => {
      if (subresource.access !== 'view' || subresource.name !== 'status') return subresource;
      return {
        ...subresource,
        write: (view, old) => {
          const object = subresource.write(view, old);
          rules.prepare?.(object, old);
          return object;
        },
        validate: (object, old) => rules.validate?.(object, old) ?? [],
      };
    }),
  };
}
