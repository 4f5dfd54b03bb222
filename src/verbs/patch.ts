import { toApiVersion } from '../api/names.ts';
import type { ApiObject, JsonObject, JsonValue } from '../api/object-meta.ts';
import { badRequest, invalid, StatusError, unknownError } from '../api/status.ts';
import { unsupportedMediaType } from '../codec/negotiate.ts';
import { invalidValue } from '../object/field-errors.ts';
import { isObject } from '../object/merge-patch.ts';
import { PatchError } from '../object/patch-error.ts';
import { toSeen, toStorage } from '../registry/conversion.ts';
import type { ViewSubresource } from '../registry/definition.ts';
import type { ServedResource } from '../registry/registry.ts';
import type { AuthorizedResourceRequest } from '../request/api-request.ts';
import type { ApiResponse } from '../request/api-response.ts';
import { APPLY_PATCH, apply } from './apply.ts';
import { type Refusal, toObject } from './body.ts';
import { MAX_BODY_BYTES, toWriteContext, type VerbContext } from './context.ts';
import type { Expected } from './declared-type.ts';
import { checkNameMatches, type MutationOptions, readMutationOptions } from './mutation-options.ts';
import { type Explanation, PATCH_KINDS, type PatchKind, type ReadPatch } from './patch-kinds.ts';
import { formFor, objectResponse } from './read.ts';
import { expectedFor } from './write.ts';
import { breathe, isLarge } from './writing/breathe.ts';
import type { Change } from './writing/change.ts';

export async function patch(
  context: VerbContext,
  request: AuthorizedResourceRequest,
  served: ServedResource,
  view?: ViewSubresource,
): Promise<ApiResponse> {
  if (contentTypeOf(request) === APPLY_PATCH) return apply(context, request, served, view);
  const form = formFor(context, request, served, view);
  const kind = chooseKind(request);
  const options = readMutationOptions(request, 'PatchOptions');
  const read = kind.read(await request.body(MAX_BODY_BYTES), options.fieldValidation);
  request.audit?.requestBody(read.value);
  const expected = expectedFor(context, served, view);
  const writing = toWriteContext(request, served, { ...options, subresource: view?.name ?? '' });
  const change = patchChange({
    request,
    served,
    expected,
    kind,
    read,
    options,
    ...(view === undefined ? {} : { view }),
  });
  const written = await context.writer.update(writing, request.target.name, change);
  return objectResponse(form, 200, written);
}

/** @throws StatusError 415 */
function chooseKind(request: AuthorizedResourceRequest): PatchKind {
  const kind = PATCH_KINDS[contentTypeOf(request)];
  if (kind === undefined) throw unsupportedMediaType([...Object.keys(PATCH_KINDS), APPLY_PATCH]);
  return kind;
}

function contentTypeOf({ headers }: AuthorizedResourceRequest): string {
  const [type = ''] = (headers['content-type'] ?? '').split(';', 1);
  return type.trim().toLowerCase();
}

interface PatchWork {
  readonly request: AuthorizedResourceRequest;
  readonly served: ServedResource;
  readonly view?: ViewSubresource;
  readonly expected: Expected;
  readonly kind: PatchKind;
  readonly read: ReadPatch;
  readonly options: MutationOptions;
}

/** The patch applies to what the client sees: the version it speaks, and the view it names. */
function patchChange(work: PatchWork): Change {
  const { served, view, request } = work;
  const own = view === undefined || view.type === served.definition.storage.type;
  return {
    // The patched scale of a Scale is checked by nobody else.
    uidIs: own ? 'field' : 'precondition',
    apply: async (copy) => {
      const seen = own ? toSeen(copy, served) : (view?.read(copy) ?? copy);
      // A view of another kind, or another version, is made up and not in a form to be kept.
      const known = own && served.version.conversion === undefined ? { known: seen } : {};
      const value = applyTo(seen, work);
      await breathe(isLarge(request.receivedBytes));
      const patched = decodePatched(value, known, work);
      checkNameMatches(patched.metadata.name, request.target.name);
      const stored = own ? toStorage(patched, served) : patched;
      return view === undefined ? stored : view.write(stored, copy);
    },
    ...(view === undefined
      ? {}
      : { validate: (next: ApiObject, old: ApiObject) => view.validate?.(next, old) ?? [] }),
  };
}

function applyTo(seen: ApiObject, { kind, read, expected }: PatchWork): JsonValue {
  try {
    return kind.apply(seen, read.value, expected.schema);
  } catch (error) {
    throw error instanceof PatchError ? toPatchStatus(error) : error;
  }
}

/** @throws StatusError 422 for what is no object of its type any more */
function decodePatched(
  result: JsonValue,
  known: { readonly known?: JsonObject },
  { request, expected, options, kind, read }: PatchWork,
): ApiObject {
  const refusal: Refusal = (why) => invalidPatch(kind.explain(result, read.value, why, expected.schema));
  const value = kind.keepsType && isObject(result) ? withTypeOf(result, expected) : result;
  const document = { value, ...known, duplicates: [], problems: read.problems, refusal };
  return toObject(request, document, expected, options.fieldValidation);
}

/** What is no text is left for decoding to refuse. */
function withTypeOf(result: JsonObject, { group, version, kind }: Expected): JsonObject {
  const given = result.kind;
  const apiVersion = toApiVersion({ group, version });
  return {
    ...result,
    ...(typeof given === 'string' ? { kind } : {}),
    ...(typeof result.apiVersion === 'string' ? { apiVersion } : {}),
  };
}

const NO_KIND = { kind: '', group: '' };

const invalidPatch = ({ shown, why }: Explanation): StatusError =>
  invalid(NO_KIND, '', [invalidValue('patch', shown, why)]);

/** What a patch says of itself is for its author; whether it fits is told in one sentence, as Kubernetes does. */
function toPatchStatus(error: PatchError): StatusError {
  switch (error.kind) {
    case 'malformed':
      return badRequest(error.message);
    case 'too-many':
      return new StatusError({
        code: 413,
        reason: 'RequestEntityTooLarge',
        message: `Request entity too large: ${error.message}`,
      });
    case 'inapplicable':
      return new StatusError(
        {
          code: 422,
          reason: 'Invalid',
          message: 'the server rejected our request due to an error in our request',
          details: {},
        },
        { cause: error },
      );
    case 'unmergeable':
      return unknownError(error.message, error);
    default:
      return error.kind satisfies never;
  }
}
