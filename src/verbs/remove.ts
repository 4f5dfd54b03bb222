import type { JsonObject, JsonValue } from '../api/object-meta.ts';
import type { MessageSchema } from '../api/schema.ts';
import { badRequest, forbidden, type Status, StatusError } from '../api/status.ts';
import { MalformedMessage, nameOf, numberText } from '../codec/decode-error.ts';
import { decodeScalar } from '../codec/decode-scalar.ts';
import { bodyFormat, type Format } from '../codec/negotiate.ts';
import { encodeValue, parseBytes } from '../codec/wire-formats.ts';
import { isObject } from '../object/json-values.ts';
import { withoutWritten } from '../object/written-number.ts';
import type { AuthorizedResourceRequest } from '../request/api-request.ts';
import type { ApiResponse } from '../request/api-response.ts';
import type { Entry } from '../storage/store.ts';
import { workInBatches } from '../util/concurrency.ts';
import { refuseAsOf } from './as-of.ts';
import { readBytes } from './body.ts';
import { headError, inHead } from './declared-type.ts';
import { checkListOptions, readListOptions } from './list-options.ts';
import { isDryRun, managerFromUserAgent, unknownDryRuns } from './mutation-options.ts';
import { readBoolean, readInteger } from './query-options.ts';
import { formFor, objectResponse, readPage, representationFor } from './read.ts';
import { toWriteCall, type VerbCall } from './verb-call.ts';
import { checkDeleteOptions, type DeleteOptions } from './writing/deletion.ts';
import { orNotFound, type Removed, type WriteCall } from './writing/write-call.ts';

/** delete and deletecollection. */

export async function remove(call: VerbCall): Promise<ApiResponse> {
  const { context, request } = call;
  const { definition } = call.served;
  const form = formFor(call);
  const options = await readDeleteOptions(call);
  warnOfDefault(call, options);
  const { name } = request.target;
  const whyKept = definition.strategy.whyKept?.(name);
  if (whyKept !== undefined) throw forbidden(definition, name, whyKept);
  const removed = await context.writer
    .remove(toRemovalCall(call, options), name, options)
    .catch((error: unknown) => removeUnsafely(call, options, error));
  const code = !removed.gone && options.orphanDependents === false ? 202 : 200;
  if (!removed.gone || definition.strategy.returnsDeletedObject === true)
    return objectResponse(form, code, removed);
  const { group, resource } = definition;
  const details = { name, ...(group === '' ? {} : { group }), kind: resource, uid: uidOf(removed.json) };
  return successResponse(call, { ...SUCCESS, details });
}

/** Warns before the deletion is tried, so that failures and dry runs have the warning too. */
function warnOfDefault(
  { request, served }: VerbCall,
  { propagationPolicy, orphanDependents }: DeleteOptions,
): void {
  const warning = served.definition.strategy.propagationWarning;
  if (warning !== undefined && propagationPolicy === undefined && orphanDependents === undefined)
    request.warn(warning);
}

const UNSAFE = 'ignoreStoreReadErrorWithClusterBreakingPotential';

/** Deletes an unreadable object, if the options ask for it and the user may. @throws StatusError */
async function removeUnsafely(call: VerbCall, options: DeleteOptions, error: unknown): Promise<Removed> {
  const isUnreadable = error instanceof StatusError && error.status.reason === 'StorageReadError';
  if (!isUnreadable || options.ignoresReadErrors !== true) throw error;
  const { context, request } = call;
  const verb = 'unsafe-delete-ignore-read-errors';
  const { user, path, target, signal } = request;
  const { decision, reason } = await context.authorizer.authorize({ user, path, target, signal, verb });
  const { definition } = call.served;
  const { name } = target;
  if (decision !== 'allow')
    throw forbidden(definition, name, `not permitted to do "${verb}", reason: ${reason}`);
  return context.writer.removeUnreadable(toRemovalCall(call, options), name);
}

/** Objects that one worker deletes concurrently: they share commits, which makes 10,000 fast. */
const REMOVED_TOGETHER = 256;

export async function removeCollection(call: VerbCall): Promise<ApiResponse> {
  const { context } = call;
  const form = formFor(call);
  const selection = readListOptions(call.request.query, call.context.isFeatureOn);
  checkListOptions(selection);
  refuseAsOf(call.request.query);
  const options = await readDeleteOptions(call);
  warnOfDefault(call, options);
  const page = await readPage(call, selection);
  await workInBatches(page.entries, {
    workers: context.deleteCollectionWorkers,
    batchSize: REMOVED_TOGETHER,
    work: (entry) => removeEntry(call, entry, options),
  });
  const head = { resourceVersion: page.revision.toString(), continue: '', remainingItemCount: undefined };
  return {
    kind: 'bytes',
    code: 200,
    contentType: form.contentType,
    ...(await form.list(page.entries, head)),
    compressible: false,
  };
}

/** An object that is already gone is no failure. */
async function removeEntry(
  call: VerbCall,
  { namespace, name }: Entry,
  options: DeleteOptions,
): Promise<Removed | 'not-found'> {
  const removal = { ...toRemovalCall(call, options), namespace, isOfCollection: true } as const;
  return orNotFound(call.context.writer.remove(removal, name, options));
}

const toRemovalCall = (call: VerbCall, { dryRun }: DeleteOptions): WriteCall =>
  toWriteCall(call, { dryRun, fieldManager: managerFromUserAgent(call.request.userAgent) });

/** Success has no code in the body, unlike failures (Kubernetes: the same). */
const SUCCESS: Omit<Status, 'code'> = { kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Success' };

function successResponse(call: VerbCall, status: Omit<Status, 'code'>): ApiResponse {
  const { types } = call.context;
  const representation = representationFor(call);
  return {
    kind: 'bytes',
    code: 200,
    contentType: representation.contentType,
    chunks: [encodeValue(status, representation, types.message('meta/v1.Status'))],
    compressible: false,
  };
}

function uidOf(json: Buffer): string {
  const object: { metadata: { uid?: string } } = JSON.parse(json.toString());
  return object.metadata.uid ?? '';
}

/** Reads the body when there is one, else the query. @throws StatusError 400, 422 */
async function readDeleteOptions(call: VerbCall): Promise<DeleteOptions> {
  const bytes = await readBytes(call.request);
  const options = bytes.length === 0 ? fromQuery(call.request.query) : fromBody(call, bytes);
  checkDeleteOptions(options);
  return options;
}

function fromQuery(query: URLSearchParams): DeleteOptions {
  return {
    gracePeriodSeconds: readInteger(query, 'gracePeriodSeconds'),
    propagationPolicy: query.get('propagationPolicy') ?? undefined,
    orphanDependents: readBoolean(query, 'orphanDependents'),
    preconditions: {},
    dryRun: isDryRun(query),
    unknownDryRuns: unknownDryRuns(query.getAll('dryRun')),
    ignoresReadErrors: readBoolean(query, UNSAFE) === true,
  };
}

function fromBody({ context, request }: VerbCall, bytes: Buffer): DeleteOptions {
  const body = parseBody(request, bytes, context.types.message('meta/v1.DeleteOptions'));
  if (body.kind !== undefined && body.kind !== 'DeleteOptions') {
    throw badRequest(`decoded object cannot be converted to DeleteOptions: kind is ${String(body.kind)}`);
  }
  const options = toDeleteOptions(body);
  request.audit?.requestBody(withoutWritten(body));
  return { ...options, dryRun: isDryRun(request.query) || listOf(body.dryRun).includes('All') };
}

/** Accepts null as an empty object. @throws StatusError 400 */
function parseBody(request: AuthorizedResourceRequest, bytes: Buffer, schema: MessageSchema): JsonObject {
  const format = bodyFormat(request.headers['content-type'], { cbor: request.knowsCbor });
  const value = readBody(bytes, format, schema) ?? {};
  const error = headError(value);
  if (error !== undefined || !isObject(value)) throw badRequest(error ?? '');
  return value;
}

function readBody(bytes: Buffer, format: Format, schema: MessageSchema): JsonValue {
  try {
    const { value, written } = parseBytes(bytes, format, schema);
    return written?.() ?? value;
  } catch (error) {
    if (error instanceof MalformedMessage) throw badRequest(error.message);
    if (!(error instanceof SyntaxError)) throw error;
    throw badRequest(format === 'json' ? inHead(error.message) : error.message);
  }
}

/** Parses DeleteOptions from a body. @throws StatusError 400 */
export function toDeleteOptions(body: JsonObject): DeleteOptions {
  const { gracePeriodSeconds, propagationPolicy, orphanDependents } = body;
  const preconditions = isObject(body.preconditions) ? body.preconditions : {};
  const { uid, resourceVersion } = preconditions;
  return {
    gracePeriodSeconds: toSeconds(gracePeriodSeconds ?? undefined),
    propagationPolicy: typeof propagationPolicy === 'string' ? propagationPolicy : undefined,
    orphanDependents: typeof orphanDependents === 'boolean' ? orphanDependents : undefined,
    preconditions: {
      ...(typeof uid === 'string' ? { uid } : {}),
      ...(typeof resourceVersion === 'string' ? { resourceVersion } : {}),
    },
    dryRun: listOf(body.dryRun).includes('All'),
    unknownDryRuns: unknownDryRuns(listOf(body.dryRun)),
    ignoresReadErrors: body[UNSAFE] === true,
  };
}

function toSeconds(value: JsonValue | undefined): number | undefined {
  if (value === undefined) return undefined;
  const seconds = decodeScalar(value, 'int64');
  if (seconds !== undefined) return Number(seconds);
  const number = numberText(value);
  const given = number === undefined ? nameOf(value) : `number ${number}`;
  throw badRequest(
    `json: cannot unmarshal ${given} into Go struct field DeleteOptions.gracePeriodSeconds of type int64`,
  );
}

const listOf = (value: unknown): unknown[] => (Array.isArray(value) ? value : []);
