import type {
  CustomResourceColumnDefinition,
  CustomResourceDefinitionVersion,
  CustomResourceSubresources,
  CustomResourceValidation,
  JSONSchemaProps,
} from '../../../api/types/apiextensions/v1.ts';
import { equal } from '../../../object/equality.ts';
import type { FieldPath } from '../../../object/field-path.ts';
import { goList } from '../../../object/go-value.ts';
import { sizeOfPatterns } from '../../../structural/pattern-size.ts';
import { keywordsOf, type Schema } from '../../../structural/schema-node.ts';
import type { Steps } from '../../../util/turns.ts';
import { mustBeNameInOneError } from '../../rules/name-rules.ts';
import { unreadableReason, validateStructural } from '../schema/structural.ts';
import { validateDefaults } from '../schema/validate-defaults.ts';
import { validateOpenApi } from '../schema/validate-openapi.ts';
import { followFieldReference } from '../schema/validate-rules.ts';

type Version = CustomResourceDefinitionVersion;

/** `spec`: the path of the spec. */
export function* validateVersions(
  spec: FieldPath,
  given: readonly Version[] | null | undefined,
): Steps<void> {
  const versions = given ?? [];
  const at = spec.field('versions');
  for (const [path, version] of at.each(versions)) {
    mustBeNameInOneError(path.field('name'), version.name ?? '', 'dns-1035-label');
    validateDeprecation(path.field('deprecationWarning'), version);
    if (version.schema?.openAPIV3Schema === undefined)
      path
        .field('schema')
        .field('openAPIV3Schema')
        .required(path.minor < 34 ? 'schemas are required' : '');
  }
  const written = () => goList('apiextensions.CustomResourceDefinitionVersion', given);
  if (new Set(versions.map(({ name = '' }) => name)).size < versions.length)
    at.invalid(written(), 'must contain unique version names');
  if (versions.filter(({ storage }) => storage === true).length !== 1)
    at.invalid(written(), 'must have exactly one version marked as storage version');
  const patterns = sizeOfPatterns(versions.map(({ schema }) => schema?.openAPIV3Schema ?? {}));
  yield;
  if (patterns <= MAX_PATTERNS) yield* validateContents(spec, versions);
  else at.invalidUnshown(`${TOO_MANY_PATTERNS}: they have ${patterns}`);
}

/** Compiling this many instructions holds the server up for 80 ms. */
const MAX_PATTERNS = 60_000;
const TOO_MANY_PATTERNS = `the patterns of all schemas may become ${MAX_PATTERNS} instructions together, where each repeat counts`;

function* validateContents(spec: FieldPath, versions: readonly Version[]): Steps<void> {
  const hasAnyStatus = versions.some(hasStatus);
  for (const [at, version, isShared] of placesOf(spec, versions, 'schema'))
    yield* validateSchema(at, version.schema ?? {}, isShared ? hasAnyStatus : hasStatus(version));
  for (const [at, { subresources }] of placesOf(spec, versions, 'subresources'))
    validateSubresources(at, subresources);
  for (const [at, { additionalPrinterColumns }] of placesOf(spec, versions, 'additionalPrinterColumns'))
    validateColumns(at, additionalPrinterColumns);
  for (const [at, version] of placesOf(spec, versions, 'selectableFields'))
    validateSelectableFields(at, version);
}

const hasStatus = ({ subresources }: Version): boolean => subresources?.status !== undefined;

type Part = 'schema' | 'subresources' | 'additionalPrinterColumns' | 'selectableFields';

/** A part of a version: its path, the version, and whether all versions have it in common. */
type Place = readonly [at: FieldPath, version: Version, isShared: boolean];

/**
 * Where Kubernetes stores parts of versions. It stores a part that all versions share once, as `spec.validation` rather than
 * `spec.versions[0].schema`. With a single version that applies to all parts.
 */
export function placesOf(spec: FieldPath, versions: readonly Version[], name: Part): Place[] {
  const [first] = versions;
  if (first === undefined) return [];
  if (versions.every((version) => equal(version[name], first[name])))
    return [[spec.field(name === 'schema' ? 'validation' : name), first, true]];
  return [...spec.field('versions').each(versions)].map(([at, version]) => [at.field(name), version, false]);
}

/** The parts of a version besides its schema: deprecation, table columns, selectable fields. */

const MAX_WARNING_BYTES = 256;

function validateDeprecation(at: FieldPath, { deprecated, deprecationWarning: warning }: Version): void {
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

function validateColumns(
  at: FieldPath,
  columns: readonly CustomResourceColumnDefinition[] | undefined,
): void {
  for (const [path, { name = '', type = '', format = '', jsonPath = '' }] of at.each(columns)) {
    if (name === '') path.field('name').required();
    if (type === '') path.field('type').required(oneOf(COLUMN_TYPES));
    else mustBeKnown(path.field('type'), type, COLUMN_TYPES);
    if (format !== '') mustBeKnown(path.field('format'), format, COLUMN_FORMATS);
    mustBeSimplePath(path.field('JSONPath'), jsonPath);
  }
}

const oneOf = (known: readonly string[]): string => `must be one of ${known.join(',')}`;

function mustBeKnown(at: FieldPath, word: string, known: readonly string[]): void {
  if (!known.includes(word)) at.invalid(word, oneOf(known));
}

/** Returns whether it is one. Paths of columns may go on in any way, and one that cannot be read ends the columns. */
function mustBeSimplePath(at: FieldPath, jsonPath: string): boolean {
  if (jsonPath === '') at.required();
  else if (!jsonPath.startsWith('.')) at.invalid(jsonPath, 'must be a simple json path starting with .');
  else return true;
  return false;
}

function validateSubresources(at: FieldPath, { scale }: CustomResourceSubresources = {}): void {
  if (scale === undefined) return;
  const { specReplicasPath = '', statusReplicasPath = '', labelSelectorPath = '' } = scale;
  const path = at.field('scale');
  mustBePathUnder(path.field('specReplicasPath'), specReplicasPath, ['.spec']);
  mustBePathUnder(path.field('statusReplicasPath'), statusReplicasPath, ['.status']);
  if (labelSelectorPath !== '')
    mustBePathUnder(path.field('labelSelectorPath'), labelSelectorPath, ['.spec', '.status']);
}

function mustBePathUnder(at: FieldPath, jsonPath: string, roots: readonly string[]): void {
  if (!mustBeSimplePath(at, jsonPath)) return;
  if (roots.some((root) => jsonPath.startsWith(`${root}.`))) return;
  const either = roots.length > 1 ? 'either ' : '';
  at.invalid(jsonPath, `should be a json path under ${either}${roots.join(' or ')}`);
}

const MAX_SELECTABLE = 8;

function validateSelectableFields(at: FieldPath, { selectableFields, schema }: Version): void {
  if (selectableFields === undefined || selectableFields.length === 0) return;
  const root = schema?.openAPIV3Schema;
  if (root === undefined) {
    at.invalid(
      '',
      `${at.minor < 34 ? 'selectableFields ' : ''}may only be set when validations.schema is included`,
    );
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

/** `at`: the path of the object with the schema, `spec.validation` or `spec.versions[0].schema`. */
function* validateSchema(
  at: FieldPath,
  { openAPIV3Schema: schema }: CustomResourceValidation,
  hasStatus: boolean,
): Steps<void> {
  if (schema === undefined) return;
  const path = at.field('openAPIV3Schema');
  const before = at.found;
  if (hasStatus) validateRoot(path, schema);
  if (schema.nullable === true) path.field('nullable').forbidden('nullable cannot be true at the root');
  const unreadable = unreadableReason(schema);
  yield;
  if (unreadable === undefined) yield* validateStructure(path, schema);
  validateOpenApi(path, schema);
  yield;
  // Most unreadable schemas have an error already, in better words.
  if (unreadable !== undefined && at.found === before) path.invalid('', unreadable);
}

function* validateStructure(at: FieldPath, schema: Schema): Steps<void> {
  const before = at.found;
  validateStructural(at, schema);
  yield;
  if (at.found === before) yield* validateDefaults(at, schema);
}

/** Root keywords that also apply to the status alone, with the names in Kubernetes' message. */
const AT_ROOT: ReadonlyMap<string, string> = new Map([
  ['description', 'Description'],
  ['type', 'Type'],
  ['format', 'Format'],
  ['title', 'Title'],
  ['maximum', 'Maximum'],
  ['exclusiveMaximum', 'ExclusiveMaximum'],
  ['minimum', 'Minimum'],
  ['exclusiveMinimum', 'ExclusiveMinimum'],
  ['maxLength', 'MaxLength'],
  ['minLength', 'MinLength'],
  ['pattern', 'Pattern'],
  ['maxItems', 'MaxItems'],
  ['minItems', 'MinItems'],
  ['uniqueItems', 'UniqueItems'],
  ['multipleOf', 'MultipleOf'],
  ['required', 'Required'],
  ['items', 'Items'],
  ['properties', 'Properties'],
  ['externalDocs', 'ExternalDocs'],
  ['example', 'Example'],
  ['x-kubernetes-preserve-unknown-fields', 'XPreserveUnknownFields'],
  ['x-kubernetes-validations', 'XValidations'],
]);

function validateRoot(at: FieldPath, schema: Schema): void {
  const { type = '' } = schema;
  if (type !== '' && type !== 'object') {
    const why =
      'only "object" is allowed as the type at the root of the schema if the status subresource is enabled';
    at.field('type').invalid(type, why);
    return;
  }
  if (keywordsOf(schema).every((name) => AT_ROOT.has(name))) return;
  const names = [...AT_ROOT.values()].join(' ');
  const why = `only [${names}] fields are allowed at the root of the schema if the status subresource is enabled`;
  at.invalid(schema, why);
}
