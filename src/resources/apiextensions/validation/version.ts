import type {
  CustomResourceColumnDefinition,
  CustomResourceDefinitionVersion,
  CustomResourceSubresources,
  JSONSchemaProps,
} from '../../../api/types/apiextensions/v1.ts';
import type { FieldPath } from '../../../object/field-path.ts';
import { followFieldReference } from '../schema/field-reference.ts';

/** What a version says besides its schema: that it is deprecated, what tables show, what can be selected by. */

type Version = CustomResourceDefinitionVersion;

const MAX_WARNING_BYTES = 256;

export function validateDeprecation(
  at: FieldPath,
  { deprecated, deprecationWarning: warning }: Version,
): void {
  if (warning === undefined) return;
  if (deprecated !== true) {
    at.invalid(warning, 'can only be set for deprecated versions');
    return;
  }
  if (Buffer.byteLength(warning) > MAX_WARNING_BYTES) at.invalid(warning, 'must be <= 256 characters long');
  if (warning === '') at.invalid(warning, 'must not be an empty string');
  const unprintable = /[^\p{L}\p{M}\p{N}\p{P}\p{S} ]/u.exec(warning);
  if (unprintable === null) return;
  const byte = Buffer.byteLength(warning.slice(0, unprintable.index));
  const why = 'must only contain printable UTF-8 characters; non-printable character found at index';
  at.invalid(warning, `${why} ${byte}`);
}

const COLUMN_TYPES = ['boolean', 'date', 'integer', 'number', 'string'];
const COLUMN_FORMATS = ['byte', 'date', 'date-time', 'double', 'float', 'int32', 'int64', 'password'];

export function validateColumns(
  at: FieldPath,
  columns: readonly CustomResourceColumnDefinition[] | undefined,
): void {
  for (const [path, { type = '', format = '', jsonPath = '' }] of at.each(columns)) {
    mustBeKnown(path.field('type'), type, COLUMN_TYPES);
    mustBeKnown(path.field('format'), format, COLUMN_FORMATS);
    mustBeSimplePath(path.field('JSONPath'), jsonPath);
  }
}

/** An empty value is no mistake here: where it must not be, the type of the definition says so. */
function mustBeKnown(at: FieldPath, word: string, known: readonly string[]): void {
  if (word !== '' && !known.includes(word)) at.invalid(word, `must be one of ${known.join(',')}`);
}

const isSimplePath = (jsonPath: string): boolean => jsonPath === '' || jsonPath.startsWith('.');

function mustBeSimplePath(at: FieldPath, jsonPath: string): void {
  if (!isSimplePath(jsonPath)) at.invalid(jsonPath, 'must be a simple json path starting with .');
}

export function validateSubresources(at: FieldPath, subresources: CustomResourceSubresources = {}): void {
  const { specReplicasPath = '', statusReplicasPath = '', labelSelectorPath = '' } = subresources.scale ?? {};
  const path = at.field('scale');
  mustBePathUnder(path.field('specReplicasPath'), specReplicasPath, ['.spec']);
  mustBePathUnder(path.field('statusReplicasPath'), statusReplicasPath, ['.status']);
  mustBePathUnder(path.field('labelSelectorPath'), labelSelectorPath, ['.spec', '.status']);
}

function mustBePathUnder(at: FieldPath, jsonPath: string, roots: readonly string[]): void {
  mustBeSimplePath(at, jsonPath);
  if (jsonPath === '' || !isSimplePath(jsonPath)) return;
  if (roots.some((root) => jsonPath.startsWith(`${root}.`))) return;
  const either = roots.length > 1 ? 'either ' : '';
  at.invalid(jsonPath, `should be a json path under ${either}${roots.join(' or ')}`);
}

const MAX_SELECTABLE = 8;

export function validateSelectableFields(at: FieldPath, { selectableFields, schema }: Version): void {
  if (selectableFields === undefined || selectableFields.length === 0) return;
  const root = schema?.openAPIV3Schema;
  if (root === undefined) {
    at.invalid('', 'selectableFields may only be set when validations.schema is included');
    return;
  }
  const seen = new Set<string>();
  for (const [path, { jsonPath = '' }] of at.each(selectableFields))
    validateSelectableField(path.field('jsonPath'), jsonPath, root, seen);
  if (seen.size > MAX_SELECTABLE) at.tooMany(seen.size, MAX_SELECTABLE);
}

const SELECTABLE_TYPES = ['string', 'boolean', 'integer'];

/** `seen`: the fields that were named before; this one joins them. */
function validateSelectableField(
  at: FieldPath,
  jsonPath: string,
  root: JSONSchemaProps,
  seen: Set<string>,
): void {
  if (jsonPath === '') {
    at.required();
    return;
  }
  const found = followFieldReference(jsonPath, root, false);
  if (found.kind === 'wrong') {
    at.invalid(jsonPath, `is an invalid path: ${found.why}`);
    return;
  }
  if (found.names[0] === 'metadata') at.invalid(jsonPath, 'must not point to fields in metadata');
  if (!SELECTABLE_TYPES.includes(found.schema.type ?? '')) {
    const why =
      'must point to a field of type string, boolean or integer. Enum string fields and strings with formats are allowed.';
    at.invalid(jsonPath, why);
  }
  const name = found.names.join('.');
  if (seen.has(name)) at.duplicate(jsonPath);
  seen.add(name);
}
