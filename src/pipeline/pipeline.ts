import type { MessageSchema } from '../api/schema.ts';
import { forbidden, internalError, pathNotFound, StatusError, unauthorized } from '../api/status.ts';
import { ANONYMOUS, type Authenticator } from '../authn/authenticator.ts';
import type { Authorizer } from '../authz/authorizer.ts';
import { encodeValue } from '../codec/encode.ts';
import { negotiate, type Representation, wantsPretty } from '../codec/negotiate.ts';
import type { Logger } from '../observability/logger.ts';
import type { Metrics } from '../observability/metrics.ts';
import {
  type ApiRequest,
  type AuthenticatedRequest,
  type AuthorizedRequest,
  isResourceRequest,
  markAuthenticated,
  markAuthorized,
} from '../request/api-request.ts';
import type { ApiResponse } from '../request/api-response.ts';
import type { ResourceHandler } from '../verbs/verbs.ts';
import { forbiddenMessage } from './forbidden-message.ts';

/** What a request passes on its way, in this order. */
export interface PipelineOptions {
  readonly authenticator: Authenticator;
  /** --anonymous-auth */
  readonly anonymous: boolean;
  readonly authorizer: Authorizer;
  /** Discovery, OpenAPI, version; undefined for a path that it does not know. */
  readonly documents: (request: AuthorizedRequest) => ApiResponse | undefined;
  readonly resources: ResourceHandler;
  /** meta/v1 Status, for clients that read protobuf. */
  readonly statusSchema: MessageSchema;
  readonly logger: Logger;
  readonly metrics: Metrics;
}

export type Pipeline = (request: ApiRequest) => Promise<ApiResponse>;

/** Never rejects: whatever goes wrong becomes a Status. */
export function createPipeline(options: PipelineOptions): Pipeline {
  return async (request) => {
    const mutating = isMutating(request.verb);
    const begun = performance.now();
    options.metrics.started(mutating);
    let response: ApiResponse;
    try {
      const authenticated = await authenticate(options, request);
      const authorized = await authorize(options, authenticated);
      response = await dispatch(options, authorized);
    } catch (error) {
      response = toErrorResponse(options, request, error);
    }
    options.metrics.ended(mutating);
    record(options.metrics, request, response, (performance.now() - begun) / 1000);
    return response;
  };
}

async function authenticate(options: PipelineOptions, request: ApiRequest): Promise<AuthenticatedRequest> {
  const user = await options.authenticator.authenticate(request);
  if (user !== undefined) return markAuthenticated(request, user);
  if (!options.anonymous) throw unauthorized();
  return markAuthenticated(request, ANONYMOUS);
}

async function authorize(
  options: PipelineOptions,
  request: AuthenticatedRequest,
): Promise<AuthorizedRequest> {
  const { decision, reason } = await options.authorizer.authorize(request);
  if (decision === 'allow') return markAuthorized(request);
  const { target } = request;
  const resource = { group: target?.group ?? '', resource: target?.resource ?? '' };
  throw forbidden(resource, target?.name ?? '', forbiddenMessage(request, reason));
}

async function dispatch(options: PipelineOptions, request: AuthorizedRequest): Promise<ApiResponse> {
  if (isResourceRequest(request)) return options.resources(request);
  const document = options.documents(request);
  if (document === undefined) throw pathNotFound();
  return document;
}

const MUTATING: ReadonlySet<string> = new Set(['create', 'update', 'patch', 'delete', 'deletecollection']);
const isMutating = (verb: string): boolean => MUTATING.has(verb);

/** Unexpected errors keep their cause for the log and tell the client little. */
function toErrorResponse(
  { logger, statusSchema }: PipelineOptions,
  request: ApiRequest,
  error: unknown,
): ApiResponse {
  const known = error instanceof StatusError ? error : internalError(messageOf(error), error);
  if (known.status.code >= 500)
    logger.error(`${request.method} ${request.path}: ${known.message}`, known.cause);
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

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));

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

function record(
  metrics: Metrics,
  { verb, target }: ApiRequest,
  response: ApiResponse,
  seconds: number,
): void {
  const labels = {
    verb: verb.toUpperCase(),
    group: target?.group ?? '',
    version: target?.version ?? '',
    resource: target?.resource ?? '',
    subresource: target?.subresource ?? '',
  };
  const { code } = response;
  metrics.request(
    code === 404 && target !== undefined ? { ...labels, resource: '' } : labels,
    code,
    response.kind === 'bytes' ? seconds : undefined,
  );
}
