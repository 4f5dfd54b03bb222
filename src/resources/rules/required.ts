import type { FieldPath } from '../../object/field-path.ts';

/** Texts of one message that must not be empty: `mustHaveTexts(at, source, ['server', 'path'])`. */
export function mustHaveTexts<Name extends string>(
  at: FieldPath,
  owner: { readonly [name in Name]?: string },
  names: readonly Name[],
): void {
  for (const name of names) {
    const value = owner[name];
    if (value === undefined || value === '') at.field(name).required();
  }
}
