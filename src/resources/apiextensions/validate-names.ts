import type { JsonObject } from '../../api/object-meta.ts';
import type { FieldError } from '../../api/status.ts';
import { invalidValue, required } from '../../object/field-errors.ts';
import { checkName } from '../../object/formats.ts';
import { text } from '../../object/parts.ts';
import { joinedInvalid } from '../validation/fields.ts';
import { strings } from '../validation/values.ts';

/** Names that must be there in a spec; those in a status come when they are accepted. */
export const validateNamesGiven = (names: JsonObject, path: string): FieldError[] =>
  ['plural', 'singular', 'kind', 'listKind'].flatMap((name) =>
    text(names[name]) === '' ? [required(`${path}.${name}`)] : [],
  );

export function validateNames(names: JsonObject, path: string): FieldError[] {
  const [kind, listKind] = [text(names.kind), text(names.listKind)];
  const label = (field: string, value: string): FieldError[] =>
    value === '' ? [] : joinedInvalid(`${path}.${field}`, value, checkName(value, 'dns-1035-label'));
  return [
    ...label('plural', text(names.plural)),
    ...label('singular', text(names.singular)),
    ...validateKind(kind, `${path}.kind`),
    ...validateKind(listKind, `${path}.listKind`),
    ...strings(names, 'shortNames').flatMap((name, at) => label(`shortNames[${at}]`, name)),
    ...(kind !== '' && kind === listKind
      ? [invalidValue(`${path}.listKind`, listKind, 'kind and listKind may not be the same')]
      : []),
    ...strings(names, 'categories').flatMap((name, at) => label(`categories[${at}]`, name)),
  ];
}

function validateKind(kind: string, path: string): FieldError[] {
  const reasons = kind === '' ? [] : checkName(kind.toLowerCase(), 'dns-1035-label');
  const why = `may have mixed case, but should otherwise match: ${reasons.join(',')}`;
  return reasons.length === 0 ? [] : [invalidValue(path, kind, why)];
}
