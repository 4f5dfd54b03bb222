import { encodeValue } from '../../codec/encode.ts';
import { negotiate, wantsPretty } from '../../codec/negotiate.ts';
import type { ApiResponse } from '../../request/api-response.ts';
import { readObject } from '../body.ts';
import { bodyType, toWriteCall, type VerbCall } from '../call.ts';
import type { VirtualHandler } from '../context.ts';
import { readMutationOptions } from '../mutation-options.ts';
import { toAttributes } from '../writing/admission-attributes.ts';

export async function answerVirtual(call: VerbCall, handler: VirtualHandler): Promise<ApiResponse> {
  const { context, request, served } = call;
  const representation = negotiate(request.headers.accept, {
    pretty: wantsPretty(request.query, request.userAgent),
    protobuf: true,
    tables: false,
  });
  const options = readMutationOptions(request, 'CreateOptions');
  const schema = context.types.message(served.version.type);
  const body = await readObject(request, bodyType(call), options.fieldValidation);
  const attributes = toAttributes(toWriteCall(call, options), 'CREATE', body, undefined);
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
