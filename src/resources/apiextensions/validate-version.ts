import type { JsonObject } from '../../api/object-meta.ts';
import type { FieldError } from '../../api/status.ts';
import { duplicate, eachInvalid, invalidValue, required, tooMany } from '../../object/field-errors.ts';
import { part, parts, text } from '../../object/parts.ts';
import { has } from '../validation/fields.ts';
import { followFieldPath } from './schema/field-path.ts';

/** What a version says besides its schema: that it is deprecated, what tables show, what can be selected by. */

const MAX_WARNING_CHARS = 256;

export function validateDeprecation(version: JsonObject, path: string): FieldError[] {
  if (!has(version, 'deprecationWarning')) return [];
  const warning = text(version.deprecationWarning);
  return eachInvalid(
    `${path}.deprecationWarning`,
    warning,
    checkWarning(version.deprecated === true, warning),
  );
}

function checkWarning(deprecated: boolean, warning: string): string[] {
  if (!deprecated) return ['can only be set for deprecated versions'];
  const reasons: string[] = [];
  if (Buffer.byteLength(warning) > MAX_WARNING_CHARS) reasons.push('must be <= 256 characters long');
  if (warning === '') reasons.push('must not be an empty string');
  const unprintable = /[^\p{L}\p{M}\p{N}\p{P}\p{S} ]/u.exec(warning);
  if (unprintable !== null) {
    const at = Buffer.byteLength(warning.slice(0, unprintable.index));
    const why = 'must only contain printable UTF-8 characters; non-printable character found at index';
    reasons.push(`${why} ${at}`);
  }
  return reasons;
}

const COLUMN_TYPES = ['boolean', 'date', 'integer', 'number', 'string'] as const;
const COLUMN_FORMATS = [
  'byte',
  'date',
  'date-time',
  'double',
  'float',
  'int32',
  'int64',
  'password',
] as const;

export function validateColumns(columns: readonly JsonObject[], path: string): FieldError[] {
  return columns.flatMap((column, at) => [
    ...validateWord(text(column.type), COLUMN_TYPES, `${path}[${at}].type`),
    ...validateWord(text(column.format), COLUMN_FORMATS, `${path}[${at}].format`),
    ...validateSimplePath(text(column.jsonPath), `${path}[${at}].JSONPath`),
  ]);
}

/** An empty value is no mistake here: where it must not be, the type of the definition says so. */
const validateWord = (word: string, known: readonly string[], path: string): FieldError[] =>
  word === '' || known.includes(word) ? [] : [invalidValue(path, word, `must be one of ${known.join(',')}`)];

const validateSimplePath = (jsonPath: string, path: string): FieldError[] =>
  jsonPath === '' || jsonPath.startsWith('.')
    ? []
    : [invalidValue(path, jsonPath, 'must be a simple json path starting with .')];

export function validateSubresources(subresources: JsonObject, path: string): FieldError[] {
  const scale = part(subresources, 'scale');
  const labelPath = text(scale.labelSelectorPath);
  const labelField = `${path}.scale.labelSelectorPath`;
  const simple = validateSimplePath(labelPath, labelField);
  const inside = ['.spec.', '.status.'].some((prefix) => labelPath.startsWith(prefix));
  const why = 'should be a json path under either .spec or .status';
  return [
    ...validateScalePath(text(scale.specReplicasPath), '.spec', `${path}.scale.specReplicasPath`),
    ...validateScalePath(text(scale.statusReplicasPath), '.status', `${path}.scale.statusReplicasPath`),
    ...simple,
    ...(labelPath === '' || simple.length > 0 || inside ? [] : [invalidValue(labelField, labelPath, why)]),
  ];
}

function validateScalePath(jsonPath: string, root: string, path: string): FieldError[] {
  const errors = validateSimplePath(jsonPath, path);
  if (jsonPath === '' || errors.length > 0 || jsonPath.startsWith(`${root}.`)) return errors;
  return [invalidValue(path, jsonPath, `should be a json path under ${root}`)];
}

const MAX_SELECTABLE = 8;
const SELECTABLE_TYPES = ['string', 'boolean', 'integer'];

export function validateSelectableFields(version: JsonObject, path: string): FieldError[] {
  const fields = parts(version, 'selectableFields');
  if (fields.length === 0) return [];
  const validation = part(version, 'schema');
  if (!has(validation, 'openAPIV3Schema'))
    return [invalidValue(path, '', 'selectableFields may only be set when validations.schema is included')];
  const schema = part(validation, 'openAPIV3Schema');
  const seen = new Set<string>();
  const errors = fields.flatMap(({ jsonPath }, at) =>
    validateSelectableField(text(jsonPath), schema, { path: `${path}[${at}].jsonPath`, seen }),
  );
  return [...errors, ...(seen.size > MAX_SELECTABLE ? [tooMany(path, seen.size, MAX_SELECTABLE)] : [])];
}

function validateSelectableField(
  jsonPath: string,
  schema: JsonObject,
  { path, seen }: { readonly path: string; readonly seen: Set<string> },
): FieldError[] {
  if (jsonPath === '') return [required(path)];
  const found = followFieldPath(jsonPath, schema, false);
  if (found.kind === 'wrong') return [invalidValue(path, jsonPath, `is an invalid path: ${found.why}`)];
  const errors: FieldError[] = [];
  if (found.names[0] === 'metadata')
    errors.push(invalidValue(path, jsonPath, 'must not point to fields in metadata'));
  if (!SELECTABLE_TYPES.includes(text(found.schema.type))) {
    const why =
      'must point to a field of type string, boolean or integer. Enum string fields and strings with formats are allowed.';
    errors.push(invalidValue(path, jsonPath, why));
  }
  const name = found.names.join('.');
  if (seen.has(name)) errors.push(duplicate(path, jsonPath));
  seen.add(name);
  return errors;
}
