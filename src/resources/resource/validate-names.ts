import type { FieldError } from '../../api/status.ts';
import { duplicate, eachInvalid, required, tooLong } from '../../object/field-errors.ts';
import { checkName } from '../../object/formats.ts';
import { counted } from '../../object/problem-bounds.ts';

/** Names in the API of dynamic resources, and lists of a limited size. */

const MAX_DRIVER = 63;
const MAX_POOL = 253;
const MAX_IDENTIFIER = 32;
const IDENTIFIER = /^[A-Za-z_][A-Za-z0-9_]*$/;
const IDENTIFIER_TEXT =
  "a valid C identifier must start with alphabetic character or '_', followed by a string of alphanumeric characters or '_' " +
  "(e.g. 'my_name',  or 'MY_NAME',  or 'MyName', regex used for validation is '[A-Za-z_][A-Za-z0-9_]*')";

/** The rule of CSI drivers: a domain in any case. */
export function validateDriverName(name: string, path: string): FieldError[] {
  return [
    ...(name === '' ? [required(path)] : []),
    ...(name.length > MAX_DRIVER ? [tooLong(path, MAX_DRIVER)] : []),
    ...eachInvalid(path, name, checkName(name.toLowerCase(), 'dns-subdomain')),
  ];
}

/** Subdomains with slashes between them. */
export function validatePoolName(name: string, path: string): FieldError[] {
  if (name === '') return [required(path)];
  return [
    ...(name.length > MAX_POOL ? [longerThan(path, MAX_POOL)] : []),
    ...name.split('/').flatMap((piece) => eachInvalid(path, piece, checkName(piece, 'dns-subdomain'))),
  ];
}

/** `model` or `gpu.example.com/model`. */
export function validateQualifiedName(name: string, path: string): FieldError[] {
  if (name === '') return [required(path, 'name required')];
  const [first = '', second, ...more] = name.split('/');
  if (second === undefined) return validateIdentifier(first, path);
  if (more.length > 0) return [];
  return [
    ...(first === '' ? [required(path, 'the prefix must not be empty')] : validateDriverName(first, path)),
    ...(second === '' ? [required(path, 'the name must not be empty')] : validateIdentifier(second, path)),
  ];
}

export function validateFullyQualifiedName(name: string, path: string): FieldError[] {
  return [
    ...validateQualifiedName(name, path),
    ...(name.includes('/') ? [] : [required(`${path}.domain`, 'must include a prefix')]),
  ];
}

function validateIdentifier(identifier: string, path: string): FieldError[] {
  const errors = identifier.length > MAX_IDENTIFIER ? [longerThan(path, MAX_IDENTIFIER)] : [];
  if (IDENTIFIER.test(identifier)) return errors;
  const message = `Invalid value: ${JSON.stringify(identifier)}: ${IDENTIFIER_TEXT}`;
  return [...errors, counted({ type: 'FieldValueTypeInvalid', field: path, message })];
}

/** `most` counts characters of a text and items of a list. The value itself is not shown. */
export const longerThan = (field: string, most: number): FieldError =>
  counted({
    type: 'FieldValueTooLong',
    field,
    message: `Too long: may not be longer than ${most}`,
  });

export const validateSize = (items: readonly unknown[], most: number, path: string): FieldError[] =>
  items.length > most ? [longerThan(path, most)] : [];

/** A second item with the same key; unlike other lists, these hold empty keys against each other, too. */
export function validateDistinct(keys: readonly string[], pathOf: (at: number) => string): FieldError[] {
  return keys.flatMap((key, at) => (keys.indexOf(key) < at ? [duplicate(pathOf(at), key)] : []));
}
