import { canonicalApiVersion } from '../api/dialect.ts';
import { toApiVersion } from '../api/names.ts';
import type { ApiObject, JsonObject } from '../api/object-meta.ts';
import { badRequest, StatusError, unknownError } from '../api/status.ts';
import { parseCbor } from '../codec/cbor/parse-cbor.ts';
import { conversionError } from '../codec/conversion-error.ts';
import { cannotUnmarshal } from '../codec/decode-error.ts';
import type { ParsedDocument } from '../codec/json-text.ts';
import { repeatedKeysError } from '../codec/yaml-problems.ts';
import { parseYamlText } from '../codec/yaml-text.ts';
import { copyJson } from '../object/equality.ts';
import { isObject } from '../object/json-values.ts';
import { checkConfig } from '../object/managed-fields/check-config.ts';
import { formatPath } from '../object/managed-fields/field-set.ts';
import {
  ApplyConflict,
  applyInSteps,
  describeConflicts,
  describeOwner,
  MAX_DESCRIBED,
} from '../object/managed-fields/server-side-apply.ts';
import { emptyObject } from '../object/managed-fields/shape.ts';
import { Unconverted } from '../object/managed-fields/track.ts';
import { toSeen, toStorage } from '../registry/conversion.ts';
import { readForChange, type ViewSubresource } from '../registry/resource-definition.ts';
import type { AuthorizedResourceRequest } from '../request/api-request.ts';
import type { ApiResponse } from '../request/api-response.ts';
import { endTurn, isLarge, runSteps } from '../util/turns.ts';
import { type Refusal, readBytes, toObject } from './body.ts';
import { type Expected, nameText } from './declared-type.ts';
import { checkNameMatches, type MutationOptions, readMutationOptions } from './mutation-options.ts';
import { formFor, objectResponse } from './read.ts';
import { ownType, toWriteCall, type VerbCall } from './verb-call.ts';
import { assertMayCreate } from './write.ts';
import type { Change } from './writing/change.ts';
import { isLargeCall, type WriteCall } from './writing/write-call.ts';

/** Server-side apply: a PATCH whose body is the manager's configuration of the object. */
export const APPLY_PATCH = 'application/apply-patch+yaml';
export const APPLY_CBOR = 'application/apply-patch+cbor';

export async function apply(call: VerbCall): Promise<ApiResponse> {
  const { context, request } = call;
  const form = formFor(call);
  const options = readMutationOptions(request, 'PatchOptions', true);
  const expected = ownType(call);
  const config = await readConfig(call, options, expected);
  const write: WriteCall = { ...toWriteCall(call, options), ownership: 'leave' };
  const change = applyChange({ call, expected, config, options, write });
  const written = await context.writer.update(write, request.target.name, change);
  return objectResponse(form, written.created ? 201 : 200, written);
}

interface ApplyCall {
  readonly call: VerbCall;
  readonly expected: Expected;
  readonly config: JsonObject;
  readonly options: MutationOptions;
  readonly write: WriteCall;
}

function applyChange(applying: ApplyCall): Change {
  const { call } = applying;
  const { served, view, request } = call;
  const applyTo = async (live: ApiObject): Promise<ApiObject> =>
    toStorage(await applied(applying, live), served);
  if (view !== undefined) {
    return {
      kind: 'view',
      view,
      uidIs: 'field',
      apply: async (copy) => viewOf(await applyTo(toSeen(copy, served)), view),
    };
  }
  return {
    kind: 'object',
    uidIs: 'field',
    apply: (copy) => applyTo(toSeen(copy, served)),
    create: async () => {
      await assertMayCreate(call);
      const created = await applyTo(blank(applying));
      checkNameMatches(created.metadata.name ?? request.target.name, request.target.name);
      return created;
    },
  };
}

/** Returns the object that the view's write takes: the parent for a status, its own kind for a scale. Keeps the ownership. */
function viewOf(parent: ApiObject, view: ViewSubresource): ApiObject {
  return view.toParent === undefined ? parent : { ...readForChange(view, parent), metadata: parent.metadata };
}

function blank({ expected, call: { served } }: ApplyCall): ApiObject {
  const { group, version } = expected;
  const empty = copyJson(emptyObject(expected.schema));
  return {
    ...empty,
    kind: served.definition.kind,
    apiVersion: toApiVersion({ group, version }),
    metadata: {},
  };
}

/** @throws StatusError 409 */
async function applied(applying: ApplyCall, live: ApiObject): Promise<ApiObject> {
  const { call, expected, config, options, write } = applying;
  const { context, request, served } = call;
  try {
    const steps = applyInSteps(live, config, context.writer.ownership.describe(write), options);
    const object = await runSteps(isLargeCall(write), steps);
    checkNameMatches(object.metadata.name ?? request.target.name, request.target.name);
    const stored = live.metadata.uid !== undefined && served.version.conversion === undefined;
    const refusal: Refusal = (why) => unconvertible({ ...object }, why, expected);
    const document = {
      ...{ value: object, duplicates: [], refusal, keepsNulls: true },
      ...(stored ? { known: live } : {}),
    };
    return toObject(request, document, expected, 'Ignore');
  } catch (error) {
    if (error instanceof Unconverted) throw unknownError(error.message);
    throw error instanceof ApplyConflict ? toStatus(error) : error;
  }
}

function toStatus(error: ApplyConflict): StatusError {
  const causes = error.conflicts.slice(0, MAX_DESCRIBED).map(({ owner, path }) => ({
    reason: 'FieldManagerConflict',
    message: `conflict with ${describeOwner(owner)}`,
    field: formatPath(path),
  }));
  return new StatusError({
    code: 409,
    reason: 'Conflict',
    message: describeConflicts(error.conflicts),
    details: { causes },
  });
}

/**
 * Reads the body, YAML or JSON, as a configuration of the parent in the version of the path.
 * @throws StatusError 400, 413, 500
 */
async function readConfig(
  { request, view }: VerbCall,
  options: MutationOptions,
  expected: Expected,
): Promise<JsonObject> {
  const bytes = await readBytes(request);
  const { value, duplicates } = isCbor(request) ? parseCborConfig(bytes) : parse(bytes);
  request.audit?.requestBody(value);
  const own = view?.toParent === undefined;
  checkType(value, own ? expected : { ...expected, ...view.served });
  const metadata = isObject(value.metadata) ? value.metadata : {};
  if (metadata.managedFields !== undefined && metadata.managedFields !== null) {
    throw badRequest('metadata.managedFields must be nil');
  }
  const config = own ? value : { metadata, ...view.toParent?.(value) };
  const { group, version, kind } = expected;
  const typed = withType(config, kind, toApiVersion({ group, version }));
  if (isLarge(bytes.length)) await endTurn();
  checkFields(typed, expected);
  reportDuplicates(request, duplicates, options);
  return typed;
}

/** Copying tens of thousands of fields takes as long as checking them. */
const withType = (config: JsonObject, kind: string, apiVersion: string): JsonObject =>
  config.kind === kind && config.apiVersion === apiVersion ? config : { ...config, kind, apiVersion };

const isCbor = ({ headers }: AuthorizedResourceRequest): boolean =>
  headers['content-type']?.toLowerCase().startsWith(APPLY_CBOR) === true;

/** @throws StatusError 400 */
function parseCborConfig(bytes: Buffer): { value: JsonObject; duplicates: readonly string[] } {
  try {
    const { value, duplicates } = parseCbor(bytes);
    if (isObject(value ?? {})) return { value: (value ?? {}) as JsonObject, duplicates };
    throw badRequest(`error decoding CBOR: ${cannotUnmarshal(value, 'map[string]interface {}')}`);
  } catch (error) {
    throw error instanceof SyntaxError ? badRequest(`error decoding CBOR: ${error.message}`) : error;
  }
}

/** Accepts null as an empty object. @throws StatusError 400 */
function parse(bytes: Buffer): { value: JsonObject; duplicates: readonly string[] } {
  const { value, duplicates } = parseYaml(bytes);
  const object = value ?? {};
  if (isObject(object)) return { value: object, duplicates };
  const why = cannotUnmarshal(object, 'map[string]interface {}');
  throw badRequest(`error decoding YAML: error unmarshaling JSON: while decoding JSON: ${why}`);
}

function parseYaml(bytes: Buffer): ParsedDocument {
  try {
    return parseYamlText(bytes);
  } catch (error) {
    if (error instanceof SyntaxError)
      throw badRequest(`error decoding YAML: error converting YAML to JSON: ${error.message}`);
    throw error;
  }
}

function reportDuplicates(
  request: AuthorizedResourceRequest,
  duplicates: readonly string[],
  { fieldValidation }: MutationOptions,
): void {
  if (duplicates.length > 0 && fieldValidation === 'Strict') {
    const why = `error converting YAML to JSON: ${repeatedKeysError(duplicates)}`;
    throw badRequest(`error strict decoding YAML: ${why}`);
  }
  if (fieldValidation === 'Warn') for (const problem of duplicates) request.warn(problem);
}

/** The body of an apply must name its type. */
function checkType(object: JsonObject, { group, version, kind }: Omit<Expected, 'schema' | 'types'>): void {
  const given = typeof object.apiVersion === 'string' ? canonicalApiVersion(object.apiVersion) : '';
  if (object.kind === kind && given === toApiVersion({ group, version })) return;
  throw badRequest(`invalid object type: ${goKind(object)}`);
}

/**
 * Always checks fields and types of a configuration: unknown fields cannot have owners. Answers 500 as Kubernetes does, because
 * clients know it.
 */
function checkFields(config: JsonObject, { schema }: Expected): void {
  const errors = checkConfig(config, schema);
  if (errors.length === 0) return;
  const list = errors.length === 1 ? errors[0] : `errors:\n  ${errors.join('\n  ')}`;
  throw unknownError(`failed to create typed patch object (${goIdentity(config)}): ${list}`);
}

/** Fields of the right type may still have an invalid format, such as a quantity or a time. */
function unconvertible(object: JsonObject, why: string, { schema }: Expected): StatusError {
  const reason = `unable to convert unstructured object to ${goKind(object)}: ${conversionError(object, schema) ?? why}`;
  return unknownError(`failed to convert new object (${goIdentity(object)}) to proper version: ${reason}`);
}

/** `apps/v1, Kind=Deployment`, `/v1, Kind=Pod` */
function goKind({ apiVersion, kind }: JsonObject): string {
  const given = nameText(apiVersion);
  return `${given.includes('/') ? given : `/${given}`}, Kind=${nameText(kind)}`;
}

/** `default/web; apps/v1, Kind=Deployment`: from the configuration, not from the path. */
function goIdentity(object: JsonObject): string {
  const metadata = isObject(object.metadata) ? object.metadata : {};
  return `${nameText(metadata.namespace)}/${nameText(metadata.name)}; ${goKind(object)}`;
}
