import type { ApiObject } from '../api/object-meta.ts';
import { forbidden } from '../api/status.ts';
import { forbiddenMessage } from '../authz/authorizer.ts';
import { negotiate, wantsPretty } from '../codec/negotiate.ts';
import { encodeValue } from '../codec/wire-formats.ts';
import { toStorage } from '../registry/conversion.ts';
import type { ViewSubresource } from '../registry/resource-definition.ts';
import type { ApiResponse } from '../request/api-response.ts';
import { runSteps } from '../util/turns.ts';
import { type Replacement, readObject, readReplacement } from './body.ts';
import { checkNameMatches, readMutationOptions } from './mutation-options.ts';
import { formFor, objectResponse } from './read.ts';
import { bodyType, hasOwnType, toWriteCall, type VerbCall, type VirtualHandler } from './verb-call.ts';
import { toAttributes } from './writing/admission-attributes.ts';
import type { Change } from './writing/change.ts';
import { placeInNamespace, wipeSystemMetadata } from './writing/object-metadata.ts';
import { isLargeCall } from './writing/write-call.ts';

/** create and update (PUT). */

export async function create(call: VerbCall): Promise<ApiResponse> {
  const { context, request, served } = call;
  const form = formFor(call);
  const options = readMutationOptions(request, 'CreateOptions');
  const object = await readObject(request, bodyType(call), options.fieldValidation);
  const written = await context.writer.create(toWriteCall(call, options), toStorage(object, served));
  return objectResponse(form, 201, written);
}

export async function update(call: VerbCall): Promise<ApiResponse> {
  const { context, request, view } = call;
  const form = formFor(call);
  const options = readMutationOptions(request, 'UpdateOptions');
  const replacement = await readReplacement(request, bodyType(call), options.fieldValidation);
  const { name } = request.target;
  checkNameMatches(replacement.name, name);
  const change = view === undefined ? replaceBy(call, replacement) : replaceThrough(view, call, replacement);
  const written = await context.writer.update(toWriteCall(call, options), name, change);
  return objectResponse(form, written.created ? 201 : 200, written);
}

function replaceBy(call: VerbCall, replacement: Replacement): Change {
  const { served } = call;
  const take = (): ApiObject => toStorage(replacement.take(), served);
  const { allowCreateOnUpdate } = served.definition.strategy;
  return { kind: 'object', apply: take, leavesCopy: true, ...(allowCreateOnUpdate ? { create } : {}) };
  async function create(): Promise<ApiObject> {
    await assertMayCreate(call);
    return take();
  }
}

function replaceThrough(view: ViewSubresource, call: VerbCall, replacement: Replacement): Change {
  const take = (): ApiObject =>
    hasOwnType(call) ? toStorage(replacement.take(), call.served) : replacement.take();
  return { kind: 'view', view, apply: take, leavesCopy: true };
}

/**
 * Checks the right to create, which a PUT or an apply of a missing object needs too.
 * @throws StatusError 403
 */
export async function assertMayCreate({ context, request }: VerbCall): Promise<void> {
  const { user, path, target, signal } = request;
  const attributes = { user, path, target, signal, verb: 'create' };
  const { decision, reason } = await context.authorizer.authorize(attributes);
  if (decision !== 'allow') throw forbidden(target, target.name, forbiddenMessage(attributes, reason));
}

export async function answerVirtual(call: VerbCall, handler: VirtualHandler): Promise<ApiResponse> {
  const { context, request, served } = call;
  const representation = negotiate(request.headers.accept, {
    pretty: wantsPretty(request.query, request.userAgent),
    protobuf: true,
    tables: false,
    cbor: request.knowsCbor,
  });
  const options = readMutationOptions(request, 'CreateOptions');
  const schema = context.types.message(served.version.type);
  const body = await readObject(request, bodyType(call), options.fieldValidation);
  const write = toWriteCall(call, options);
  if (served.definition.isReview === true) {
    placeInNamespace(body.metadata, served.definition, request.target.namespace);
    wipeSystemMetadata(body.metadata);
    await runSteps(isLargeCall(write), context.writer.ownership.track(write, body, undefined));
  }
  const attributes = toAttributes(write, 'CREATE', body, undefined);
  await context.admission.mutate(attributes);
  await context.admission.validate(attributes);
  const answer = await handler(body, request);
  const ownKind = answer.kind === served.definition.kind;
  return {
    kind: 'bytes',
    code: 201,
    contentType: representation.contentType,
    chunks: [encodeValue(answer, representation, ownKind ? schema : context.types.message('meta/v1.Status'))],
    compressible: false,
  };
}
