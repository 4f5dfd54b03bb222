import type { ApiObject, JsonObject, JsonValue } from '../api/object-meta.ts';
import { badRequest, StatusError } from '../api/status.ts';
import { type ParsedDocument, parseJsonText } from '../codec/json-text.ts';
import { unsupportedMediaType } from '../codec/negotiate.ts';
import { applyJsonPatch, PatchError } from '../object/json-patch.ts';
import { applyMergePatch, isObject } from '../object/merge-patch.ts';
import { applyStrategicMerge } from '../object/strategic-merge.ts';
import { toSeen, toStorage } from '../registry/conversion.ts';
import type { ViewSubresource } from '../registry/definition.ts';
import type { ServedResource } from '../registry/registry.ts';
import type { AuthorizedResourceRequest } from '../request/api-request.ts';
import type { ApiResponse } from '../request/api-response.ts';
import { APPLY_PATCH, apply } from './apply.ts';
import { type Expected, toObject } from './body.ts';
import { breathe, isLarge } from './breathe.ts';
import { MAX_BODY_BYTES, toWriteContext, type VerbContext } from './context.ts';
import { checkNameMatches, type MutationOptions, readMutationOptions } from './mutation-options.ts';
import { formFor, objectResponse } from './read.ts';
import { expectedFor } from './write.ts';
import type { Change } from './writing.ts';

type Patcher = (object: JsonObject, patch: JsonValue, expected: Expected) => JsonValue;

const PATCHERS: Readonly<Record<string, Patcher>> = {
  'application/json-patch+json': (object, patch) => applyJsonPatch(object, patch),
  'application/merge-patch+json': (object, patch) => applyMergePatch(object, asObject(patch)),
  'application/strategic-merge-patch+json': (object, patch, { schema }) =>
    applyStrategicMerge(object, asObject(patch), schema),
};

export async function patch(
  context: VerbContext,
  request: AuthorizedResourceRequest,
  served: ServedResource,
  view?: ViewSubresource,
): Promise<ApiResponse> {
  if (contentTypeOf(request) === APPLY_PATCH) return apply(context, request, served, view);
  const form = formFor(context, request, served, view);
  const patcher = choosePatcher(request);
  const options = readMutationOptions(request, 'PatchOptions');
  const document = await readPatch(request);
  const expected = expectedFor(context, served, view);
  const writing = toWriteContext(request, served, { ...options, subresource: view?.name ?? '' });
  const change = patchChange({
    request,
    served,
    expected,
    document,
    patcher,
    options,
    ...(view === undefined ? {} : { view }),
  });
  const written = await context.writer.update(writing, request.target.name, change);
  return objectResponse(form, 200, written);
}

/** @throws StatusError 415 */
function choosePatcher(request: AuthorizedResourceRequest): Patcher {
  const patcher = PATCHERS[contentTypeOf(request)];
  if (patcher === undefined) throw unsupportedMediaType([...Object.keys(PATCHERS), APPLY_PATCH]);
  return patcher;
}

function contentTypeOf({ headers }: AuthorizedResourceRequest): string {
  const [type = ''] = (headers['content-type'] ?? '').split(';', 1);
  return type.trim().toLowerCase();
}

async function readPatch(request: AuthorizedResourceRequest): Promise<ParsedDocument> {
  const bytes = await request.body(MAX_BODY_BYTES);
  try {
    const document = parseJsonText(bytes);
    request.audit?.requestObject(document.value);
    return document;
  } catch (error) {
    if (error instanceof SyntaxError) throw badRequest(`error decoding patch: ${error.message}`);
    throw error;
  }
}

interface PatchWork {
  readonly request: AuthorizedResourceRequest;
  readonly served: ServedResource;
  readonly view?: ViewSubresource;
  readonly expected: Expected;
  readonly document: ParsedDocument;
  readonly patcher: Patcher;
  readonly options: MutationOptions;
}

/** The patch applies to what the client sees: the version it speaks, and the view it names. */
function patchChange(work: PatchWork): Change {
  const { served, view, request } = work;
  const own = view === undefined || view.type === served.definition.storage.type;
  return {
    apply: async (copy) => {
      const seen = own ? toSeen(copy, served) : (view?.read(copy) ?? copy);
      // A view of another kind, or another version, is made up and not in a form to be kept.
      const known = own && served.version.conversion === undefined ? { known: seen } : {};
      const value = applyTo(seen, work);
      await breathe(isLarge(request.receivedBytes));
      const patched = decodePatched({ value, ...known }, work);
      checkNameMatches(patched.metadata.name, request.target.name);
      const stored = own ? toStorage(patched, served) : patched;
      return view === undefined ? stored : view.write(stored, copy);
    },
    ...(view === undefined
      ? {}
      : { validate: (next: ApiObject, old: ApiObject) => view.validate?.(next, old) ?? [] }),
  };
}

function applyTo(seen: ApiObject, { patcher, document, expected, served, request }: PatchWork): JsonValue {
  try {
    return patcher(seen, document.value, expected);
  } catch (error) {
    if (!(error instanceof PatchError)) throw error;
    throw toPatchStatus(error, served, request.target.name);
  }
}

function decodePatched(
  patched: { readonly value: JsonValue; readonly known?: JsonObject },
  { request, expected, options, document }: PatchWork,
): ApiObject {
  const { duplicates } = document;
  return toObject(request, { ...patched, duplicates }, expected, options.fieldValidation);
}

function toPatchStatus(error: PatchError, { definition }: ServedResource, name: string): StatusError {
  switch (error.kind) {
    case 'malformed':
      return badRequest(error.message);
    case 'too-many':
      return new StatusError({ code: 413, reason: 'RequestEntityTooLarge', message: error.message });
    case 'inapplicable':
      return new StatusError(
        {
          code: 422,
          reason: 'Invalid',
          message: `the server rejected our request due to an error in our request: ${error.message}`,
          details: { name, kind: definition.resource },
        },
        { cause: error },
      );
    default:
      return error.kind satisfies never;
  }
}

/** @throws PatchError */
function asObject(patch: JsonValue): JsonObject {
  if (isObject(patch)) return patch;
  throw new PatchError('malformed', 'the patch must be a JSON object');
}
