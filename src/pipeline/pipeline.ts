import type { Minor } from '../api/emulation.ts';
import type { MessageSchema } from '../api/schema.ts';
import { StatusError } from '../api/status.ts';
import type { Auditor } from '../audit/auditor.ts';
import type { FlowControl } from '../flow-control/flow-control.ts';
import { NO_TRACING, type Tracing } from '../observability/tracing.ts';
import {
  type ApiRequest,
  type AuthenticatedRequest,
  type AuthorizedRequest,
  isResourceRequest,
} from '../request/api-request.ts';
import type { ApiResponse } from '../request/api-response.ts';
import { pageNotFound } from '../request/plain-answer.ts';
import { inStatuses } from '../verbs/storage-status.ts';
import type { ResourceHandler } from '../verbs/verbs.ts';
import { DEFAULT_MINOR } from '../version.ts';
import { type AuthenticateOptions, authenticate, authorize } from './access.ts';
import { answerErrors } from './answer-errors.ts';
import { audit, auditAuthentication } from './audit.ts';
import { withDeadline } from './deadline.ts';
import { takeTurn } from './flow-control.ts';
import { type OriginOptions, refuseForeignPages } from './foreign-pages.ts';
import { type ImpersonateOptions, impersonate } from './impersonate.ts';
import { logRequest, type MeasureOptions, measure, traceRequest, traceVerb } from './measure.ts';

interface PipelineOptions extends MeasureOptions, AuthenticateOptions, OriginOptions, ImpersonateOptions {
  /** Undefined: no limit on concurrency. */
  readonly flowControl: FlowControl | undefined;
  /** Answers paths that need no credentials, such as the console's files; undefined for all others. */
  readonly open?: (request: ApiRequest) => ApiResponse | undefined;
  /** Whether authorizers see the selectors of a request. */
  readonly asksWithSelectors?: boolean;
  /** Undefined: auditing is off. */
  readonly auditor: Auditor | undefined;
  /** Discovery, OpenAPI, version. */
  readonly documents: DocumentHandler;
  readonly resources: ResourceHandler;
  /** Answers requests for other servers' resources; undefined for all others. */
  readonly remote?: (request: AuthorizedRequest) => Promise<ApiResponse> | undefined;
  /** meta/v1 Status, for clients that read protobuf. */
  readonly statusSchema: MessageSchema;
  readonly tracing: Tracing;
  readonly requestTimeoutMs: number;
  /** The version of Kubernetes that is emulated. */
  readonly minor?: Minor | undefined;
  /** The feature CBORServingAndStorage. */
  readonly knowsCbor?: boolean;
}

/** Never rejects: errors become a Status. */
export type Pipeline = (request: ApiRequest) => Promise<ApiResponse>;

type Next = () => Promise<ApiResponse>;
type Stage = (options: PipelineOptions, request: ApiRequest, next: Next) => Promise<ApiResponse>;

/** The stages that every request passes, from the outermost on; each gets the inner stages as a function. */
function stagesAround({ tracing }: PipelineOptions): Stage[] {
  // Without tracing no spans are made: their attributes cost as much as authorization.
  const traced = tracing === NO_TRACING ? [] : [traceRequest];
  return [measure, logRequest, ...traced, answerErrors, refuseForeignPages, withDeadline];
}

/** The way of a request from the listener to the verb. Built once; all stages together cost 17 µs of CPU for each request. */
export function createPipeline(options: PipelineOptions): Pipeline {
  return stagesAround(options).reduceRight<Pipeline>(
    (next, stage) => (request) => stage(options, request, () => next(request)),
    (request) => serve(options, request),
  );
}

/**
 * Runs the stages that need the caller, from authentication on. Each of them may read from the store: converts its errors to a
 * Status here, before they are recorded.
 */
async function serve(options: PipelineOptions, request: ApiRequest): Promise<ApiResponse> {
  if (options.knowsCbor === true) request.knowsCbor = true;
  const opened = options.open?.(request);
  if (opened !== undefined) return opened;
  const { target = NO_RESOURCE } = request;
  const asStatus = <Result>(work: Promise<Result>): Promise<Result> => inStatuses(work, target, target.name);
  const authenticated = await auditAuthentication(options, request, () =>
    asStatus(authenticate(options, request)),
  );
  return audit(options, authenticated, () =>
    asStatus(serveCaller(options, authenticated)).catch((error: unknown) => {
      throw error instanceof StatusError ? error.inVersion(options.minor ?? DEFAULT_MINOR) : error;
    }),
  );
}

const NO_RESOURCE = { group: '', resource: '', name: '' };

async function serveCaller(
  options: PipelineOptions,
  authenticated: AuthenticatedRequest,
): Promise<ApiResponse> {
  const acting = await impersonate(options, authenticated);
  return takeTurn(options, acting, async () => {
    const authorized = await authorize(options, acting);
    if (options.tracing === NO_TRACING) return dispatch(options, authorized);
    return traceVerb(options, authenticated, () => dispatch(options, authorized));
  });
}

/** Answers paths without resources; undefined for an unknown path. */
type DocumentHandler = (
  request: AuthorizedRequest,
) => Promise<ApiResponse | undefined> | ApiResponse | undefined;

/**
 * Forwards requests for other servers' resources, passes those for resources to their verb, and all others to the documents.
 * @throws StatusError
 */
async function dispatch(
  { remote, documents, resources }: Pick<PipelineOptions, 'remote' | 'documents' | 'resources'>,
  request: AuthorizedRequest,
): Promise<ApiResponse> {
  const elsewhere = remote?.(request);
  if (elsewhere !== undefined) return elsewhere;
  if (isResourceRequest(request)) return resources(request);
  return (await documents(request)) ?? pageNotFound();
}
