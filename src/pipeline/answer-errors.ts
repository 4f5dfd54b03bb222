import type { MessageSchema } from '../api/schema.ts';
import { AccessDenied, internalError, StatusError } from '../api/status.ts';
import { negotiate, type Representation, wantsPretty } from '../codec/negotiate.ts';
import { encodeValue } from '../codec/wire-formats.ts';
import type { Logger } from '../observability/logger.ts';
import type { ApiRequest } from '../request/api-request.ts';
import type { ApiResponse } from '../request/api-response.ts';

interface ErrorOptions {
  readonly statusSchema: MessageSchema;
  readonly logger: Logger;
}

/** Tells the client how to find the error in the log, without its details. */
export const logsTell = ({ id }: ApiRequest): string => `request ${id} failed, and the server's log says why`;

/** Turns errors of the inner stages into a Status, in the format that the caller accepts. */
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
 * The message of an unexpected error may hold addresses, statements and paths, so it goes to the log alone. The client gets the
 * id that the log names, which is also the answer's Audit-Id.
 */
function toErrorResponse(
  { logger, statusSchema }: ErrorOptions,
  request: ApiRequest,
  error: unknown,
): ApiResponse {
  const known = error instanceof StatusError ? error : internalError(logsTell(request), error);
  // An error after the caller has gone is a consequence of that, and not logged.
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
      ...(known instanceof AccessDenied ? { 'x-content-type-options': 'nosniff' } : {}),
      ...(status.code === 401 ? { 'www-authenticate': 'Basic realm="kubernetes-master"' } : {}),
    },
    chunks: [encodeValue(status, representation, statusSchema)],
    compressible: false,
  };
}

/** An error is sent in the accepted format; a client that accepts none of ours gets JSON. */
function errorRepresentation(request: ApiRequest): Pick<Representation, 'format' | 'pretty' | 'contentType'> {
  const pretty = wantsPretty(request.query, request.userAgent);
  try {
    const { format, contentType } = negotiate(request.headers.accept, {
      ...{ pretty, protobuf: true, cbor: request.knowsCbor },
    });
    return { format, pretty, contentType };
  } catch {
    return { format: 'json', pretty, contentType: 'application/json' };
  }
}
