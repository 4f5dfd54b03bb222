import { Environment } from '@marcbachmann/cel-js';
import { type Internals, internalsOf, type LibraryType } from './library-internals.ts';

/**
 * The library keeps each name of a type for good and for all, so the types of one schema are numbered, and the next schema uses
 * the same ones again.
 */
const numbered: LibraryType[] = [];
const AT_ONCE = 256;

let maker: Internals | undefined;

/** `selfType1`, `selfType2` … */
export function typeNumber(at: number): LibraryType {
  if (at >= numbered.length) {
    maker ??= internalsOf(new Environment());
    const { registry, options } = maker;
    const names = Array.from({ length: AT_ONCE }, (_, index) => `selfType${numbered.length + index + 1}`);
    const { fields } = registry.clone(options).registerType({
      name: `selfTypes.${numbered.length}`,
      ctor: class {},
      fields: Object.fromEntries(names.map((name) => [name, name])),
    });
    for (const name of names) if (fields[name] !== undefined) numbered.push(fields[name]);
  }
  const type = numbered[at];
  if (type === undefined) throw new Error('the CEL library made no type');
  return type;
}
