import { counted, longerThan } from '../../object/field-errors.ts';
import type { FieldPath } from '../../object/field-path.ts';
import { checkName } from '../../object/text-formats.ts';

/** Names in the API of dynamic resources, and lists of a limited size. */

const MAX_DRIVER = 63;
const MAX_POOL = 253;
const MAX_IDENTIFIER = 32;
const IDENTIFIER = /^[A-Za-z_][A-Za-z0-9_]*$/;
const IDENTIFIER_TEXT =
  "a valid C identifier must start with alphabetic character or '_', followed by a string of alphanumeric characters or '_' " +
  "(e.g. 'my_name',  or 'MY_NAME',  or 'MyName', regex used for validation is '[A-Za-z_][A-Za-z0-9_]*')";

/** The rule of CSI drivers: a domain in any case. */
export function mustBeDriverName(at: FieldPath, name: string): void {
  if (name === '') at.required();
  if (name.length > MAX_DRIVER) at.tooLong(MAX_DRIVER);
  at.invalidFor(name, checkName(name.toLowerCase(), 'dns-subdomain'));
}

/** Subdomains with slashes between them. */
export function mustBePoolName(at: FieldPath, name: string): void {
  if (name === '') {
    at.required();
    return;
  }
  if (name.length > MAX_POOL) reportTooLong(at, MAX_POOL);
  for (const piece of name.split('/')) at.invalidFor(piece, checkName(piece, 'dns-subdomain'));
}

/** `model` or `gpu.example.com/model`. */
export function mustBeQualifiedName(at: FieldPath, name: string): void {
  if (at.minor >= 35) {
    mustBeNameOrDomainAndName(at, name);
    return;
  }
  if (name === '') {
    at.required('name required');
    return;
  }
  const [first = '', second, ...more] = name.split('/');
  if (second === undefined) {
    mustBeIdentifier(at, first);
    return;
  }
  if (more.length > 0) return;
  const what = at.minor < 32 ? 'prefix' : 'domain';
  if (first === '') at.required(`the ${what} must not be empty`);
  else mustBeDriverName(at, first);
  if (second === '') at.required('the name must not be empty');
  else mustBeIdentifier(at, second);
}

/** Since 1.35, empty parts are invalid rather than missing. */
function mustBeNameOrDomainAndName(at: FieldPath, name: string): void {
  const [first = '', second, ...more] = name.split('/');
  if (more.length > 0) return;
  if (second === undefined) mustBeIdentifier(at, first);
  else {
    if (first === '') at.invalid('', 'the domain must not be empty');
    else mustBeDriverName(at, first);
    if (second === '') at.invalid('', 'the name must not be empty');
    else mustBeIdentifier(at, second);
  }
}

export function mustBeFullyQualifiedName(at: FieldPath, name: string): void {
  mustBeQualifiedName(at, name);
  if (name.includes('/')) return;
  const { minor } = at;
  if (minor < 32) at.field('domain').required('must include a prefix');
  else if (minor < 35) at.invalid(name, 'must include a domain');
  else at.invalid(name, 'a fully qualified name must be a domain and a name separated by a slash');
}

function mustBeIdentifier(at: FieldPath, identifier: string): void {
  if (identifier.length > MAX_IDENTIFIER) reportTooLong(at, MAX_IDENTIFIER);
  if (IDENTIFIER.test(identifier)) return;
  if (at.minor >= 34) {
    at.invalid(identifier, IDENTIFIER_TEXT);
    return;
  }
  const message = `Invalid value: ${JSON.stringify(identifier)}: ${IDENTIFIER_TEXT}`;
  at.add([counted({ type: 'FieldValueTypeInvalid', field: at.toString(), message })]);
}

/** A text is too long, in the words of the emulated version. */
function reportTooLong(at: FieldPath, most: number): void {
  if (at.minor < 32) reportLength(at, most);
  else at.tooLong(most);
}

/** `most` counts characters of a text and items of a list. The value itself is not shown. */
export function reportLength(at: FieldPath, most: number): void {
  at.add([longerThan(at.toString(), most)]);
}

export function mustHaveAtMost(at: FieldPath, most: number, items: readonly unknown[]): void {
  if (items.length > most) reportLength(at, most);
}

/**
 * Requires unique keys; unlike in other lists, also for empty keys. `field`: the field with the key, unless items are keys
 * themselves. Since 1.35, the item is named rather than its key.
 */
export function mustBeDistinct(at: FieldPath, keys: readonly string[], field?: string): void {
  const seen = new Set<string>();
  const namesItem = field === undefined || at.minor >= 35;
  for (const [path, key] of at.each(keys)) {
    if (seen.has(key)) (namesItem ? path : path.field(field)).duplicate(key);
    seen.add(key);
  }
}
