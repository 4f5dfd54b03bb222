import type { Environment } from '@marcbachmann/cel-js';
import { internalsOf } from './library-internals.ts';

const NO_FIELDS = Object.freeze(Object.create(null));

/**
 * The library reads a field of a value whose type declares none as JavaScript does: what the value's class keeps for itself, and
 * `constructor` and `__proto__` of any. Types are declared to have no fields here, unless they declared some.
 */
export function closeTypes(environment: Environment): void {
  const { objectTypes, objectTypesByConstructor } = internalsOf(environment).registry;
  for (const [name, type] of objectTypes) {
    const closed = Object.freeze({ ...type, fields: type.fields ?? NO_FIELDS });
    objectTypes.set(name, closed);
    objectTypesByConstructor.set(type.ctor, closed);
  }
}
