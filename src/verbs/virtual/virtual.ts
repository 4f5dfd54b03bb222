import { encodeValue } from '../../codec/formats.ts';
import { negotiate, wantsPretty } from '../../codec/negotiate.ts';
import type { ServedResource } from '../../registry/registry.ts';
import type { AuthorizedResourceRequest } from '../../request/api-request.ts';
import type { ApiResponse } from '../../request/api-response.ts';
import { expectedOf, readObject } from '../body.ts';
import { toWriteContext, type VerbContext } from '../context.ts';
import { readMutationOptions } from '../mutation-options.ts';
import { toAttributes } from '../writing/admission-attributes.ts';
import type { VirtualHandler } from './handler.ts';

export async function answerVirtual(
  context: VerbContext,
  request: AuthorizedResourceRequest,
  { served, handler }: { served: ServedResource; handler: VirtualHandler },
): Promise<ApiResponse> {
  const representation = negotiate(request.headers.accept, {
    pretty: wantsPretty(request.query, request.userAgent),
    protobuf: true,
    tables: false,
  });
  const options = readMutationOptions(request, 'CreateOptions');
  const schema = context.types.message(served.version.type);
  const body = await readObject(request, expectedOf(served, context.types), options.fieldValidation);
  const attributes = toAttributes(toWriteContext(request, served, options), 'CREATE', body, undefined);
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
