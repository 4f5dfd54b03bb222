import { toApiVersion } from '../api/names.ts';
import type { ApiObject, JsonObject, JsonValue } from '../api/object-meta.ts';
import { badRequest, invalid, StatusError, unknownError } from '../api/status.ts';
import { unsupportedMediaType } from '../codec/negotiate.ts';
import { invalidValue } from '../object/field-errors.ts';
import { isObject } from '../object/merge-patch.ts';
import { PatchError } from '../object/patch-error.ts';
import { toSeen, toStorage } from '../registry/conversion.ts';
import type { AuthorizedResourceRequest } from '../request/api-request.ts';
import type { ApiResponse } from '../request/api-response.ts';
import { APPLY_PATCH, apply } from './apply.ts';
import { MAX_BODY_BYTES, type Refusal, toObject } from './body.ts';
import { bodyType, hasOwnType, toWriteCall, type VerbCall } from './call.ts';
import type { Expected } from './declared-type.ts';
import { checkNameMatches, type MutationOptions, readMutationOptions } from './mutation-options.ts';
import { type Explanation, PATCH_KINDS, type PatchKind, type ReadPatch } from './patch-kinds.ts';
import { formFor, objectResponse } from './read.ts';
import type { Change } from './writing/change.ts';
import { endTurnIf, isLarge } from './writing/large-objects.ts';

export async function patch(call: VerbCall): Promise<ApiResponse> {
  const { context, request } = call;
  if (contentTypeOf(request) === APPLY_PATCH) return apply(call);
  const form = formFor(call);
  const kind = chooseKind(request);
  const options = readMutationOptions(request, 'PatchOptions');
  const read = kind.read(await request.body(MAX_BODY_BYTES), options.fieldValidation);
  request.audit?.requestBody(read.value);
  const change = patchChange({ call, expected: bodyType(call), kind, read, options });
  const written = await context.writer.update(toWriteCall(call, options), request.target.name, change);
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

interface PatchCall {
  readonly call: VerbCall;
  readonly expected: Expected;
  readonly kind: PatchKind;
  readonly read: ReadPatch;
  readonly options: MutationOptions;
}

/** The patch applies to what the client sees: the version it speaks, and the view it names. */
function patchChange(patching: PatchCall): Change {
  const { served, view, request } = patching.call;
  const own = hasOwnType(patching.call);
  const apply = async (copy: ApiObject): Promise<ApiObject> => {
    const before = own ? toSeen(copy, served) : (view?.read(copy) ?? copy);
    // A view of another kind, or another version, is made up: it has no parts that are stored as they are.
    const known = own && served.version.conversion === undefined ? { known: before } : {};
    const value = applyTo(before, patching);
    await endTurnIf(isLarge(request.receivedBytes));
    const patched = decodePatched(value, known, patching);
    checkNameMatches(patched.metadata.name, request.target.name);
    const stored = own ? toStorage(patched, served) : patched;
    return view === undefined ? stored : view.write(stored, copy);
  };
  // The uid of a patched scale is checked nowhere else.
  const uidIs = own ? 'field' : 'precondition';
  return view === undefined ? { kind: 'object', apply, uidIs } : { kind: 'view', view, apply, uidIs };
}

function applyTo(before: ApiObject, { kind, read, expected }: PatchCall): JsonValue {
  try {
    return kind.apply(before, read.value, expected.schema);
  } catch (error) {
    throw error instanceof PatchError ? toPatchStatus(error) : error;
  }
}

/** @throws StatusError 422 for what is no object of its type any more */
function decodePatched(
  result: JsonValue,
  known: { readonly known?: JsonObject },
  { call, expected, options, kind, read }: PatchCall,
): ApiObject {
  const refusal: Refusal = (why) => invalidPatch(kind.explain(result, read.value, why, expected.schema));
  const value = kind.keepsType && isObject(result) ? withTypeOf(result, expected) : result;
  const document = { value, ...known, duplicates: [], problems: read.problems, refusal };
  return toObject(call.request, document, expected, options.fieldValidation);
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

const invalidPatch = ({ value, why }: Explanation): StatusError =>
  invalid(NO_KIND, '', [invalidValue('patch', value, why)]);

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
