import { minorOf } from '../api/feature-gates.ts';
import type { GroupResource } from '../api/names.ts';
import { badRequest, notFound } from '../api/status.ts';
import { negotiate, type Representation, wantsPretty } from '../codec/negotiate.ts';
import type { ServedResource } from '../registry/registry.ts';
import type { AuthorizedResourceRequest } from '../request/api-request.ts';
import type { ApiResponse, BytesResponse } from '../request/api-response.ts';
import { timeWait } from '../request/waits.ts';
import { encodeContinueToken } from '../storage/continue-token.ts';
import { failureOf } from '../storage/errors.ts';
import type { ObjectKey } from '../storage/key.ts';
import { type Revision, toResourceVersion } from '../storage/revision.ts';
import type { Entry, ListFreshness, ListPage } from '../storage/store.ts';
import { type AsOf, readAsOf, readPast } from './as-of.ts';
import { createForm } from './forms/create-form.ts';
import type { Form, Stored } from './forms/form.ts';
import { assertCovered } from './incarnations.ts';
import {
  checkListOptions,
  type ListOptions,
  type ListStart,
  readListOptions,
  toFreshness,
  toListStart,
  toSelection,
} from './list-options.ts';
import { expired, toStatusError } from './storage-status.ts';
import { earlierLifeOf, isVirtual, storeFor, type VerbCall } from './verb-call.ts';
import { resourceOfMissing } from './writing/change.ts';

/** get and list. */

/** `tables: false` where tables are unsupported. @throws StatusError 406 */
export function representationFor(
  { request: { headers, query, userAgent, knowsCbor: cbor }, served }: Pick<VerbCall, 'request' | 'served'>,
  { tables } = { tables: true },
): Representation {
  const protobuf = served.definition.custom === undefined ? true : 'metadata';
  return negotiate(headers.accept, { pretty: wantsPretty(query, userAgent), protobuf, tables, cbor });
}

export function formFor(call: VerbCall, representation = representationFor(call)): Form {
  const { context, request, served, view } = call;
  return createForm({
    served,
    types: context.types,
    minor: minorOf(context.isFeatureOn),
    representation,
    dialect: request.dialect,
    includeObject: readIncludeObject(request, representation),
    now: () => context.now().getTime(),
    ...(view === undefined ? {} : { view }),
  });
}

/** The object part of table rows. @throws StatusError 400 */
function readIncludeObject({ query }: AuthorizedResourceRequest, { as }: Representation): string {
  const asked = query.get('includeObject') || 'Metadata';
  if (as !== 'table' || ['Metadata', 'Object', 'None'].includes(asked)) return asked;
  throw badRequest(
    `includeObject: Invalid value: ${JSON.stringify(asked)}: must be 'Metadata', 'Object', 'None', or empty`,
  );
}

export function objectResponse(form: Form, code: number, stored: Stored): BytesResponse {
  return {
    kind: 'bytes',
    code,
    contentType: form.contentType,
    ...form.object(stored),
    compressible: false,
  };
}

/** Up to 1.32, reads of a missing scale name the view (Kubernetes: registry/apps, ScaleREST). */
function namedFor({ context, served: { definition }, view }: VerbCall): GroupResource {
  const isOld = minorOf(context.isFeatureOn) < 33;
  return isOld && view !== undefined ? resourceOfMissing(definition, view.name) : definition;
}

export async function get(call: VerbCall): Promise<ApiResponse> {
  const { request } = call;
  const { namespace, name } = request.target;
  const { definition } = call.served;
  const form = formFor(call);
  const freshness = toFreshness(request.query.get('resourceVersion') ?? '');
  const key = { ...definition.storage, namespace: definition.namespaced ? namespace : '', name };
  const asOf = storedAsOf(call);
  try {
    const found =
      asOf === undefined
        ? storeFor(call).get(key, freshness, request)
        : readPast(asOf, call.context.historyOf(definition.storage), (revision) =>
            getAt(call, key, revision),
          );
    const entry = await timeWait(request.waits, 'storage', found);
    if (entry === undefined) throw notFound(namedFor(call), name);
    return { ...objectResponse(form, 200, entry), compressible: true };
  } catch (error) {
    throw toStatusError(error, definition, name);
  }
}

/** The `?asOf` of stored objects. Virtual stores read it themselves ({@link VirtualStores}). @throws StatusError 400 */
const storedAsOf = ({ context, request, served }: VerbCall): AsOf | undefined =>
  isVirtual(served.definition, context) ? undefined : readAsOf(request.query);

async function getAt(call: VerbCall, key: ObjectKey, revision: Revision): Promise<Entry | undefined> {
  const { namespace, name } = key;
  assertCovered(await earlierLifeOf(call, revision), call.request.target);
  const { entries } = await storeFor(call).list({
    resource: key,
    scope: { namespace, name },
    freshness: { kind: 'exact', revision },
    limit: 0,
    caller: call.request,
  });
  return entries[0];
}

export async function list(call: VerbCall): Promise<ApiResponse> {
  const form = formFor(call);
  const options = readListOptions(call.request.query, call.context.isFeatureOn);
  checkListOptions(options);
  const page = await readPage(call, options);
  const head = {
    resourceVersion: toResourceVersion(page.revision),
    continue:
      page.next === undefined ? '' : encodeContinueToken({ revision: page.revision, after: page.next }),
    remainingItemCount: page.remaining,
    shards: options.shards?.text,
  };
  const body = await form.list(page.entries, head);
  return { kind: 'bytes', code: 200, contentType: form.contentType, ...body, compressible: true };
}

/** Reads one chunk, for list and deletecollection. @throws StatusError */
export async function readPage(call: VerbCall, options: ListOptions): Promise<ListPage> {
  const { request, served } = call;
  const { definition } = served;
  const selection = toSelection(options, request.target, served);
  const start = toListStart(options, definition.namespaced);
  const asOf = options.continue === '' ? storedAsOf(call) : undefined;
  const read = async (freshness: ListFreshness): Promise<ListPage> => {
    if (freshness.kind === 'exact')
      assertCovered(await earlierLifeOf(call, freshness.revision), request.target);
    return storeFor(call).list({
      resource: definition.storage,
      scope: selection.scope,
      freshness,
      limit: options.limit,
      caller: request,
      ...(start.token === undefined ? {} : { after: start.token.after }),
      ...(selection.matches === undefined ? {} : { matches: selection.matches }),
      sought: selection.sought,
    });
  };
  try {
    const history = call.context.historyOf(definition.storage);
    const found =
      asOf === undefined
        ? read(start.freshness)
        : readPast(asOf, history, (revision) => read({ kind: 'exact', revision }));
    return await timeWait(request.waits, 'storage', found);
  } catch (error) {
    throw toListError(error, start, served);
  }
}

const INCONSISTENT =
  'The provided continue parameter is too old to display a consistent list result. You can start a new list without the ' +
  'continue parameter, or use the continue token in this response to retrieve the remainder of the results. Continuing ' +
  'with the provided token results in an inconsistent list - objects that were created, modified, or deleted between the ' +
  'time the first chunk was returned and now may show up in the list.';

/** A chunked list whose state was compacted may continue from the newest state: the answer has a token for that. */
function toListError(error: unknown, { token }: ListStart, { definition }: ServedResource): unknown {
  if (token === undefined || failureOf(error, 'compacted') === undefined)
    return toStatusError(error, definition, '');
  return expired(INCONSISTENT, encodeContinueToken({ revision: 'latest', after: token.after }));
}
