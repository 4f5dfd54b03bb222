import type { Environment } from '@marcbachmann/cel-js';
import { internalsOf } from './library-internals.ts';

const NO_FIELDS = Object.freeze(Object.create(null));

/**
 * Closes types without declared fields: the library would read any JavaScript property of their values, such as private fields
 * of the class, `constructor` and `__proto__`.
 */
export function closeTypes(environment: Environment): void {
  const { objectTypes, objectTypesByConstructor } = internalsOf(environment).registry;
  for (const [name, type] of objectTypes) {
    const closed = Object.freeze({ ...type, fields: type.fields ?? NO_FIELDS });
    objectTypes.set(name, closed);
    objectTypesByConstructor.set(type.ctor, closed);
  }
}
