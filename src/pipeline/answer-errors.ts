import type { MessageSchema } from '../api/schema.ts';
import { internalError, StatusError } from '../api/status.ts';
import { encodeValue } from '../codec/encode.ts';
import { negotiate, type Representation, wantsPretty } from '../codec/negotiate.ts';
import type { Logger } from '../observability/logger.ts';
import type { ApiRequest } from '../request/api-request.ts';
import type { ApiResponse } from '../request/api-response.ts';

interface ErrorOptions {
  readonly statusSchema: MessageSchema;
  readonly logger: Logger;
}

/** The client is told where an operator finds the error, and nothing of the error itself. */
export const logsTell = ({ id }: ApiRequest): string => `request ${id} failed, and the server's log says why`;

/** Whatever is thrown further in becomes a Status, in the format the caller asked for. */
export async function answerErrors(
  options: ErrorOptions,
  request: ApiRequest,
  next: () => Promise<ApiResponse>,
): Promise<ApiResponse> {
  try {
    return await next();
  } catch (error) {
    return toErrorResponse(options, request, error);
  }
}

/**
 * What an unexpected error says (an address, a statement, a path) is for the log alone. The client gets the id under which it
 * stands there, which is also the answer's Audit-Id.
 */
function toErrorResponse(
  { logger, statusSchema }: ErrorOptions,
  request: ApiRequest,
  error: unknown,
): ApiResponse {
  const known = error instanceof StatusError ? error : internalError(logsTell(request), error);
  // What breaks off because nobody waits for it any more is nobody's fault.
  if (known.status.code >= 500 && !request.aborted)
    logger.error(`${request.method} ${request.path} (${request.id}): ${known.message}`, known.cause);
  const { status } = known;
  const representation = errorRepresentation(request);
  const retry = status.details?.retryAfterSeconds;
  return {
    kind: 'bytes',
    code: status.code,
    contentType: representation.contentType,
    headers: {
      ...(retry === undefined ? {} : { 'retry-after': String(Math.max(retry, 1)) }),
      ...(status.code === 401 ? { 'www-authenticate': 'Basic realm="kubernetes-master"' } : {}),
    },
    chunks: [encodeValue(status, representation, statusSchema)],
    compressible: false,
  };
}

/** An error is sent in the asked format; a client that asked for one we do not have gets JSON. */
function errorRepresentation(request: ApiRequest): Pick<Representation, 'format' | 'pretty' | 'contentType'> {
  const pretty = wantsPretty(request.query, request.userAgent);
  try {
    const { format, contentType } = negotiate(request.headers.accept, { pretty, protobuf: true });
    return { format, pretty, contentType };
  } catch {
    return { format: 'json', pretty, contentType: 'application/json' };
  }
}
